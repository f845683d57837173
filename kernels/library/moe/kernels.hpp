// The kernels of routed experts by name, for `daybreak kernels`.
#pragma once
#include <array>

#include "kernels/library/dsa/kernels.hpp"

namespace daybreak::kernels::moe {

inline constexpr std::array kKernels{
    dsa::KernelInfo{"quantise_rows", "kernels/library/moe/quantise_rows.hpp",
                    "Quantises BF16 rows to E4M3 with one scale per 128 columns."},
    dsa::KernelInfo{"route_select", "kernels/library/moe/route_select.hpp",
                    "Picks each token's experts and weights from its router logits."},
    dsa::KernelInfo{
        "route_place", "kernels/library/moe/route_place.hpp",
        "Gives every token of an expert a row and writes the work list of the products."},
    dsa::KernelInfo{
        "expert_gemm", "kernels/library/moe/expert_gemm.hpp",
        "Multiplies the rows of each expert with its weights, MXFP4 converted on the way."},
    dsa::KernelInfo{"expert_combine", "kernels/library/moe/expert_combine.hpp",
                    "Adds each token's weighted expert outputs and the shared experts."},
    dsa::KernelInfo{"norm_rows", "kernels/library/moe/norm_rows.hpp",
                    "RMSNorm of combined latents before they go back to the model's width."},
};

}  // namespace daybreak::kernels::moe
