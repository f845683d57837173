#include "kernels/runtime/plan/expert_steps_impl.hpp"

namespace daybreak::kernels {

// Sums leave the router alone: few columns an item, so that its short weight matrix reaches many cores.
GemmChoice bf16_product(int64_t, moe::Leaves leaves, GemmSize size) {
  using moe::Leaves;
  using Few = GemmShape<32, 32, 1024>;
  using Many = GemmShape<128, 64, 512>;
  using Router = GemmShape<32, 16, 1024, 16>;
  switch (leaves) {
    case Leaves::sums: return choice<Router, moe::Plain, Leaves::sums>();
    case Leaves::gated_values:
      return size != GemmSize::many_rows ? choice<Few, moe::Plain, Leaves::gated_values>()
                                         : choice<Many, moe::Plain, Leaves::gated_values>();
    case Leaves::values:
      return size != GemmSize::many_rows ? choice<Few, moe::Plain, Leaves::values>()
                                         : choice<Many, moe::Plain, Leaves::values>();
    case Leaves::gated_codes: break;
  }
  throw InvariantError("BF16 products leave values");
}

GemmChoice expert_product(WeightFormat format, int64_t k, moe::Leaves leaves, GemmSize size) {
  switch (format) {
    case WeightFormat::mxfp4: return mxfp4_product(k, leaves, size);
    case WeightFormat::fp8: return fp8_product(k, leaves, size);
    case WeightFormat::bf16: break;
  }
  return bf16_product(k, leaves, size);
}

}  // namespace daybreak::kernels
