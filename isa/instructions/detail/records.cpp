#include "isa/instructions/detail/records.hpp"

#include <algorithm>
#include <cstring>

#include "isa/instructions/detail/rows.hpp"

namespace daybreak::isa::detail {

std::vector<Record> read_records(Context& c, const TileRef& t, std::string_view instruction) {
  if (t.format != Format::record) fail(instruction, describe(t) + " must hold records");
  const std::byte* base = base_of(c, t, instruction);
  std::vector<Record> list(size_t(t.elements()));
  for (int64_t r = 0; r < t.rows && t.cols; ++r)
    std::memcpy(list.data() + r * t.cols, base + r * int64_t(t.pitch), size_t(t.row_bytes()));
  return list;
}

void write_records(Context& c, const TileRef& t, std::span<const Record> list,
                   std::string_view instruction) {
  if (t.format != Format::record) fail(instruction, describe(t) + " must hold records");
  std::byte* base = base_of(c, t, instruction);
  std::vector<Record> all(size_t(t.elements()));
  std::copy_n(list.begin(), std::min(list.size(), all.size()), all.begin());
  for (int64_t r = 0; r < t.rows && t.cols; ++r)
    std::memcpy(base + r * int64_t(t.pitch), all.data() + r * t.cols, size_t(t.row_bytes()));
}

MergePasses merge_passes(int64_t records, int64_t keep) {
  MergePasses m;
  int64_t lists = (records + 31) / 32, left = records;
  while (lists > 1) {
    lists = (lists + 3) / 4;
    left = std::min(left, lists * keep);
    ++m.passes;
    m.records += left;
  }
  return m;
}

}  // namespace daybreak::isa::detail
