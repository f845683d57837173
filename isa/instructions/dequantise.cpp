#include "isa/instructions/dequantise.hpp"

#include "isa/instructions/detail/rows.hpp"

namespace daybreak::isa {

Work Dequantise::work() const {
  Work w;
  detail::elements(w, VectorClass::dequantise) = to.elements();
  detail::add_operand_work(*this, w, false);
  return w;
}

void Dequantise::execute(Context& c) const {
  detail::expect_shape(from, to.rows, to.cols, "codes", kName);
  if (group <= 0 || to.cols % uint32_t(group))
    detail::fail(kName, "a group of " + std::to_string(group) + " must divide the " +
                            std::to_string(to.cols) + " columns");
  if (from.format != Format::e4m3)
    detail::fail(kName, "codes " + detail::describe(from) + " must be e4m3");
  detail::expect_shape(scales, to.rows, to.cols / uint32_t(group), "scales", kName);
  detail::RowReader reader(c, from, kName), factors(c, scales, kName);
  detail::RowWriter writer(c, to, kName);
  const int64_t width = group;
  for (int64_t r = 0; r < to.rows; ++r) {
    const float* x = reader.row(r);
    const float* s = factors.row(r);
    float* y = writer.row(r);
    for (int64_t g = 0; g < int64_t(scales.cols); ++g) {
      const float scale = s[g];
      const int64_t first = g * width;
#pragma GCC ivdep
      for (int64_t i = first; i < first + width; ++i) y[i] = x[i] * scale;
    }
    writer.store(r);
  }
}

}  // namespace daybreak::isa
