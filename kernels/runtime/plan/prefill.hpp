// Prefill of a batch of sequences of any lengths: every window of their tokens runs the steps of a decode
// chain in one launch each. Groups of consecutive tokens stand for the chain's requests
// (TokenGroup), so that the kernels are those of decode, and the keys of a group are read once for all its
// tokens. Selection of window i + 1 may run beside the attention of window i, on streams of their own; what
// lies between the kernels is never larger than that of the windows under way, two at most.
#pragma once
#include <memory>
#include <vector>

#include "kernels/runtime/plan/decode_chain.hpp"
#include "kernels/runtime/plan/oracle.hpp"

namespace daybreak::kernels {

struct PrefillShape {
  int64_t window = 0;     // tokens of a sequence in one window; 0: all
  bool pipelined = true;  // selection and attention on two streams
  int64_t sample = 66;    // tokens of a sequence that are checked; all of those with fewer
  int64_t simulated = 0;  // windows that are run: first, middle and last third; 0: all
};

class Prefill {
 public:
  // The requests of `sequences`' workload are the sequences, its contexts their lengths, its queries the
  // tokens of a group (1 to 8).
  Prefill(const DecodeInputs& sequences, const isa::Capabilities& chip, const PrefillShape&);

  // Adds the windows' steps. The object outlives the plan.
  void add_to(Plan& plan);
  // CRC-32 of a sequence's attention outputs, log-sum-exps and selected positions, by position: the same
  // for every window.
  uint32_t digest(int64_t sequence) const;
  int64_t windows() const { return count_; }  // of the whole prefill
  // A window that is run: its number, and its steps in the plan.
  struct Placed {
    int64_t number = 0;
    size_t first_step = 0, end_step = 0;
  };
  std::vector<Placed> placed() const;
  // Bytes of the index scores of all tokens, were they kept.
  int64_t score_bytes() const;
  // Bytes of the tensors between the kernels of the largest window, of two where they are pipelined.
  int64_t intermediate_bytes() const;

 private:
  struct Window {
    std::unique_ptr<DecodeInputs> inputs;
    ChainTuning tuning;
    std::shared_ptr<DecodeOracle> oracle;
    std::unique_ptr<ChainTensors> tensors;
    int64_t bytes = 0;
    Placed placed;
  };
  const DecodeInputs& sequences_;
  PrefillShape shape_;
  int64_t count_ = 0;
  std::vector<Window> windows_;
};

// Numbers of the windows to run.
std::vector<int64_t> chosen_windows(int64_t windows, int64_t simulated);

// One step over tokens [from, to) of each sequence of `sequences`; nothing of those that end before.
Workload window_of(const Workload& sequences, int64_t from, int64_t to);

}  // namespace daybreak::kernels
