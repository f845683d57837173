// What text and binary form share: walking the fields of any instruction, making one by name or number,
// and how many values each enum has.
#pragma once
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "isa/program/program.hpp"

namespace daybreak {
constexpr int count_of(Format) { return 10; }
}  // namespace daybreak

namespace daybreak::isa {

// f(field, member) for every field in declaration order.
template <class I, class F> void for_each_field(I& instruction, F&& f) {
  std::apply([&](const auto&... field) { (f(field, instruction.*(field.member)), ...); },
             std::remove_cvref_t<I>::fields());
}

// f(std::type_identity<I>) for every instruction type of the list.
template <class F> void for_each_instruction_type(F&& f) {
  [&]<size_t... i>(std::index_sequence<i...>) {
    (f(std::type_identity<std::variant_alternative_t<i, Instruction>>{}), ...);
  }(std::make_index_sequence<std::variant_size_v<Instruction>>{});
}

// A default instruction of the type for which `chosen` is true; false if there is none.
template <class P> bool make_instruction(Instruction& to, P&& chosen) {
  bool found = false;
  for_each_instruction_type([&](auto type) {
    using I = typename decltype(type)::type;
    if (!found && chosen(type)) {
      to = I{};
      found = true;
    }
  });
  return found;
}

}  // namespace daybreak::isa
