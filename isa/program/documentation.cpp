#include "isa/program/documentation.hpp"

#include <fmt/format.h>

#include <map>

#include "isa/program/codec.hpp"

namespace daybreak::isa {

namespace {

constexpr std::string_view name_of(Access a) {
  constexpr std::string_view names[] = {"number", "read", "write", "update"};
  return names[int(a)];
}

template <class I> std::string row() {
  I instruction;
  std::string operands;
  for_each_field(instruction, [&](const auto& field, const auto&) {
    operands += fmt::format("{}`{}` ({}{}): {}", operands.empty() ? "" : "<br>", field.name,
                            name_of(field.access), field.steers ? ", steers" : "", field.sentence);
  });
  return fmt::format("| {:#04x} | `{}` | {} | {} | {} |\n", uint8_t(I::kOpcode), I::kName,
                     isa::name_of(instruction.queue()), I::kSentence, operands);
}

}  // namespace

std::string instruction_table() {
  std::map<Opcode, std::string> rows;
  for_each_instruction_type([&](auto type) {
    using I = typename decltype(type)::type;
    rows[I::kOpcode] = row<I>();
  });
  std::string out = "| opcode | name | queue | what it does | operands |\n|---|---|---|---|---|\n";
  for (const auto& [opcode, text] : rows) out += text;
  return out;
}

}  // namespace daybreak::isa
