// Fields of an instruction, declared once: name, member, what it is, one sentence. Text form, binary
// form, documentation, hazards, the verifier and trace labels are all derived from this list.
#pragma once
#include <cstdint>
#include <string_view>
#include <tuple>

#include "isa/program/tile.hpp"

namespace daybreak::isa {

// How an instruction touches an operand.
enum class Access : uint8_t { none, read, write, update /* read and write */ };
constexpr bool reads(Access a) { return a == Access::read || a == Access::update; }
constexpr bool writes(Access a) { return a == Access::write || a == Access::update; }

// A matrix view into a tensor: starts at (row, col); the extent is the instruction's tile's.
struct TensorRef {
  uint16_t tensor = kNone;  // index into TaskProgram::tensors
  int64_t row = 0, col = 0;
  static constexpr uint16_t kNone = 0xFFFF;
  bool operator==(const TensorRef&) const = default;
  bool empty() const { return tensor == kNone; }
};

template <class Owner, class T> struct Field {
  std::string_view name;
  T Owner::*member;
  Access access;  // none for plain numbers
  bool steers;    // its value decides addresses, extents or order: must be real in every mode
  std::string_view sentence;
};

// A plain number or enum.
template <class O, class T>
constexpr Field<O, T> number(std::string_view name, T O::*m, std::string_view sentence) {
  return {name, m, Access::none, false, sentence};
}
// An operand in scratch or memory.
template <class O, class T>
constexpr Field<O, T> operand(std::string_view name, T O::*m, Access a, std::string_view sentence) {
  return {name, m, a, false, sentence};
}
// An operand whose value steers.
template <class O, class T>
constexpr Field<O, T> steering(std::string_view name, T O::*m, Access a,
                               std::string_view sentence) {
  return {name, m, a, true, sentence};
}

}  // namespace daybreak::isa
