// Words the whole program shares: queues, scratchpads, strong integers. (design.md sections 4, 11.3)
#pragma once
#include <compare>
#include <cstdint>
#include <string_view>

namespace daybreak {

// A number of one unit of measure; numbers of different units do not mix.
template <class Tag, class T = int64_t> struct Quantity {
  T value{};
  constexpr Quantity() = default;
  constexpr explicit Quantity(T v) : value(v) {}
  constexpr auto operator<=>(const Quantity&) const = default;
  constexpr Quantity& operator+=(Quantity o) {
    value += o.value;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity o) {
    value -= o.value;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    return Quantity(a.value + b.value);
  }
  friend constexpr Quantity operator-(Quantity a, Quantity b) {
    return Quantity(a.value - b.value);
  }
};
using Cycles = Quantity<struct CyclesTag>;  // of the core clock
using Bytes = Quantity<struct BytesTag>;
using Femtoseconds = Quantity<struct TimeTag>;          // simulated time
using Address = Quantity<struct AddressTag, uint64_t>;  // a byte of the simulated 64-bit memory

namespace isa {

// The in-order instruction queues of one core. `control` is the control processor itself: its
// instructions run where they are issued. The DMA engine has one queue per direction, so a store that
// waits for its data does not hold back the loads behind it.
enum class Queue : uint8_t { control, dma_in, dma_out, matrix, vector, sort };
inline constexpr int kQueues = 6;
constexpr int count_of(Queue) { return kQueues; }
constexpr std::string_view name_of(Queue q) {
  constexpr std::string_view names[] = {"control", "dma_in", "dma_out", "matrix", "vector", "sort"};
  return names[int(q)];
}

// The scratchpads of one core.
enum class Space : uint8_t { operand, vector, accumulator };
inline constexpr int kSpaces = 3;
constexpr int count_of(Space) { return kSpaces; }
constexpr std::string_view name_of(Space s) {
  constexpr std::string_view names[] = {"operand", "vector", "accumulator"};
  return names[int(s)];
}

}  // namespace isa
}  // namespace daybreak
