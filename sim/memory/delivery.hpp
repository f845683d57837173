// Hands completions of one instant to their clients: one call per client, clients in order of their
// first completion.
#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "sim/memory/port.hpp"

namespace daybreak::sim {

class Delivery {
 public:
  bool empty() const { return completions_.empty(); }
  void add(MemoryClient* client, const Completion& completion) {
    completions_.push_back(completion);
    if (calls_.empty() || calls_.back().client != client) {
      const auto same = [client](const Call& call) { return call.client == client; };
      scattered_ = scattered_ || std::any_of(calls_.begin(), calls_.end(), same);
      calls_.push_back({client, 0});
    }
    ++calls_.back().count;
  }
  // Clients may submit; nothing is added meanwhile.
  void deliver() {
    if (scattered_) gather();
    std::span<const Completion> rest(completions_);
    for (const Call& call : calls_) {
      call.client->completed(rest.first(call.count));
      rest = rest.subspan(call.count);
    }
    completions_.clear();
    calls_.clear();
  }

 private:
  struct Call {
    MemoryClient* client;
    size_t count;
  };
  // Moves a client's later completions to its first one.
  void gather() {
    sorted_.clear();
    gathered_.clear();
    for (size_t i = 0; i < calls_.size(); ++i) {
      MemoryClient* const client = calls_[i].client;
      if (client == nullptr) continue;
      const size_t before = sorted_.size();
      auto from = completions_.begin();
      for (size_t j = 0; j < calls_.size(); from += int64_t(calls_[j].count), ++j) {
        if (calls_[j].client != client) continue;
        sorted_.insert(sorted_.end(), from, from + int64_t(calls_[j].count));
        calls_[j].client = nullptr;
      }
      gathered_.push_back({client, sorted_.size() - before});
    }
    sorted_.swap(completions_);
    gathered_.swap(calls_);
    scattered_ = false;
  }
  bool scattered_ = false;  // a client's completions do not stand together
  std::vector<Call> calls_, gathered_;
  std::vector<Completion> completions_, sorted_;
};

}  // namespace daybreak::sim
