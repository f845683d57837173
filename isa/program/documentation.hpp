// The instruction table of the documentation, in Markdown, made from the list itself.
#pragma once
#include <string>

namespace daybreak::isa {

// One row per instruction in opcode order: opcode, name, queue, sentence, operands.
std::string instruction_table();

}  // namespace daybreak::isa
