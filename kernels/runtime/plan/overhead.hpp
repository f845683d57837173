// What naming a selected key costs, four ways (study index-overhead). Each core of the grid brings the
// 2048 selected rows of one request into its scratchpad:
//   task      one scheduler task per key: the task reads its row's number and loads the row
//   scalar    a loop on the control processor: index load, two dependent page-table loads, descriptor
//             build, push
//   masked    every row of the context is loaded and a mask is applied to a tile of scores
//   table     the aggregated index table: positions sorted out of the top-k list, translated, gathered
//   build, translate, gather     the parts of `table`, each alone
// Nothing but the data movement is timed: no method does arithmetic on the rows.
#pragma once
#include <string>

#include "kernels/runtime/plan/inputs.hpp"
#include "kernels/runtime/plan/step.hpp"

namespace daybreak::kernels {

// One request per core of the grid; inputs.workload.index must be a synthetic selection.
void add_index_overhead(Plan& plan, const DecodeInputs& inputs, const std::string& method);

}  // namespace daybreak::kernels
