// asm and disasm: programs between their text and binary forms, and kernels as programs.
#include <filesystem>
#include <iostream>

#include "configs/reader/loader.hpp"
#include "isa/program/binary.hpp"
#include "isa/program/text.hpp"
#include "isa/program/verify.hpp"
#include "sim/cli/kernel_run.hpp"
#include "sim/cli/verbs.hpp"
#include "traces/event/atomic_file.hpp"

namespace daybreak::cli {
namespace {

isa::TaskProgram read_program(const std::string& file) {
  const std::string bytes = configs::read_file(file);
  return isa::is_binary(std::as_bytes(std::span(bytes)))
             ? isa::decode(std::as_bytes(std::span(bytes)), file)
             : isa::assemble(bytes, file);
}

isa::TaskProgram kernel_program(const std::string& kernel, const std::vector<std::string>& words,
                                int64_t task, const CommonOptions& options) {
  const auto chip = options.load_chip();
  const auto c = kernel_case(kernel, Arguments::from_words("disasm " + kernel, words), options);
  PlannedCase planned(c, chip);
  kernels::Plan* plan = &planned.plan();
  plan->prepare(chip.capabilities(), options.value_mode() == sim::Values::steering);
  for (uint32_t launch = 0; launch < plan->steps().size(); ++launch) {
    if (task < int64_t(plan->steps()[launch].tasks))
      return plan->program(launch, uint32_t(task), plan->image());
    task -= plan->steps()[launch].tasks;
  }
  throw UserError("disasm " + kernel + ": --task is past its last task");
}

// Findings of the verifier, one a line, on standard error.
int report(const isa::TaskProgram& program, const std::string& name) {
  const auto findings = isa::verify(program, {});
  for (const auto& f : findings)
    std::cerr << name << ": " << name_of(f.kind) << ": " << f.message << "\n";
  return findings.empty() ? 0 : 1;
}

}  // namespace

int assemble_file(const std::string& file, const std::string& out) {
  const auto program = read_program(file);
  const auto bytes = isa::encode(program);
  traces::write_file(out, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  std::cout << "wrote " << out << ": " << program.code.size() << " instructions, " << bytes.size()
            << " bytes\n";
  return report(program, file);
}

int disassemble(const std::string& what, const std::vector<std::string>& words, int64_t task,
                const CommonOptions& options) {
  const auto program = std::filesystem::exists(what) && words.empty()
                           ? read_program(what)
                           : kernel_program(what, words, task, options);
  std::cout << isa::disassemble(program);
  return report(program, what);
}

}  // namespace daybreak::cli
