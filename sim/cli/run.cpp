// run: one kernel, with the same table, record and trace as day0.
#include <fmt/format.h>

#include "sim/cli/decode_steps.hpp"
#include "sim/cli/dram_run.hpp"
#include "sim/cli/kernel_run.hpp"
#include "sim/cli/output.hpp"
#include "sim/cli/prefill_time.hpp"
#include "sim/cli/verbs.hpp"

namespace daybreak::cli {

PlannedCase::PlannedCase(const KernelCase& c, const sim::ChipConfig& chip) {
  if (c.experts) {
    experts_ = std::make_unique<ExpertCase>(*c.experts, chip);
    plan_ = experts_->plan();
  } else {
    case_ = std::make_unique<Case>(c, chip.capabilities());
    plan_ = case_->plan();
  }
}

Simulated simulate_case(const KernelCase& c, const sim::ChipConfig& chip,
                        const CommonOptions& options, const std::string& trace_folder) {
  if (c.decode) return simulate_steps(c, chip, options, trace_folder);
  PlannedCase planned(c, chip);
  auto out = simulate(planned.plan(), chip, options, trace_folder);
  if (planned.experts()) {
    planned.experts()->add_verdicts(out);
    if (!options.record_routing.empty()) planned.experts()->record_routing(options.record_routing);
  } else if (planned.sequences()->prefill()) {
    describe(out, *planned.sequences()->prefill(), planned.plan(), chip, options, c.workload.batch);
  }
  if (planned.sequences()) {
    const auto bytes = planned.sequences()->inputs().cache_bytes();
    out.metrics.push_back({"cache_bytes", double(bytes.taken)});
    out.metrics.push_back({"cache_used_bytes", double(bytes.used)});
  }
  return out;
}

int run(const std::string& kernel, const std::vector<std::string>& words,
        const CommonOptions& options) {
  if (kernel == "dram") return run_dram(words, options);
  const auto arguments = Arguments::from_words("run " + kernel, words);
  const auto c = kernel_case(kernel, arguments, options);
  const auto chip = options.load_chip();
  Output output(options);
  const auto result = simulate_case(c, chip, options, output.trace_folder(kernel));
  auto record = record_head("run", chip, options);
  record.workload.push_back({"kernel", kernel});
  for (const auto& [key, value] : arguments.pairs()) record.workload.push_back({key, value});
  if (c.experts) {
    record.model = facts_of(c.experts->model);
    record.workload.push_back({"routing", options.routing});
    for (const auto& a : c.experts->model.assumed)
      record.assumed.push_back({a.what, a.value, a.source});
  }
  fill(record, result);
  output.write(record, kernel);
  std::string title = fmt::format("{} on {}", kernel, chip.name);
  for (const auto& [name, value] : result.facts) title += fmt::format("\n  {}: {}", name, value);
  output.print(title, {record});
  return record.pass() ? 0 : 1;
}

}  // namespace daybreak::cli
