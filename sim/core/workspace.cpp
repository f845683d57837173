#include "sim/core/workspace.hpp"

#include <algorithm>

namespace daybreak::sim {

const isa::TileRef* converted_slot(const isa::Instruction& i) {
  if (const auto* stream = std::get_if<isa::StreamMxfp4>(&i)) return &stream->to;
  if (const auto* unpack = std::get_if<isa::UnpackMxfp4>(&i)) return &unpack->to;
  return nullptr;
}

void Workspace::add(const isa::TaskProgram& program, std::optional<uint16_t> binding) {
  for (const isa::Entry& e : program.code) {
    if (const isa::TileRef* slot = converted_slot(e.instruction))
      add(scratch_[size_t(slot->space)], slot->offset, slot->end());
    const auto* store = std::get_if<isa::Store>(&e.instruction);
    if (!store || !binding) continue;
    const isa::TensorDesc& t = program.tensors[store->to.tensor];
    if (t.binding != *binding || store->from.rows == 0) continue;
    const int64_t last = store->to.row + int64_t(store->from.rows) - 1;
    add(memory_, t.offset_of(store->to.row, store->to.col),
        t.offset_of(last, store->to.col) + bytes_of(t.format, store->from.cols));
  }
}

void Workspace::add(Parts& parts, int64_t begin, int64_t end) {
  auto next = parts.upper_bound(begin);
  if (next != parts.begin() && std::prev(next)->second >= begin) --next;
  while (next != parts.end() && next->first <= end) {
    begin = std::min(begin, next->first);
    end = std::max(end, next->second);
    next = parts.erase(next);
  }
  parts.emplace(begin, end);
}

int64_t Workspace::bytes() const {
  int64_t sum = 0;
  const auto count = [&](const Parts& parts) {
    for (const auto& [begin, end] : parts) sum += end - begin;
  };
  for (const Parts& parts : scratch_) count(parts);
  count(memory_);
  return sum;
}

}  // namespace daybreak::sim
