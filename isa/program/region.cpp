#include "isa/program/region.hpp"

#include <algorithm>

namespace daybreak::isa {

namespace {

Region folded(Region r) {
  if (r.rows > 1 && r.pitch == r.row_bytes)
    r = {r.begin, 1, r.rows * r.row_bytes, r.rows * r.row_bytes};
  return r;
}

// Whether [low, high) meets a row of `r` (rows do not wrap).
bool meets(const Region& r, int64_t low, int64_t high) {
  if (high <= r.begin || low >= r.end()) return false;
  const int64_t first = std::max<int64_t>(0, (low - r.begin) / r.pitch);
  for (int64_t i = first; i < std::min(r.rows, first + 2); ++i) {
    const int64_t at = r.begin + i * r.pitch;
    if (low < at + r.row_bytes && at < high) return true;
  }
  return false;
}

}  // namespace

bool overlap(const Region& left, const Region& right) {
  if (left.empty() || right.empty()) return false;
  Region a = folded(left), b = folded(right);
  if (a.end() <= b.begin || b.end() <= a.begin) return false;
  if (a.rows == 1 && b.rows == 1) return true;
  if (a.rows == 1) std::swap(a, b);
  const bool plain = a.pitch >= a.row_bytes && a.pitch > 0;
  if (!plain) return true;
  if (b.rows == 1) return meets(a, b.begin, b.end());
  if (a.pitch != b.pitch || b.pitch < b.row_bytes) return true;
  // Equal pitches: rows of b lie `shift` whole rows and `inside` bytes after rows of a.
  if (b.begin < a.begin) std::swap(a, b);
  const int64_t shift = (b.begin - a.begin) / a.pitch, inside = (b.begin - a.begin) % a.pitch;
  const bool same_row = shift < a.rows && inside < a.row_bytes;
  const bool next_row = shift + 1 < a.rows && inside + b.row_bytes > a.pitch;
  return same_row || next_row;
}

bool covers(const Region& outer, const Region& inner) {
  if (inner.empty()) return true;
  const Region o = folded(outer), i = folded(inner);
  if (i.begin < o.begin || i.end() > o.end()) return false;
  if (o.rows == 1) return true;
  if (o.pitch <= 0 || o.pitch < o.row_bytes) return false;
  const int64_t inside = (i.begin - o.begin) % o.pitch;
  if (i.rows > 1 && i.pitch != o.pitch) return false;
  return inside + i.row_bytes <= o.row_bytes;
}

Region region_of(const TileRef& t) {
  return {.begin = t.offset,
          .rows = t.empty() ? 0 : t.rows,
          .pitch = t.pitch,
          .row_bytes = t.row_bytes()};
}

Region region_of(const TensorDesc& t, int64_t row, int64_t col, int64_t rows, int64_t cols) {
  const int64_t first = std::max<int64_t>(row, 0), last = std::min(row + rows, t.rows());
  const int64_t left = std::max<int64_t>(col, 0), right = std::min(col + cols, t.cols());
  if (first >= last || left >= right) return {};
  const int64_t bytes = bytes_of(t.format, right - left);
  // Dims that follow each other without a gap count as one, so that a whole page is one long row.
  int64_t pitch = 0, length = bytes;
  bool single = true;
  if (t.rank > 1 && last - first > 1) {
    const int64_t inner = t.dims[t.rank - 2];
    pitch = t.strides[t.rank - 2];
    const bool inside = t.rank == 2 || first / inner == (last - 1) / inner;
    if (!inside) {
      const bool pages = t.rank == 3 && pitch == bytes && first % inner == 0 && last % inner == 0;
      if (pages) {
        const int64_t begin = t.offset_of(first, left);
        return {begin, (last - first) / inner, t.strides[0], bytes * inner};
      }
      bool even = true;
      for (int d = 0; d + 2 < t.rank; ++d) even &= t.strides[d] == t.strides[d + 1] * t.dims[d + 1];
      single = even;
    }
  }
  const int64_t begin = t.offset_of(first, left);
  if (single && pitch >= 0) return {begin, last - first, last - first > 1 ? pitch : length, length};
  // Envelope: each dim at the end that reaches furthest, in either direction.
  int64_t low = t.offset_of(0, left), high = low;
  for (int d = 0; d + 1 < t.rank; ++d) {
    const int64_t reach = (t.dims[d] - 1) * t.strides[d];
    (reach < 0 ? low : high) += reach;
  }
  return {low, 1, high - low + length, high - low + length};
}

bool overlap(const TileRef& a, const TileRef& b) {
  return a.space == b.space && overlap(region_of(a), region_of(b));
}

}  // namespace daybreak::isa
