// v.keep: columns at and past a count get one value (mask).
#pragma once
#include "isa/instructions/common.hpp"

namespace daybreak::isa {

struct KeepColumns {
  static constexpr Opcode kOpcode = Opcode::keep_columns;
  static constexpr std::string_view kName = "keep_columns";
  static constexpr std::string_view kSentence =
      "Overwrites the columns at and past a count with one value.";

  TileRef tile;
  int32_t count = 0;
  float value = -1e30f;

  static constexpr auto fields() {
    return std::tuple(operand("tile", &KeepColumns::tile, Access::update, "tile masked in place"),
                      number("count", &KeepColumns::count, "columns kept"),
                      number("value", &KeepColumns::value, "what the others get"));
  }
  Queue queue() const { return Queue::vector; }
  Work work() const;
  void execute(Context&) const;
};

}  // namespace daybreak::isa
