// y.wait: holds its queue until a shared counter has reached a value (the counter keeps it).
#pragma once
#include "isa/instructions/common.hpp"

namespace daybreak::isa {

struct Wait {
  static constexpr Opcode kOpcode = Opcode::wait;
  static constexpr std::string_view kName = "wait";
  static constexpr std::string_view kSentence =
      "Holds a queue until a counter shared between cores has reached a value.";

  int32_t semaphore = 0;
  int32_t count = 1;
  Queue in_queue = Queue::dma_in;

  static constexpr auto fields() {
    return std::tuple(
        number("semaphore", &Wait::semaphore, "index below Launch::shared_semaphores"),
        number("count", &Wait::count, "value waited for"),
        number("in_queue", &Wait::in_queue, "queue it runs in"));
  }
  Queue queue() const { return in_queue; }
  Work work() const;
  void execute(Context&) const;
};

}  // namespace daybreak::isa
