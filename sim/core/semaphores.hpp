// The counting semaphores of one core. The k-th wait takes what the k-th signal gave, `latency`
// cycles later; a signal that would raise the count above the maximum has to wait for a wait.
// Times may lie ahead of the present: whoever knows them decides early.
#pragma once
#include <cstdint>
#include <vector>

#include "sim/core/clock.hpp"
#include "sim/core/knowledge.hpp"
#include "sim/core/waiter.hpp"

namespace daybreak::sim {

class Semaphores {
 public:
  struct Token {
    Cycle given = 0;    // when its signal retired
    int32_t unit = -1;  // whose signal
    Knowledge knowledge;
  };

  Semaphores(int64_t maximum, Cycle latency) : maximum_(size_t(maximum)), latency_(latency) {}
  void begin_task(size_t count);

  // Cycle from which a wait can take the token after `skip` further ones; kNever while no signal
  // has given it.
  Cycle token_at(uint8_t semaphore, size_t skip) const;
  // Takes the oldest token, for a wait that starts at `at`.
  Token take(uint8_t semaphore, Cycle at);
  // Cycle from which a further signal can be given; kNever while the count is at its maximum.
  Cycle room_at(uint8_t semaphore) const;
  void give(uint8_t semaphore, Token token);

  uint64_t gives(uint8_t semaphore) const { return all_[semaphore].gives; }
  WaitList& token_waiters(uint8_t semaphore) { return all_[semaphore].for_token; }
  WaitList& room_waiters(uint8_t semaphore) { return all_[semaphore].for_room; }

 private:
  struct Semaphore {
    std::vector<Token> tokens;  // ring of `maximum_`
    std::vector<Cycle> taken;   // ring: start of the wait that took token k
    uint64_t gives = 0, takes = 0;
    WaitList for_token, for_room;
  };
  size_t maximum_;
  Cycle latency_;
  std::vector<Semaphore> all_;
};

}  // namespace daybreak::sim
