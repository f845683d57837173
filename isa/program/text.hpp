// Text form of a program: tensors on top, then one instruction per line. Lossless: assemble() of
// disassemble() gives the same program, bit for bit (labels, NaN payloads and unused fields included).
//
//   program "sparse_mla" task 3
//   semaphores 4
//   scratch operand=524288 vector=1024 accumulator=0
//   tensor t0 binding=5 format=bf16 dims=1024x64x576 strides=73728x1152x2 offset=0 outside=zero
//   gather to=operand[0x0:64x576:bf16/1152]#3 from=t0(0,0) index=t1(0,64) wait=s1 signal=s2 fence
//
// A tile is space[offset:rows x cols:format/pitch]#id, a tensor view tN(row,col). A field that is not
// written keeps its default. `dead` marks an entry that values steering leaves out, a string is its
// label; `#` at the start of a word begins a comment.
#pragma once
#include <string>
#include <string_view>

#include "isa/program/program.hpp"

namespace daybreak::isa {

// Throws UserError with file:line:column, what is allowed and the nearest known name.
TaskProgram assemble(std::string_view text, const std::string& filename);
std::string disassemble(const TaskProgram& program);
// One line of the text form, without its line end.
std::string disassemble(const Entry& entry);

}  // namespace daybreak::isa
