// Which stall causes a knob moves first: where to look in `daybreak trace stalls` when it is changed.
#pragma once
#include <string_view>
#include <vector>

#include "traces/event/event.hpp"

namespace daybreak::cli {

// By the longest part of the path that is listed; empty for a path that is no knob.
std::vector<traces::Cause> causes_of(std::string_view knob);

}  // namespace daybreak::cli
