// The raw index vectors of a decode step in the streams that are not random (IndexStream).
#pragma once
#include "kernels/runtime/plan/inputs.hpp"

namespace daybreak::kernels {

// Replaces those of `inputs`; `tokens_before`: query tokens of each request in the steps before.
void put_index_stream(const DecodeInputs& inputs, int64_t tokens_before);

}  // namespace daybreak::kernels
