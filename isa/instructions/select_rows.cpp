#include "isa/instructions/select_rows.hpp"

#include <algorithm>
#include <cstring>

#include "isa/instructions/detail/records.hpp"
#include "isa/instructions/detail/rows.hpp"

namespace daybreak::isa {

// Rows pass the unit one behind the other: groups of 32 sorted, four runs merged at a time, the chosen
// ones sorted by column. Passes overlap between rows, so that each pays its head once.
Work SelectRows::work() const {
  const auto merge = detail::merge_passes(count, k), order = detail::merge_passes(k, k);
  const int64_t rows = scores.rows;
  return {.sort32_records = rows * (count + k),
          .merge_records = rows * (merge.records + order.records),
          .extract_records = rows * k,
          .sort_passes = 3 + merge.passes + order.passes};
}

void SelectRows::execute(Context& c) const {
  if (columns.format != Format::i32)
    detail::fail(kName, detail::describe(columns) + " must hold i32");
  detail::expect_shape(picked, columns.rows, columns.cols, "values picked", kName);
  detail::expect_shape(values, scores.rows, scores.cols, "values", kName);
  if (scores.rows != columns.rows || count < 0 || count > int64_t(scores.cols) || k < 0 ||
      k > int64_t(columns.cols))
    detail::fail(kName, std::to_string(k) + " of " + std::to_string(count) + " columns of " +
                            detail::describe(scores) + " do not fit " + detail::describe(columns));
  detail::RowReader score_rows(c, scores, kName), value_rows(c, values, kName);
  detail::RowWriter picked_rows(c, picked, kName);
  std::byte* base = detail::base_of(c, columns, kName);
  std::vector<uint64_t> keys;
  std::vector<int32_t> chosen(columns.cols);
  for (int64_t r = 0; r < columns.rows; ++r) {
    const float* x = score_rows.row(r);
    const float* v = value_rows.row(r);
    keys.clear();
    for (int32_t i = 0; i < count; ++i)
      if (detail::selectable(x[i]))
        keys.push_back(uint64_t{detail::descending_key(x[i])} << 32 | uint32_t(i));
    const size_t n = std::min(keys.size(), size_t(k));
    std::partial_sort(keys.begin(), keys.begin() + long(n), keys.end());
    std::fill(chosen.begin(), chosen.end(), -1);
    for (size_t i = 0; i < n; ++i) chosen[i] = int32_t(uint32_t(keys[i]));
    std::sort(chosen.begin(), chosen.begin() + long(n));
    float* y = picked_rows.row(r);
    for (uint32_t i = 0; i < picked.cols; ++i) y[i] = chosen[i] < 0 ? missing : v[chosen[i]];
    picked_rows.store(r);
    std::memcpy(base + r * int64_t(columns.pitch), chosen.data(), size_t(columns.row_bytes()));
  }
}

}  // namespace daybreak::isa
