// One case: a workload, the parts of the chain it runs, and the memory it lives in. day0, run, study and
// disasm all build their plans here.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "isa/memory/image.hpp"
#include "kernels/runtime/plan/decode_chain.hpp"
#include "kernels/runtime/plan/decode_run.hpp"
#include "kernels/runtime/plan/expert_workload.hpp"
#include "kernels/runtime/plan/inputs.hpp"
#include "kernels/runtime/plan/movement.hpp"
#include "kernels/runtime/plan/oracle.hpp"
#include "kernels/runtime/plan/prefill.hpp"
#include "kernels/runtime/plan/step.hpp"
#include "sim/cli/arguments.hpp"
#include "sim/cli/options.hpp"

namespace daybreak::cli {

// What `daybreak run KERNEL key=value ...` asks for (the words of measurements/FORMAT.md).
struct KernelCase {
  std::string name = {};
  kernels::Workload workload;
  kernels::ChainParts parts;
  kernels::Pairing pairing = kernels::Pairing::automatic;
  std::optional<kernels::PrefillShape> prefill = {};  // of the workload's requests as sequences
  std::optional<kernels::DecodeShape> decode = {};    // steps that follow each other
  int64_t ring = 0;      // sparse_mla: ring slots; 0: the most that fit
  std::string overhead;  // method of index_overhead; empty for kernels of the library
  std::optional<kernels::Movement> movement = {};  // copy, reread, shared_read
  int64_t grid = 1;                                // index_overhead: cores
  std::optional<kernels::ExpertWorkload> experts =
      std::nullopt;  // an expert layer: nothing else counts
};
class Case {
 public:
  Case(const kernels::Workload& workload, const isa::Capabilities& chip,
       kernels::Pairing pairing = kernels::Pairing::automatic, int64_t ring = 0);
  Case(const KernelCase& c, const isa::Capabilities& chip);

  // A plan over the case's inputs; several may follow each other.
  std::unique_ptr<kernels::Plan> plan(const kernels::ChainParts& parts);
  // The plan of the kernel case it was made from.
  std::unique_ptr<kernels::Plan> plan();
  const kernels::Prefill* prefill() const { return prefill_.get(); }  // of that plan, if it is one
  const kernels::Workload& workload() const { return inputs_->workload; }
  const kernels::DecodeInputs& inputs() const { return *inputs_; }

 private:
  std::unique_ptr<kernels::Plan> empty_plan();
  isa::Capabilities chip_;
  std::optional<KernelCase> kernel_;
  isa::MemoryImage image_;
  isa::BindingTable bindings_;
  std::unique_ptr<kernels::DecodeInputs> inputs_;
  std::shared_ptr<kernels::DecodeOracle> oracle_;
  kernels::ChainTuning tuning_;
  std::unique_ptr<kernels::Prefill> prefill_;
};

// Sets where the list of selected positions comes from: computed, random, local, or a file's name.
void set_index(kernels::Workload& workload, const std::string& index);

KernelCase kernel_case(const std::string& kernel, Arguments arguments,
                       const CommonOptions& options);
// Kernels that `run` knows.
const std::vector<std::string>& runnable_kernels();

}  // namespace daybreak::cli
