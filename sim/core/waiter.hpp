// Who can be told that something it waits for may have happened.
#pragma once
#include <algorithm>
#include <vector>

namespace daybreak::sim {

class Waiter {
 public:
  virtual ~Waiter() = default;
  virtual void resume() = 0;
};

// Waiters of one thing. Those told may wait again at once.
class WaitList {
 public:
  void add(Waiter* w) {
    if (std::find(list_.begin(), list_.end(), w) == list_.end()) list_.push_back(w);
  }
  void resume_all() {
    for (size_t told = list_.size(); told > 0 && !list_.empty(); --told) {
      Waiter* w = list_.front();
      list_.erase(list_.begin());
      w->resume();
    }
  }
  void clear() { list_.clear(); }

 private:
  std::vector<Waiter*> list_;
};

}  // namespace daybreak::sim
