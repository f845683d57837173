// Operands of an instruction, found through its list of fields.
#pragma once
#include <tuple>
#include <type_traits>

#include "isa/instructions/common.hpp"

namespace daybreak::isa {

// Visits operands only: f(const TileRef&, Access, bool steers) or f(const TensorRef&, Access, bool).
// Empty operands are left out.
template <class I, class F> void for_each_operand(I& instruction, F&& f) {
  std::apply(
      [&](const auto&... field) {
        auto one = [&](const auto& fl) {
          auto& member = instruction.*(fl.member);
          using T = std::remove_cvref_t<decltype(member)>;
          if constexpr (std::is_same_v<T, TileRef> || std::is_same_v<T, TensorRef>)
            if (!member.empty()) f(member, fl.access, fl.steers);
        };
        (one(field), ...);
      },
      std::remove_cvref_t<I>::fields());
}

}  // namespace daybreak::isa
