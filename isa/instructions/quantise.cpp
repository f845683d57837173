#include "isa/instructions/quantise.hpp"

#include "isa/instructions/detail/rows.hpp"
#include "ref/numeric/convert.hpp"

namespace daybreak::isa {

// Largest magnitude (reduce), the scaled value (simple), its code (cast), one scale per group (special).
Work Quantise::work() const {
  Work w;
  const int64_t n = from.elements();
  detail::elements(w, VectorClass::reduce) = n;
  detail::elements(w, VectorClass::simple) = n;
  detail::elements(w, VectorClass::cast) = n;
  detail::elements(w, VectorClass::special) = scales.elements();
  detail::add_operand_work(*this, w, false);
  return w;
}

void Quantise::execute(Context& c) const {
  detail::expect_shape(from, to.rows, to.cols, "operand", kName);
  if (group <= 0 || to.cols % uint32_t(group))
    detail::fail(kName, "a group of " + std::to_string(group) + " must divide the " +
                            std::to_string(to.cols) + " columns");
  detail::expect_shape(scales, to.rows, to.cols / uint32_t(group), "scales", kName);
  if (to.format != Format::e4m3)
    detail::fail(kName, "codes " + detail::describe(to) + " must be e4m3");
  const auto rule = power_of_two ? numeric::ScaleRule::ue8m0_ceil : numeric::ScaleRule::plain;
  detail::RowReader reader(c, from, kName);
  detail::RowWriter scale_rows(c, scales, kName);
  std::byte* codes = detail::base_of(c, to, kName);
  for (int64_t r = 0; r < to.rows; ++r) {
    const float* x = reader.row(r);
    float* s = scale_rows.row(r);
    auto* y = reinterpret_cast<uint8_t*>(codes + r * int64_t(to.pitch));
    for (int64_t g = 0; g < int64_t(scales.cols); ++g)
      s[g] = numeric::quantise_group(std::span(x + g * group, size_t(group)), rule, y + g * group);
    scale_rows.store(r);
  }
}

}  // namespace daybreak::isa
