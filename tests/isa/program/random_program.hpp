// Random programs that use every instruction and every field.
#pragma once
#include <bit>
#include <random>

#include "isa/program/codec.hpp"
#include "isa/program/limits.hpp"

namespace daybreak::isa::test {

class RandomProgram {
 public:
  explicit RandomProgram(uint32_t seed) : random_(seed) {}

  TaskProgram make(size_t entries) {
    TaskProgram p;
    p.kernel = text();
    p.task = uint32_t(random_());
    p.semaphores = uint32_t(below(300));
    for (Bytes& b : p.scratch) b = Bytes(int64_t(below(1 << 20)));
    for (size_t i = 0, n = below(8); i < n; ++i) p.tensors.push_back(tensor());
    for (size_t i = 0; i < entries; ++i) p.code.push_back(entry(i));
    return p;
  }
  uint64_t below(uint64_t n) { return (uint64_t(random_()) << 32 | random_()) % n; }

 private:
  std::string text() {
    std::string s;
    for (size_t i = 0, n = below(3) ? below(12) : 0; i < n; ++i)
      s += char(below(3) ? 'a' + below(26) : below(256));
    return s;
  }
  int64_t signed_below(int64_t n) { return int64_t(below(uint64_t(2 * n + 1))) - n; }
  TensorDesc tensor() {
    TensorDesc t{.binding = uint16_t(below(65536)),
                 .format = Format(below(10)),
                 .out_of_bounds = OutOfBounds(below(3)),
                 .rank = uint8_t(below(6)),
                 .offset = signed_below(int64_t{1} << 40),
                 .scale = int32_t(random_())};
    for (int d = 0; d < t.rank; ++d) {
      t.dims[d] = int64_t(below(1000));
      t.strides[d] = signed_below(kMaxStride);
    }
    if (t.rank) t.strides[t.rank - 1] = std::max(1, bits_of(t.format) / 8);
    return t;
  }
  void fill(TileRef& t) {
    if (below(4) == 0) return;
    t = {.id = uint32_t(random_()),
         .space = Space(below(3)),
         .format = Format(below(10)),
         .offset = uint32_t(random_()),
         .pitch = uint32_t(random_()),
         .rows = uint32_t(below(kMaxTileExtent + 1)),
         .cols = uint32_t(below(kMaxTileExtent + 1))};
  }
  void fill(TensorRef& r) {
    if (below(4) == 0) return;
    r = {.tensor = uint16_t(below(65536)),
         .row = signed_below(kMaxTensorExtent),
         .col = signed_below(kMaxTensorExtent)};
  }
  void fill(int32_t& v) { v = below(3) ? int32_t(random_()) : int32_t(below(3)) - 1; }
  void fill(float& v) {
    v = std::bit_cast<float>(below(2) ? uint32_t(random_()) : uint32_t(below(64)) << 26);
  }
  template <class E>
    requires std::is_enum_v<E>
  void fill(E& v) {
    v = E(below(uint64_t(count_of(E{}))));
  }
  Entry entry(size_t index) {
    Entry e;
    size_t at = 0;
    for_each_instruction_type([&](auto type) {
      if (at++ == index % std::variant_size_v<Instruction>)
        e.instruction = typename decltype(type)::type{};
    });
    std::visit(
        [&](auto& i) { for_each_field(i, [&](const auto&, auto& member) { fill(member); }); },
        e.instruction);
    for (auto* list : {&e.waits, &e.signals})
      for (size_t i = 0, n = below(3); i < n; ++i) list->push_back({uint8_t(below(256))});
    e.fence = below(2);
    e.live = below(2);
    e.label = text();
    return e;
  }

  std::mt19937 random_;
};

// Equal in every bit, floats included.
template <class T> bool identical(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
  else
    return a == b;
}
inline bool identical(const Entry& a, const Entry& b) {
  bool same = a.instruction.index() == b.instruction.index() && a.waits == b.waits &&
              a.signals == b.signals && a.fence == b.fence && a.live == b.live &&
              a.label == b.label;
  if (!same) return false;
  std::visit(
      [&](const auto& i) {
        const auto& other = std::get<std::remove_cvref_t<decltype(i)>>(b.instruction);
        for_each_field(i, [&](const auto& f, const auto& member) {
          same = same && identical(member, other.*(f.member));
        });
      },
      a.instruction);
  return same;
}
inline bool identical(const TaskProgram& a, const TaskProgram& b) {
  bool same = a.kernel == b.kernel && a.task == b.task && a.tensors == b.tensors &&
              a.semaphores == b.semaphores && a.scratch == b.scratch &&
              a.code.size() == b.code.size();
  for (size_t i = 0; same && i < a.code.size(); ++i) same = identical(a.code[i], b.code[i]);
  return same;
}

}  // namespace daybreak::isa::test
