#include "sim/core/workspace.hpp"

#include <algorithm>

namespace daybreak::sim {

const isa::TileRef* converted_slot(const isa::Instruction& i) {
  if (const auto* stream = std::get_if<isa::StreamMxfp4>(&i)) return &stream->to;
  if (const auto* unpack = std::get_if<isa::UnpackMxfp4>(&i)) return &unpack->to;
  return nullptr;
}

void Workspace::add(const isa::TaskProgram& program) {
  for (const isa::Entry& e : program.code)
    if (const isa::TileRef* slot = converted_slot(e.instruction)) add(*slot);
}

void Workspace::add(const isa::TileRef& slot) {
  auto& filled = filled_[size_t(slot.space)];
  uint32_t begin = slot.offset, end = uint32_t(slot.end());
  auto next = filled.upper_bound(begin);
  if (next != filled.begin() && std::prev(next)->second >= begin) --next;
  while (next != filled.end() && next->first <= end) {
    begin = std::min(begin, next->first);
    end = std::max(end, next->second);
    next = filled.erase(next);
  }
  filled.emplace(begin, end);
}

int64_t Workspace::bytes() const {
  int64_t sum = 0;
  for (const auto& space : filled_)
    for (const auto& [begin, end] : space) sum += int64_t(end) - int64_t(begin);
  return sum;
}

}  // namespace daybreak::sim
