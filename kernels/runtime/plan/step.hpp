// A kernel bound to its arguments, and a plan: the steps of a run over one memory image, which is what
// the simulator asks for programs (isa::TaskSource) and what the reference checks.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "isa/program/program.hpp"
#include "kernels/machines/record.hpp"
#include "kernels/tile/tuning.hpp"
#include "ref/compare/verdict.hpp"

namespace daybreak::kernels {

// The least a step must do, whatever the machine.
struct Floor {
  int64_t bytes = 0;      // compulsory memory traffic
  int64_t bf16_macs = 0;  // useful multiply-adds by operand format
  int64_t fp8_macs = 0;
};

struct Step {
  std::string name;  // "indexer"
  uint32_t tasks = 0;
  uint32_t shared_semaphores = 0;
  uint32_t cores = 0;           // most cores it may use; 0 = all
  uint32_t stream = 0;          // steps of one stream run in order
  std::vector<uint32_t> after;  // further steps (numbers in the plan) that must have ended
  isa::TensorDesc grid = {};    // rank > 0: an indirect launch; its task count is in (0, 1)
  std::vector<uint16_t> reads;  // bindings the results depend on
  std::vector<uint16_t> writes;
  std::vector<uint16_t> steers;  // bindings whose values decide addresses, extents or order
  Floor floor;
  std::function<Floor()> floor_of = nullptr;  // instead, where it depends on what the run computes
  std::function<isa::TaskProgram(uint32_t task, const Tuning&, const RecordContext&)> record;
  // What a task may read at most, for the choice of a tuning: its longest program must fit too.
  std::optional<int32_t> longest_read = std::nullopt;
  std::vector<Tuning> tunings{
      {}};  // best first; the first whose task 0 fits the chip's scratchpads (indirect: first task)
  std::function<std::vector<ref::Verdict>()> check;  // after the step has run; may be empty
};

// The steps of a stream run in order, each after the one before.
class Plan : public isa::TaskSource {
 public:
  Plan(isa::MemoryImage& image, isa::BindingTable& bindings) : image_(image), bindings_(bindings) {}

  void add(Step step) { steps_.push_back(std::move(step)); }
  const std::vector<Step>& steps() const { return steps_; }
  isa::MemoryImage& image() { return image_; }
  isa::BindingTable& bindings() { return bindings_; }

  // Prepares for a chip: chooses tunings, UserError when none fits. `steering`: bindings no steering operand depends on become phantom (the
  // backward slice over the steps, last to first).
  void prepare(const isa::Capabilities& chip, bool steering);
  // Converted weights go through memory: see MemoryWorkspace.
  void keep_workspace(const MemoryWorkspace& w) { workspace_ = w; }
  const std::optional<MemoryWorkspace>& workspace() const { return workspace_; }
  // A binding whose values are read after the run: they are computed in steering too.
  void want(uint16_t binding) { wanted_.push_back(binding); }
  std::vector<isa::Launch> launches() const;
  isa::TaskProgram program(uint32_t launch, uint32_t task, const isa::MemoryImage&) override;

  // The least step i had to do; after the run.
  Floor floor(size_t i) const {
    return steps_[i].floor_of ? steps_[i].floor_of() : steps_[i].floor;
  }

  // All verdicts of the steps whose results were computed. In values steering a step counts when all it
  // writes that steers was computed.
  std::vector<ref::Verdict> check() const;

 private:
  isa::MemoryImage& image_;
  isa::BindingTable& bindings_;
  std::vector<Step> steps_;
  void choose_tunings();
  isa::Capabilities chip_;
  std::vector<Tuning> chosen_;  // by step
  bool steering_ = false;
  std::vector<bool> needed_;  // by binding
  std::vector<uint16_t> wanted_;
  std::optional<MemoryWorkspace> workspace_;
};

// Binds kernel K to its arguments: name, task count and programs.
template <template <class> class K>
void bind(Step& step, const std::vector<Tuning>& tunings, const typename K<Record>::Args& args) {
  step.name = K<Record>::kName;
  step.tasks = uint32_t(K<Record>::tasks(args));
  step.tunings = tunings;
  step.record = [=](uint32_t task, const Tuning& tuning, const RecordContext& context) {
    return record_task<K>(args, tuning, task, context);
  };
}

// The same for a kernel with a variant of wide steps (Tuning::wide): `args` makes the arguments of either.
template <template <class> class K, template <class> class Wide, class Args>
void bind_either(Step& step, const std::vector<Tuning>& tunings, const Args& args) {
  bind<Wide>(step, tunings, args.template operator()<Wide<Record>>());
  const auto wide = std::move(step.record);
  bind<K>(step, tunings, args.template operator()<K<Record>>());
  step.record = [narrow = std::move(step.record), wide](uint32_t task, const Tuning& tuning,
                                                        const RecordContext& context) {
    return (tuning.wide ? wide : narrow)(task, tuning, context);
  };
}

}  // namespace daybreak::kernels
