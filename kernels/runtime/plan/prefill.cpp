#include "kernels/runtime/plan/prefill.hpp"

#include <algorithm>

#include "isa/program/binary.hpp"

namespace daybreak::kernels {

Workload window_of(const Workload& sequences, int64_t from, int64_t to) {
  Workload w = sequences;
  w.contexts.clear();
  for (int64_t s = 0; s < sequences.batch; ++s) {
    const int64_t end = std::min(to, sequences.context_of(s));
    // Groups are counted from the end, so that only the first has padding.
    const int64_t groups = end > from ? (end - from + w.queries - 1) / w.queries : 0;
    for (int64_t g = groups - 1; g >= 0; --g) {
      w.contexts.push_back(end - g * w.queries);
      w.groups.push_back({.sequence = int32_t(s), .first_new = from});
    }
  }
  w.batch = int64_t(w.groups.size());
  return w;
}

std::vector<int64_t> chosen_windows(int64_t windows, int64_t simulated) {
  std::vector<int64_t> out;
  const int64_t third = simulated / 3, middle = (windows - third) / 2;
  const bool all = simulated == 0 || windows <= simulated;
  for (int64_t i = 0; i < windows; ++i)
    if (all || i < third || (i >= middle && i < middle + third) ||
        i >= windows - (simulated - 2 * third))
      out.push_back(i);
  return out;
}

Prefill::Prefill(const DecodeInputs& sequences, const isa::Capabilities& chip,
                 const PrefillShape& shape)
    : sequences_(sequences), shape_(shape) {
  const int64_t longest = sequences.workload.batch > 0 ? sequences.workload.longest() : 0;
  const int64_t step = shape.window > 0 ? shape.window : std::max<int64_t>(longest, 1);
  count_ = (longest + step - 1) / step;
  for (int64_t number : chosen_windows(count_, shape.simulated)) {
    const int64_t from = number * step;
    Window w;
    w.placed.number = number;
    w.inputs =
        std::make_unique<DecodeInputs>(window_of(sequences.workload, from, from + step), sequences);
    // How a token's sums are cut must not depend on the tokens beside it.
    w.tuning = tuning_for(w.inputs->workload, chip);
    w.tuning.attention_splits = 1;
    w.tuning.attention = attention_tunings(dsa::kTopk, chip);
    w.oracle = std::make_shared<DecodeOracle>(*w.inputs, shape.sample);
    windows_.push_back(std::move(w));
  }
}

void Prefill::add_to(Plan& plan) {
  ChainParts parts{.form = SelectionForm::fused, .two_streams = shape_.pipelined};
  for (size_t i = 0; i < windows_.size(); ++i) {
    Window& w = windows_[i];
    const size_t first = plan.bindings().size();
    w.placed.first_step = plan.steps().size();
    // Selection is one window ahead: two sets of tensors serve all windows.
    if (i >= 2) parts.after = uint32_t(windows_[i - 2].placed.end_step) - 1;
    w.tensors = std::make_unique<ChainTensors>(
        add_decode_chain(plan, *w.inputs, w.tuning, parts, w.oracle,
                         "window" + std::to_string(w.placed.number) + "."));
    w.placed.end_step = plan.steps().size();
    for (size_t b = first; b < plan.bindings().size(); ++b)
      w.bytes += plan.bindings()[b].bytes.value;
    // The score matrix belongs to the separate form.
    w.bytes -= plan.bindings()[w.tensors->scores].bytes.value;
  }
}

uint32_t Prefill::digest(int64_t sequence) const {
  uint32_t crc = 0;
  for (const Window& w : windows_) {
    const Workload& step = w.inputs->workload;
    const int64_t row = w.inputs->padded_heads;
    const auto add = [&](const auto& values) {
      crc = isa::crc32(std::as_bytes(std::span(values)), crc);
    };
    for (int64_t token = 0; token < step.tokens(); ++token) {
      if (step.sequence_of(token / step.queries) != sequence || !step.is_new(token)) continue;
      add(w.inputs->get<uint16_t>(w.tensors->out, step.heads * dsa::kLatent,
                                  token * row * dsa::kLatent));
      add(w.inputs->get<float>(w.tensors->lse, step.heads, token * row));
      add(w.inputs->get<int32_t>(w.tensors->chosen, step.topk, token * step.topk));
    }
  }
  return crc;
}

std::vector<Prefill::Placed> Prefill::placed() const {
  std::vector<Placed> out;
  for (const Window& w : windows_) out.push_back(w.placed);
  return out;
}

int64_t Prefill::score_bytes() const {
  const Workload& w = sequences_.workload;
  int64_t bytes = 0;
  for (int64_t s = 0; s < w.batch; ++s) bytes += w.context_of(s) * w.context_of(s) * 4;
  return bytes;
}

int64_t Prefill::intermediate_bytes() const {
  int64_t most = 0;
  for (size_t i = 0; i < windows_.size(); ++i)
    most =
        std::max(most, windows_[i].bytes + (shape_.pipelined && i > 0 ? windows_[i - 1].bytes : 0));
  return most;
}

}  // namespace daybreak::kernels
