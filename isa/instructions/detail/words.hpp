// Scratch tiles of int32.
#pragma once
#include <cstring>

#include "isa/instructions/detail/rows.hpp"

namespace daybreak::isa::detail {

// Rows of a tile of i32. Throws InvariantError for another format, misaligned rows or a tile past the
// scratchpad.
class Words {
 public:
  Words(Context& c, const TileRef& t, std::string_view instruction)
      : base_(base_of(c, t, instruction)), pitch_(t.pitch) {
    if (t.format != Format::i32 || t.offset % 4 || t.pitch % 4)
      fail(instruction, describe(t) + " must hold i32, 4-byte aligned");
  }
  int32_t* row(int64_t r) const { return reinterpret_cast<int32_t*>(base_ + r * pitch_); }

 private:
  std::byte* base_;
  int64_t pitch_;
};

}  // namespace daybreak::isa::detail
