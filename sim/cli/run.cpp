// run: one kernel, with the same table, record and trace as day0.
#include <fmt/format.h>

#include "kernels/runtime/plan/overhead.hpp"
#include "sim/cli/kernel_run.hpp"
#include "sim/cli/output.hpp"
#include "sim/cli/verbs.hpp"

namespace daybreak::cli {

Simulated simulate_case(const KernelCase& c, const sim::ChipConfig& chip,
                        const CommonOptions& options, const std::string& trace_path) {
  Case the_case(c.workload, chip.capabilities(), c.pairing);
  const auto plan = c.overhead.empty() ? the_case.plan(c.parts) : the_case.empty_plan();
  if (!c.overhead.empty()) kernels::add_index_overhead(*plan, the_case.inputs(), c.overhead);
  return simulate(*plan, chip, options, trace_path);
}

int run(const std::string& kernel, const std::vector<std::string>& words,
        const CommonOptions& options) {
  const auto arguments = Arguments::from_words("run " + kernel, words);
  const auto c = kernel_case(kernel, arguments, options);
  const auto chip = options.load_chip();
  Output output(options);
  const auto result = simulate_case(c, chip, options, output.trace_path(kernel));
  auto record = record_head("run", chip, options);
  record.workload.push_back({"kernel", kernel});
  for (const auto& [key, value] : arguments.pairs()) record.workload.push_back({key, value});
  fill(record, result);
  output.write(record, kernel);
  output.print(fmt::format("{} on {}", kernel, chip.name), {record});
  return record.pass() ? 0 : 1;
}

}  // namespace daybreak::cli
