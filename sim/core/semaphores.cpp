#include "sim/core/semaphores.hpp"

namespace daybreak::sim {

void Semaphores::begin_task(size_t count) {
  if (all_.size() < count) all_.resize(count);
  for (Semaphore& s : all_) {
    s.tokens.resize(maximum_);
    s.taken.resize(maximum_);
    s.gives = s.takes = 0;
    s.for_token.clear();
    s.for_room.clear();
  }
}

Cycle Semaphores::token_at(uint8_t semaphore, size_t skip) const {
  const Semaphore& s = all_[semaphore];
  const uint64_t k = s.takes + skip;
  return k < s.gives ? s.tokens[k % maximum_].given + latency_ : kNever;
}

Semaphores::Token Semaphores::take(uint8_t semaphore, Cycle at) {
  Semaphore& s = all_[semaphore];
  const size_t k = s.takes++ % maximum_;
  s.taken[k] = at;
  return std::move(s.tokens[k]);
}

Cycle Semaphores::room_at(uint8_t semaphore) const {
  const Semaphore& s = all_[semaphore];
  if (s.gives < maximum_) return 0;
  return s.gives - s.takes < maximum_ ? s.taken[s.gives % maximum_] : kNever;
}

void Semaphores::give(uint8_t semaphore, Token token) {
  Semaphore& s = all_[semaphore];
  s.tokens[s.gives++ % maximum_] = std::move(token);
}

}  // namespace daybreak::sim
