// The two forms of model description that read_model knows. Bounds are generous (a power of two
// above any published model) and keep every product of two sizes far inside 64 bits.
#pragma once
#include <string>

#include "configs/reader/node.hpp"
#include "kernels/runtime/model/model.hpp"

namespace daybreak::kernels {

inline constexpr int64_t kMostLayers = 4096;
inline constexpr int64_t kMostHeads = 4096;
inline constexpr int64_t kMostWidth = 1 << 20;  // hidden, ranks, intermediate
inline constexpr int64_t kMostHeadDim = 65536;
inline constexpr int64_t kMostExperts = 65536;
inline constexpr int64_t kMostPositions = 1ll << 31;  // index tables hold int32 positions

// Hugging Face config.json.
ModelConfig read_published_form(const configs::Node& root);
// DeepSeek's inference config (config_671B_v3.2.json).
ModelConfig read_inference_form(const configs::Node& root);

// The model's name after its file's.
std::string model_name(const std::string& path);

// Notes a fact that the file does not state.
void assume(ModelConfig& model, const std::string& what, const std::string& value,
            const std::string& source);
// What the kernels are built for (kernels/library/dsa/layouts.hpp); refused with the key's place.
void check_shapes(const ModelConfig& model, const configs::Node& root);

}  // namespace daybreak::kernels
