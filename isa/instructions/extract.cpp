#include "isa/instructions/extract.hpp"

#include <algorithm>
#include <cstring>

#include "isa/instructions/detail/records.hpp"
#include "isa/instructions/detail/rows.hpp"

namespace daybreak::isa {

// Reducing records to positions, then sorting these: groups of 32, merged four runs at a time.
Work Extract::work() const {
  const int64_t n = from.elements();
  const auto merge = detail::merge_passes(n, n);
  return {.sort32_records = n,
          .merge_records = merge.records,
          .extract_records = n,
          .sort_passes = 2 + merge.passes};
}

void Extract::execute(Context& c) const {
  if (positions.format != Format::i32)
    detail::fail(kName, detail::describe(positions) + " must hold i32");
  auto list = detail::read_records(c, from, kName);
  std::erase_if(list, [](const detail::Record& r) { return !detail::selectable(r); });
  if (int64_t(list.size()) > positions.elements())
    detail::fail(
        kName, std::to_string(list.size()) + " records do not fit " + detail::describe(positions));
  std::vector<int32_t> out;
  for (const detail::Record& r : list) out.push_back(r.position);
  std::sort(out.begin(), out.end());
  const int32_t found = int32_t(out.size());
  out.resize(size_t(positions.elements()), -1);
  std::byte* base = detail::base_of(c, positions, kName);
  for (int64_t r = 0; r < positions.rows && positions.cols; ++r)
    std::memcpy(base + r * int64_t(positions.pitch), out.data() + r * positions.cols,
                size_t(positions.row_bytes()));
  if (count.empty()) return;
  detail::expect_shape(count, 1, 1, "count", kName);
  if (count.format != Format::i32) detail::fail(kName, detail::describe(count) + " must hold i32");
  std::memcpy(detail::base_of(c, count, kName), &found, 4);
}

}  // namespace daybreak::isa
