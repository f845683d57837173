#include "isa/instructions/work_list.hpp"

#include <algorithm>
#include <array>

#include "isa/instructions/detail/words.hpp"

namespace daybreak::isa {

// A scan over the segments, and the list written.
Work WorkList::work() const {
  Work w;
  detail::elements(w, VectorClass::simple) = lengths.elements() + list.elements();
  return w;
}

void WorkList::execute(Context& c) const {
  detail::expect_shape(list, list.rows, 4, "list", kName);
  detail::expect_shape(grid, 1, 2, "grid", kName);
  if (align < 1 || piece < 1 || parts < 0 || most < 0 || first < 0)
    detail::fail(kName, "pieces of " + std::to_string(piece) + " rows in " + std::to_string(parts) +
                            " parts for " + std::to_string(most) + " tasks");
  const detail::Words out(c, list, kName), sizes(c, grid, kName), length(c, lengths, kName);
  for (int64_t r = 0; r < list.rows; ++r) std::fill_n(out.row(r), 4, -1);
  int64_t start = 0, number = 0;
  for (int64_t s = 0; s < lengths.elements(); ++s) {
    const int64_t rows = length.row(0)[s];
    for (int64_t p = 0; p * piece < rows; ++p, ++number) {
      const int64_t r = number - first;
      if (r < 0 || r >= int64_t(list.rows)) continue;
      const std::array words{int32_t(s), int32_t(start), int32_t(rows), int32_t(p)};
      std::copy(words.begin(), words.end(), out.row(r));
    }
    start += (rows + align - 1) / align * align;
  }
  sizes.row(0)[0] = int32_t(number);
  sizes.row(0)[1] = int32_t(std::min<int64_t>(most, number * parts));
}

}  // namespace daybreak::isa
