// The decode chain of one DSA layer as a plan (operators.md section 3, steps a to f, then section 4):
//   indexer_prepare, query_prepare, latent_append        a, b
//   indexer, topk_partial, topk_merge  |  indexer_topk   c, d: separate launches or one fused launch,
//   or merge_add                                         or an earlier list with the newest positions
//   index_table                                          e
//   sparse_mla [, mla_combine]                           f
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/runtime/plan/chain_tensors.hpp"
#include "kernels/runtime/plan/step.hpp"
#include "kernels/runtime/plan/tuning.hpp"

namespace daybreak::kernels {

class DecodeOracle;

enum class SelectionForm : uint8_t { separate, fused };

// Lists that exact steps keep, for the steps after them that do without (kernels/library/dsa/merge_add.hpp).
struct KeptLists {
  uint16_t lists = 0;            // binding of (rows, 2048) records
  int64_t rows = 0;              // query tokens of the exact step
  std::vector<int32_t> sources;  // by request: row of the list it goes on from
  std::vector<int32_t> listed;   // by request: positions that this row's token saw
};

// Which parts of the chain a plan holds.
struct ChainParts {
  bool prepare = true;    // a, b
  bool selection = true;  // c, d
  SelectionForm form = SelectionForm::separate;
  bool scores = true;     // of selection: scoring (else seeded scores are given) ...
  bool topk = true;       // ... and top-k (else the indexer alone)
  bool table = true;      // e
  bool attention = true;  // f
  bool two_streams = false;
  std::optional<uint32_t> after = {};   // a step that has ended before the chain begins
  std::optional<uint16_t> keep = {};    // fused form: binding for the lists, (tokens, 2048) records
  std::optional<KeptLists> reuse = {};  // in place of c, d
  const ChainTensors* shared = nullptr;  // another layer's selection, in place of all index steps
};

// Adds the steps to `plan`, with fresh bindings for everything they write (the caches are appended in
// place), so that several chains over the same inputs do not see each other's results. What a plan leaves
// out is given: seeded queries in place of prepared ones, a table made on the host in place of step e.
// With `two_streams` scoring and selection run on stream 1 and the rest on stream 0, which waits for the
// table, so that a following chain's selection may run beside this one's attention. Returns the tensors.
ChainTensors add_decode_chain(Plan& plan, const DecodeInputs& inputs, const ChainTuning& tuning,
                              const ChainParts& parts, std::shared_ptr<DecodeOracle> oracle,
                              const std::string& prefix = "");

}  // namespace daybreak::kernels
