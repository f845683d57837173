#include "isa/instructions/list.hpp"

namespace daybreak::isa {

Queue queue_of(const Instruction& i) {
  return std::visit([](const auto& x) { return x.queue(); }, i);
}
Work work_of(const Instruction& i) {
  return std::visit([](const auto& x) { return x.work(); }, i);
}
std::string_view name_of(const Instruction& i) {
  return std::visit([](const auto& x) { return x.kName; }, i);
}
Opcode opcode_of(const Instruction& i) {
  return std::visit([](const auto& x) { return x.kOpcode; }, i);
}
void execute(const Instruction& i, Context& c) {
  std::visit([&](const auto& x) { x.execute(c); }, i);
}
void for_each_segment(const Instruction& i, const Context& c, const SegmentSink& sink) {
  std::visit(
      [&](const auto& x) {
        if constexpr (requires { x.for_each_segment(c, sink); }) x.for_each_segment(c, sink);
      },
      i);
}

}  // namespace daybreak::isa
