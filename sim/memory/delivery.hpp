// Hands completions of one instant to their clients: one call per client, clients in order of their
// first completion.
#pragma once
#include <span>
#include <vector>

#include "sim/memory/port.hpp"

namespace daybreak::sim {

class Delivery {
 public:
  // `items` are indices; client_of(i) and completion_of(i) say whose and what; retire(i) is called
  // once the completion is copied, before any client hears of it.
  template <class ClientOf, class CompletionOf, class Retire>
  void deliver(std::vector<int32_t>& items, ClientOf client_of, CompletionOf completion_of,
               Retire retire) {
    calls_.clear();
    completions_.clear();
    for (size_t i = 0; i < items.size(); ++i) {
      if (items[i] < 0) continue;
      MemoryClient* client = client_of(items[i]);
      const size_t first = completions_.size();
      for (size_t j = i; j < items.size(); ++j) {
        if (items[j] < 0 || client_of(items[j]) != client) continue;
        completions_.push_back(completion_of(items[j]));
        retired_.push_back(items[j]);
        items[j] = -1;
      }
      calls_.push_back({client, first, completions_.size() - first});
    }
    items.clear();
    for (int32_t item : retired_) retire(item);
    retired_.clear();
    for (const Call& call : calls_) {
      call.client->completed(std::span(completions_).subspan(call.first, call.count));
    }
  }

 private:
  struct Call {
    MemoryClient* client;
    size_t first, count;
  };
  std::vector<Call> calls_;
  std::vector<Completion> completions_;
  std::vector<int32_t> retired_;
};

}  // namespace daybreak::sim
