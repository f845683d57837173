#include "kernels/runtime/plan/step.hpp"

#include <algorithm>

#include "configs/reader/errors.hpp"

namespace daybreak::kernels {
namespace {

bool any(const std::vector<uint16_t>& bindings, const std::vector<bool>& marked) {
  return std::any_of(bindings.begin(), bindings.end(), [&](uint16_t b) { return marked[b]; });
}

void mark(const std::vector<uint16_t>& bindings, std::vector<bool>& marked) {
  for (uint16_t b : bindings) marked[b] = true;
}

}  // namespace

void Plan::prepare(const isa::Capabilities& chip, bool steering) {
  chip_ = chip;
  steering_ = steering;
  needed_.assign(bindings_.size(), !steering);
  if (steering) {
    mark(wanted_, needed_);
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
      if (any(step->writes, needed_)) mark(step->reads, needed_);
      mark(step->steers, needed_);
    }
  }
  for (size_t b = 0; b < bindings_.size(); ++b) bindings_[b].phantom = !needed_[b];
  choose_tunings();
}

void Plan::choose_tunings() {
  chosen_.clear();
  for (const Step& step : steps_) {
    const RecordContext context{.capabilities = chip_,
                                .memory = image_,
                                .bindings = bindings_,
                                .assumed_read = step.longest_read,
                                .workspace = workspace_};
    for (size_t i = 0; i < step.tunings.size(); ++i) {
      try {
        if (step.tasks > 0) step.record(0, step.tunings[i], context);
        chosen_.push_back(step.tunings[i]);
        break;
      } catch (const UserError&) {
        if (i + 1 == step.tunings.size()) throw;
      }
    }
  }
}

std::vector<isa::Launch> Plan::launches() const {
  std::vector<isa::Launch> out;
  for (const Step& step : steps_)
    out.push_back({.kernel = step.name,
                   .tasks = step.tasks,
                   .grid = step.grid.rank > 0 ? isa::TensorRef{0, 0, 1} : isa::TensorRef{},
                   .grid_tensor = step.grid,
                   .after = step.after,
                   .stream = step.stream,
                   .cores = step.cores,
                   .shared_semaphores = step.shared_semaphores});
  return out;
}

isa::TaskProgram Plan::program(uint32_t launch, uint32_t task, const isa::MemoryImage& memory) {
  RecordContext context{
      .capabilities = chip_, .memory = memory, .bindings = bindings_, .workspace = workspace_};
  if (steering_) context.needed = [this](uint16_t binding) { return needed_[binding]; };
  const Step& step = steps_[launch];
  if (step.grid.rank == 0) return step.record(task, chosen_[launch], context);
  // What an indirect launch works through is known now: its first task decides what fits.
  for (auto next = std::find(step.tunings.begin(), step.tunings.end(), chosen_[launch]);;) {
    try {
      return step.record(task, chosen_[launch] = *next, context);
    } catch (const UserError&) {
      if (++next == step.tunings.end()) throw;
    }
  }
}

std::vector<ref::Verdict> Plan::check() const {
  std::vector<ref::Verdict> out;
  for (const Step& step : steps_) {
    if (!step.check || !any(step.writes, needed_)) continue;
    for (auto& verdict : step.check()) out.push_back(std::move(verdict));
  }
  return out;
}

}  // namespace daybreak::kernels
