#include "sim/core/hazard.hpp"

#include <fmt/format.h>

#include "configs/reader/errors.hpp"

namespace daybreak::sim {

std::string describe(const Toucher& t, std::string_view label) {
  return fmt::format("{}{} (entry {}, queue {}, task {} of launch {})", t.name,
                     label.empty() ? std::string() : fmt::format(" '{}'", label), t.entry,
                     isa::name_of(t.queue), t.task, t.launch);
}

void throw_unordered(const Toucher& first, bool first_writes, const Toucher& second,
                     bool second_writes, const std::string& where) {
  const std::string a = describe(first), b = describe(second);
  throw InvariantError(
      fmt::format("{} {} {} that {} {}, and no edge orders them: needs {} from {} to {}", b,
                  second_writes ? "writes" : "reads", where, a, first_writes ? "writes" : "reads",
                  first.launch == second.launch ? "a signal" : "a dependency", a, b));
}

}  // namespace daybreak::sim
