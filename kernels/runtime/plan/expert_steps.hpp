// The expert products by shape and weight format: compiled once per format, chosen here.
#pragma once
#include "kernels/library/moe/expert_gemm.hpp"
#include "kernels/runtime/plan/expert_workload.hpp"
#include "kernels/runtime/plan/step.hpp"

namespace daybreak::kernels {

// Arguments of a Record kernel do not depend on its template arguments: one set serves all of them.
using GemmArgs =
    ExpertGemmOf<Record, GemmShape<16, 16, 128>, moe::Mxfp4, moe::Leaves::values>::Args;

struct GemmChoice {
  int rows = 0;     // of an item
  int columns = 0;  // of an item
  void (*bind)(Step&, const GemmArgs&) = nullptr;
};

// few_rows: experts get at most about 32 rows each, so weights bound the product: slots of whole weight
// rows, which lie one behind the other in memory; many_rows: items of 128 rows, slots of 1024 columns;
// small: items and slots that leave room for copies in other formats (chips that must make them).
enum class GemmSize : uint8_t { few_rows, many_rows, small };
GemmChoice mxfp4_product(int64_t k, moe::Leaves, GemmSize);
GemmChoice fp8_product(int64_t k, moe::Leaves, GemmSize);
GemmChoice bf16_product(int64_t k, moe::Leaves, GemmSize);
GemmChoice expert_product(WeightFormat, int64_t k, moe::Leaves, GemmSize);

}  // namespace daybreak::kernels
