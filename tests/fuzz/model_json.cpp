// Any bytes as a model's config.json: a model with finite scales or one sentence.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "configs/reader/errors.hpp"
#include "kernels/runtime/model/model.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace daybreak;
  try {
    const std::string text(reinterpret_cast<const char*>(data), size);
    const kernels::ModelConfig model = kernels::read_model_text(text, "fuzz.json");
    if (!std::isfinite(model.softmax_scale()) || !std::isfinite(model.rope_magnitude()))
      std::abort();
  } catch (const UserError&) {}
  return 0;
}
