// What an instruction touches, as passes need it: its tiles, and the parts of bindings in bytes.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>
#include <variant>

#include "isa/instructions/list.hpp"
#include "isa/program/region.hpp"

namespace daybreak::kernels {

// f(TileRef&, Access, bool steers) for every tile operand; a product that starts its accumulator
// anew writes it, whatever the field says.
template <class Instruction, class F> void visit_tiles(Instruction& instruction, F&& f) {
  std::visit(
      [&](auto& i) {
        using I = std::remove_cvref_t<decltype(i)>;
        isa::for_each_operand(i, [&](auto& operand, isa::Access access, bool steers) {
          if constexpr (std::is_same_v<std::remove_cvref_t<decltype(operand)>, isa::TileRef>) {
            if constexpr (std::is_same_v<I, isa::Mma>)
              if (access == isa::Access::update && !i.accumulate) access = isa::Access::write;
            f(operand, access, steers);
          }
        });
      },
      instruction);
}

// A part of a binding. `indexed`: rows that an index table chooses; `bytes` is all they can be.
struct MemoryAccess {
  uint16_t binding = 0;
  isa::Region bytes;
  isa::Access access = isa::Access::none;
  bool steers = false, indexed = false;
};

// Rows and columns of each TensorRef operand of an instruction, by its kind.
class MemoryVisitor {
 public:
  explicit MemoryVisitor(std::span<const isa::TensorDesc> tensors) : tensors_(tensors) {}

  // f(const MemoryAccess&) for every part of memory the instruction touches.
  template <class F> void visit(const isa::Instruction& instruction, F&& f) const {
    std::visit([&](const auto& i) { parts(i, f); }, instruction);
  }

 private:
  template <class F, class I> void parts(const I&, F&) const {}
  template <class F> void parts(const isa::Load& i, F& f) const {
    part(i.from, i.to.rows, i.to.cols, isa::Access::read, false, f);
  }
  template <class F> void parts(const isa::Store& i, F& f) const {
    part(i.to, i.from.rows, i.from.cols, isa::Access::write, false, f);
  }
  template <class F> void parts(const isa::Gather& i, F& f) const {
    whole(i.from, i.to.cols, isa::Access::read, false, f);
    part(i.index, 1, i.to.rows / std::max(1, i.rows_per_entry), isa::Access::read, true, f);
    part(i.generation, 1, 2, isa::Access::read, true, f);
    if (!i.requests.empty()) whole(i.requests, 4, isa::Access::read, true, f);
  }
  template <class F> void parts(const isa::StreamMxfp4& i, F& f) const {
    part(i.from, i.to.rows, i.to.cols, isa::Access::read, false, f);
    part({i.from_scales.tensor, i.from_scales.row, i.from_scales.col + i.from.col / 32}, i.to.rows,
         i.block_columns(), isa::Access::read, false, f);
  }
  template <class F> void parts(const isa::Scatter& i, F& f) const {
    whole(i.to, i.from.cols, isa::Access::write, false, f);
    part(i.slots, 1, i.from.rows, isa::Access::read, true, f);
  }
  template <class F> void parts(const isa::Translate& i, F& f) const {
    part(i.to, 1, i.count, isa::Access::write, false, f);
    part(i.generation, 1, 2, isa::Access::write, false, f);
    part(i.positions, 1, i.count, isa::Access::read, true, f);
    whole(i.requests, 4, isa::Access::read, true, f);
    whole(i.blocks, tensors_[i.blocks.tensor].cols(), isa::Access::read, true, f);
  }
  template <class F> void parts(const isa::ScalarLoad& i, F& f) const {
    part(i.from, 1, 1, isa::Access::read, true, f);
  }

  template <class F>
  void part(const isa::TensorRef& r, int64_t rows, int64_t cols, isa::Access access, bool steers,
            F& f) const {
    if (r.empty()) return;
    const isa::TensorDesc& t = tensors_[r.tensor];
    f(MemoryAccess{t.binding, isa::region_of(t, r.row, r.col, rows, cols), access, steers, false});
  }
  template <class F>
  void whole(const isa::TensorRef& r, int64_t cols, isa::Access access, bool steers, F& f) const {
    const isa::TensorDesc& t = tensors_[r.tensor];
    f(MemoryAccess{t.binding, isa::region_of(t, 0, r.col, t.rows(), cols), access, steers, true});
  }

  std::span<const isa::TensorDesc> tensors_;
};

}  // namespace daybreak::kernels
