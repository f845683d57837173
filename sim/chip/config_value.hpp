// One knob's value from a user's text: "64", "64 KB", "1.65 GHz", "true", "coarse256".
#pragma once
#include <string>

#include "configs/reader/errors.hpp"
#include "sim/chip/schema.hpp"

namespace daybreak::sim {

// Writes the value into the chip that the knob was listed from. A number may carry a unit of the
// knob's own kind (B KB MB GB of 1024; MHz GHz; ns us); the result must be exact where the knob is
// a whole number. Throws UserError.
void set_knob(const Knob& knob, const std::string& text, const Position& at);

}  // namespace daybreak::sim
