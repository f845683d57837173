// Who touched a range, and the sentence that is thrown when no edge orders two touches.
#pragma once
#include <string>
#include <string_view>

#include "sim/core/knowledge.hpp"

namespace daybreak::sim {

// One instruction as the checker sees it.
struct Toucher {
  uint32_t launch = 0, task = 0, entry = 0;
  isa::Queue queue = isa::Queue::control;
  Sequence sequence = 0;
  std::string_view name;  // static storage
};

// "gather 'step 3' (entry 7, dma_in, task 2 of launch 1)".
std::string describe(const Toucher&, std::string_view label = {});

// Throws InvariantError: `first` must come before `second`, and nothing says so.
[[noreturn]] void throw_unordered(const Toucher& first, bool first_writes, const Toucher& second,
                                  bool second_writes, const std::string& where);

}  // namespace daybreak::sim
