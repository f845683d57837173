#include "isa/instructions/prefix.hpp"

#include <limits>

#include "isa/instructions/detail/words.hpp"

namespace daybreak::isa {

// Log-step scan over the row, and the addition.
Work Prefix::work() const {
  int64_t steps = 1;
  for (int64_t n = 1; n < int64_t(to.cols); n *= 2) ++steps;
  Work w;
  detail::elements(w, VectorClass::simple) = steps * to.elements();
  return w;
}

void Prefix::execute(Context& c) const {
  for (const TileRef* t : {&lengths, &offsets}) detail::expect_shape(*t, 1, to.cols, "row", kName);
  if (align < 1) detail::fail(kName, "segments cannot be multiples of " + std::to_string(align));
  const detail::Words out(c, to, kName), length(c, lengths, kName), offset(c, offsets, kName);
  int64_t sum = 0;
  for (int64_t i = 0; i < to.cols; ++i) {
    const int64_t n = length.row(0)[i], start = sum + offset.row(0)[i];
    if (n < 0 || start > std::numeric_limits<int32_t>::max())
      detail::fail(kName, "length " + std::to_string(n) + " of segment " + std::to_string(i) +
                              " from " + std::to_string(start) + " on leaves int32");
    out.row(0)[i] = int32_t(start);
    sum += (n + align - 1) / align * align;
  }
}

}  // namespace daybreak::isa
