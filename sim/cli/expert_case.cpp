#include "sim/cli/expert_case.hpp"

#include <fmt/format.h>

#include "configs/reader/words.hpp"
#include "sim/chip/host.hpp"
#include "traces/event/atomic_file.hpp"

namespace daybreak::cli {

using kernels::WeightFormat;

ExpertCase::ExpertCase(const kernels::ExpertWorkload& workload, const sim::ChipConfig& chip)
    : workload_(workload), chip_(chip) {
  for (int64_t l = 0; l < workload.layers; ++l) {
    const uint16_t* before = l > 0 ? &layers_.back()->tensors().y : nullptr;
    layers_.push_back(std::make_unique<kernels::ExpertLayer>(workload_, chip.capabilities(), image_,
                                                             bindings_, l, before));
  }
  if (chip.core.dma.workspace == "scratchpad") return;
  // Slots are tiles of the operand scratchpad in the end: no more fit.
  const int64_t share = chip.core.scratch.operand_kb * 1024;
  const Bytes bytes(chip.cores * share);
  workspace_ = {.binding = uint16_t(bindings_.size()), .share = share, .tasks = chip.cores};
  bindings_.push_back(
      {.name = "workspace", .base = image_.reserve("workspace", bytes), .bytes = bytes});
}

std::unique_ptr<kernels::Plan> ExpertCase::plan() {
  auto plan = std::make_unique<kernels::Plan>(image_, bindings_);
  for (auto& layer : layers_) layer->add_to(*plan);
  if (workspace_) plan->keep_workspace(*workspace_);
  return plan;
}

void ExpertCase::add_verdicts(Simulated& run) const {
  const auto& model = workload_.model;
  int64_t hit = 0;
  for (const auto& layer : layers_)
    for (int64_t rows : layer->rows_of_experts()) hit += rows > 0;
  // Published as MXFP4: what memory holds otherwise was converted, into a file of its own.
  const int64_t experts = model.experts * model.layers;
  const int64_t one = model.expert_bytes(workload_.format), file = experts * one;
  const int64_t published = model.expert_bytes(WeightFormat::mxfp4);
  const int64_t weights =
      3 * model.width() * model.inter;  // of an expert: a byte each in the workspace
  const bool converted = workload_.format != WeightFormat::mxfp4;
  run.metrics = {
      {"expert_bytes", double(one)},
      {"expert_bytes_16bit", double(2 * weights)},
      {"expert_codes", double(weights) / 2},
      {"file_bytes", double(file)},
      {"convert_s", converted ? sim::convert_seconds(chip_.host, experts * published, file) : 0},
      {"load_s", sim::load_seconds(chip_.host, file, one)},
      {"load_peak_bytes", double(sim::load_peak_bytes(file, one))},
      {"chip_bytes", double(chip_.hbm.stacks * chip_.hbm.capacity_gb << 30)},
      {"expert_weights", double(weights)},
      {"experts", double(model.experts)},
      {"layers", double(model.layers)},
      {"experts_hit", double(hit)},
      {"workspace_bytes", double(run.result.workspace_bytes)},
      {"groups_inexact", double(run.result.conversions.inexact_groups)},
      {"groups_exact", double(run.result.conversions.exact_groups)}};
  if (converted) return;
  const auto& c = run.result.conversions;
  const int64_t used = run.result.workspace_bytes;
  // An expert that fits the operand scratchpads as a whole says nothing about reuse.
  if (weights > chip_.cores * chip_.core.scratch.operand_kb * 1024)
    run.verdicts.push_back({.name = "workspace of converted weights",
                            .pass = used < weights,
                            .metrics = {{"bytes", double(used)},
                                        {"share of one expert", double(used) / double(weights)}},
                            .tolerance = "less than one expert's FP8 bytes"});
  if (c.exact_groups + c.inexact_groups == 0) return;
  run.verdicts.push_back({.name = "conversion",
                          .pass = c.nan_blocks == 0,
                          .metrics = {{"groups exact", double(c.exact_groups)},
                                      {"groups inexact", double(c.inexact_groups)},
                                      {"largest error", traces::three_digits(c.largest_error)},
                                      {"NaN blocks", double(c.nan_blocks)}},
                          .tolerance = "no NaN block"});
}

void ExpertCase::record_routing(const std::string& file) const {
  const auto& layer = *layers_.front();
  const int64_t topk = workload_.model.topk;
  std::vector<int32_t> out;
  const auto all = layer.get<int32_t>(layer.tensors().chosen, workload_.tokens * layer.slots());
  for (int64_t t = 0; t < workload_.tokens; ++t)
    out.insert(out.end(), all.begin() + t * layer.slots(), all.begin() + t * layer.slots() + topk);
  traces::write_file(file, {reinterpret_cast<const char*>(out.data()), out.size() * 4});
}

kernels::ExpertWorkload expert_workload(Arguments& a, const CommonOptions& options) {
  kernels::ExpertWorkload w;
  w.model = kernels::read_expert_model(a.text("model", "deepseek-v3.2"));
  w.tokens = a.integer("tokens", 1, 0, 65536);
  const std::string format = a.word("format", "mxfp4", {"mxfp4", "fp8", "bf16"});
  w.format = format == "mxfp4" ? WeightFormat::mxfp4
             : format == "fp8" ? WeightFormat::fp8
                               : WeightFormat::bf16;
  w.shared = a.word("shared", "on", {"on", "off"}) == "on";
  w.layers = a.integer("layers", 1, 1, 16);
  w.seed = options.seed;
  kernels::set_routing(w, options.routing);
  return w;
}

std::vector<traces::Fact> facts_of(const kernels::ExpertModel& m) {
  const auto text = [](double v) { return configs::number_text(v); };
  const char* gates[] = {"SiLU-GLU", "clamped SwiGLU", "SiTU-GLU"};
  return {{"name", m.name},
          {"architecture", m.architecture},
          {"hidden", text(double(m.hidden))},
          {"expert width", text(double(m.width()))},
          {"expert intermediate", text(double(m.inter))},
          {"experts", fmt::format("{} of {}", m.topk, m.experts)},
          {"expert groups", fmt::format("{} of {}", m.keep, m.groups)},
          {"router", m.softmax ? "softmax over the chosen" : "sigmoid with a selection bias"},
          {"routed scale", text(m.scale)},
          {"activation", gates[int(m.gate)]},
          {"shared intermediate", text(double(m.shared_inter))},
          {"expert bytes, MXFP4", text(double(m.expert_bytes(WeightFormat::mxfp4)))}};
}

}  // namespace daybreak::cli
