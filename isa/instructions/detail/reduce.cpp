#include "isa/instructions/detail/reduce.hpp"

namespace daybreak::isa::detail {

std::vector<float> row_sums(Context& c, const TileRef& t, std::string_view instruction) {
  constexpr int kRows = 8;
  std::vector<float> sums(t.rows, 0.0f);
  std::vector<RowReader> readers(kRows, RowReader(c, t, instruction));  // each has its own buffer
  const int64_t cols = t.cols;
  int64_t r = 0;
  for (; r + kRows <= t.rows; r += kRows) {
    const float* x[kRows];
    float s[kRows] = {};
    for (int j = 0; j < kRows; ++j) x[j] = readers[j].row(r + j);
    for (int64_t i = 0; i < cols; ++i)
      for (int j = 0; j < kRows; ++j) s[j] += x[j][i];
    for (int j = 0; j < kRows; ++j) sums[r + j] = s[j];
  }
  for (; r < t.rows; ++r) {
    const float* x = readers[0].row(r);
    float s = 0;
    for (int64_t i = 0; i < cols; ++i) s += x[i];
    sums[r] = s;
  }
  return sums;
}

}  // namespace daybreak::isa::detail
