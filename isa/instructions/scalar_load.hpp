// s.ld: the control processor reads one 4-byte word of memory and waits for it. Kernels learn task extents this way.
#pragma once
#include "isa/instructions/common.hpp"

namespace daybreak::isa {

struct ScalarLoad {
  static constexpr Opcode kOpcode = Opcode::scalar_load;
  static constexpr std::string_view kName = "scalar_load";
  static constexpr std::string_view kSentence =
      "Reads one word of memory on the control processor.";

  TensorRef from;

  static constexpr auto fields() {
    return std::tuple(steering("from", &ScalarLoad::from, Access::read, "the word"));
  }
  Queue queue() const { return Queue::control; }
  Work work() const;
  void execute(Context&) const;
  void for_each_segment(const Context&, const SegmentSink&) const;
};

}  // namespace daybreak::isa
