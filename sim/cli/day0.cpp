// day0: will this model run on that card, correctly, how fast, and what holds it back.
#include <filesystem>
#include <iostream>

#include <fmt/format.h>

#include "configs/reader/words.hpp"
#include "kernels/runtime/model/model.hpp"
#include "sim/cli/kernel_run.hpp"
#include "sim/cli/output.hpp"
#include "sim/cli/simulate.hpp"
#include "sim/cli/verbs.hpp"
#include "traces/report/table.hpp"

namespace daybreak::cli {
namespace {

using kernels::SelectionForm;

void check(const Day0Options& o, const kernels::ModelConfig& model) {
  if (o.phase != "decode")
    throw UserError("--phase: " + configs::in_quotes(o.phase) + " is not decode");
  const std::vector<std::string> forms{"both", "separate", "fused"};
  if (std::find(forms.begin(), forms.end(), o.form) == forms.end())
    throw UserError("--form: " + configs::in_quotes(o.form) + " is not " + configs::any_of(forms) +
                    configs::did_you_mean(o.form, forms));
  if (o.experts != "on" && o.experts != "off" && o.experts != "auto")
    throw UserError("--experts: " + configs::in_quotes(o.experts) + " is not on, off or auto");
  if (o.context > model.max_positions && !o.beyond_max)
    throw UserError(
        fmt::format("--context {} is beyond the model's {} positions; --beyond-max allows it",
                    o.context, model.max_positions));
}

std::vector<traces::Fact> facts(const kernels::ModelConfig& m) {
  auto text = [](double v) { return configs::number_text(v); };
  return {
      {"name", m.name},
      {"architecture", m.architecture},
      {"layers", text(double(m.layers))},
      {"hidden", text(double(m.hidden))},
      {"heads", text(double(m.heads))},
      {"q_lora", text(double(m.q_lora))},
      {"kv_lora", text(double(m.kv_lora))},
      {"head dims nope/rope/value", fmt::format("{}/{}/{}", m.nope_dim, m.rope_dim, m.value_dim)},
      {"softmax scale", text(m.softmax_scale())},
      {"index heads", text(double(m.indexer.heads))},
      {"index top-k", text(double(m.indexer.topk))},
      {"index RoPE", m.indexer.interleaved ? "interleaved" : "half-split"},
      {"attention RoPE", m.rope_interleaved ? "interleaved" : "half-split"},
      {"max positions", text(double(m.max_positions))}};
}

traces::RunRecord record_of(const Day0Options& o, const CommonOptions& common,
                            const kernels::ModelConfig& model, const sim::ChipConfig& chip,
                            const char* form, const Simulated& run) {
  auto record = record_head("day0", chip, common);
  record.model = facts(model);
  record.workload = {{"phase", o.phase},
                     {"context", std::to_string(o.context)},
                     {"batch", std::to_string(o.batch)},
                     {"queries", std::to_string(o.queries)},
                     {"index", common.index},
                     {"selection", form}};
  for (const auto& a : model.assumed) record.assumed.push_back({a.what, a.value, a.source});
  fill(record, run);
  return record;
}

// More tokens reach more experts, and computing all of them takes minutes.
bool with_experts(const Day0Options& o, const kernels::ModelConfig& model) {
  constexpr int64_t kFewTokens = 8;
  if (model.experts == 0 || o.experts == "off") return false;
  return o.experts == "on" || (o.batch > 0 && o.batch * o.queries <= kFewTokens);
}

// The routed experts of one layer for the tokens of the step.
traces::RunRecord experts_record(const Day0Options& o, const CommonOptions& common,
                                 const kernels::ModelConfig& model, const sim::ChipConfig& chip,
                                 const std::string& trace_folder) {
  KernelCase c{.workload = {}, .parts = {}, .overhead = {}};
  c.experts = {.model = kernels::expert_model_of(model),
               .tokens = o.batch * o.queries,
               .routing_file = {},
               .seed = common.seed};
  kernels::set_routing(*c.experts, common.routing);
  auto record = record_head("day0", chip, common);
  record.model = facts_of(c.experts->model);
  record.workload = {{"tokens", std::to_string(c.experts->tokens)},
                     {"routing", common.routing},
                     {"part", "routed experts"}};
  for (const auto& a : c.experts->model.assumed)
    record.assumed.push_back({a.what, a.value, a.source});
  fill(record, simulate_case(c, chip, common, trace_folder));
  return record;
}

}  // namespace

int day0(const Day0Options& o, const CommonOptions& common) {
  const auto model = kernels::read_model(o.model);
  check(o, model);
  const auto chip = common.load_chip();
  auto workload = kernels::workload_of(model, o.batch, o.queries, o.context);
  workload.seed = common.seed;
  set_index(workload, common.index);
  Case the_case(workload, chip.capabilities());

  Output output(common);
  std::vector<traces::RunRecord> records;
  for (const auto form : {SelectionForm::separate, SelectionForm::fused}) {
    const char* name = form == SelectionForm::fused ? "fused" : "separate";
    if (o.form != "both" && o.form != name) continue;
    const auto plan = the_case.plan({.form = form});
    const auto run = simulate(*plan, chip, common, output.trace_folder(name));
    records.push_back(record_of(o, common, model, chip, name, run));
    output.write(records.back(), name);
  }
  if (with_experts(o, model)) {
    records.push_back(experts_record(o, common, model, chip, output.trace_folder("experts")));
    output.write(records.back(), "experts");
  }
  output.print(
      fmt::format("{} on {}, one DSA layer, decode: context {}, batch {}, {} query token{} a step",
                  model.name, chip.name, o.context, o.batch, o.queries, o.queries == 1 ? "" : "s"),
      records);
  return std::all_of(records.begin(), records.end(), [](const auto& r) { return r.pass(); }) ? 0
                                                                                             : 1;
}

}  // namespace daybreak::cli
