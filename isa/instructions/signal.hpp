// y.sig: a counter shared by the cores of a launch goes up by one; what the queue did before is visible to who waits for it.
#pragma once
#include "isa/instructions/common.hpp"

namespace daybreak::isa {

struct Signal {
  static constexpr Opcode kOpcode = Opcode::signal;
  static constexpr std::string_view kName = "signal";
  static constexpr std::string_view kSentence =
      "Raises a counter shared between the cores of a launch.";

  int32_t semaphore = 0;
  Queue in_queue = Queue::dma_out;

  static constexpr auto fields() {
    return std::tuple(
        number("semaphore", &Signal::semaphore, "index below Launch::shared_semaphores"),
        number("in_queue", &Signal::in_queue, "queue it runs in"));
  }
  Queue queue() const { return in_queue; }
  Work work() const;
  void execute(Context&) const;
};

}  // namespace daybreak::isa
