// Text form: every input is refused with a UserError or read, and what is read survives a round trip and
// the verifier.
#include "configs/reader/errors.hpp"
#include "isa/program/text.hpp"
#include "isa/program/verify.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace daybreak;
  try {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const isa::TaskProgram program = isa::assemble(text, "input");
    const std::string once = isa::disassemble(program);
    if (isa::disassemble(isa::assemble(once, "again")) != once) __builtin_trap();
    isa::verify(program, {.max_semaphores = 256});
  } catch (const UserError&) {}
  return 0;
}
