#include <algorithm>

#include "configs/reader/errors.hpp"
#include "kernels/machines/legalise/products.hpp"
#include "kernels/machines/legalise/rules.hpp"

namespace daybreak::kernels {

namespace {

// A latch of 0 bytes is one that nobody limits.
int64_t room(Bytes latch) { return latch.value > 0 ? latch.value : INT64_MAX; }

bool fits(const isa::Mma& p, const isa::Capabilities& chip) {
  return p.a.bytes() <= room(chip.latch_a) && p.b.bytes() <= room(chip.latch_b);
}

// Pieces of at most `most` of `total`, as even as multiples of `unit` allow: their common length.
uint32_t even_piece(uint32_t total, uint32_t most, uint32_t unit) {
  const uint32_t units = (total + unit - 1) / unit, most_units = std::max(1u, most / unit);
  const uint32_t pieces = (units + most_units - 1) / most_units;
  return (units + pieces - 1) / pieces * unit;
}

class Splitter {
 public:
  Splitter(const isa::Capabilities& chip, std::vector<Recorded>& out) : chip_(chip), out_(out) {}

  void split(const isa::Mma& p, const Recorded& like) {
    const uint32_t k = p.a.cols, unit = chunk_of(p);
    const int64_t a_term = p.a.bytes() / std::max(1u, k), b_term = p.b.bytes() / std::max(1u, k);
    const int64_t terms = std::min(room(chip_.latch_a) / std::max<int64_t>(1, a_term),
                                   room(chip_.latch_b) / std::max<int64_t>(1, b_term));
    const uint32_t piece = even_piece(k, uint32_t(std::clamp<int64_t>(terms, 0, k)), unit);
    for (uint32_t from = 0; from < k; from += piece) {
      isa::Mma part = slice_reduction(p, from, std::min(piece, k - from));
      if (from > 0) part.accumulate = 1;
      split_columns(part, like);
    }
  }

 private:
  // One piece of the reduction; its result is cut where a latch does not even hold that.
  void split_columns(const isa::Mma& p, const Recorded& like) {
    const uint32_t n = p.acc.cols;
    const uint32_t piece = piece_of(n, p.b.bytes(), room(chip_.latch_b), "right");
    for (uint32_t from = 0; from < n; from += piece)
      split_rows(slice_columns(p, from, std::min(piece, n - from)), like);
  }
  void split_rows(const isa::Mma& p, const Recorded& like) {
    const uint32_t m = p.acc.rows;
    const uint32_t piece = piece_of(m, p.a.bytes(), room(chip_.latch_a), "left");
    for (uint32_t from = 0; from < m; from += piece) {
      Recorded part = like;
      part.instruction = slice_rows(p, from, std::min(piece, m - from));
      out_.push_back(part);
    }
  }
  static uint32_t piece_of(uint32_t total, int64_t bytes, int64_t latch, const char* side) {
    if (bytes <= latch) return total;
    const int64_t each = bytes / total;
    if (latch < each)
      throw UserError(std::string("the ") + side + " operand latch holds " + std::to_string(latch) +
                      " bytes; one piece of a product needs " + std::to_string(each));
    return even_piece(total, uint32_t(latch / each), 1);
  }

  const isa::Capabilities& chip_;
  std::vector<Recorded>& out_;
};

}  // namespace

void split_products(Recording& r, const isa::Capabilities& chip) {
  const bool all_fit = std::all_of(r.code.begin(), r.code.end(), [&](const Recorded& c) {
    const auto* product = std::get_if<isa::Mma>(&c.instruction);
    return !product || fits(*product, chip);
  });
  if (all_fit) return;
  std::vector<Recorded> out = r.rewritten();
  Splitter splitter(chip, out);
  for (Recorded& c : r.code) {
    const auto* product = std::get_if<isa::Mma>(&c.instruction);
    if (product && !fits(*product, chip))
      splitter.split(*product, c);
    else
      out.push_back(std::move(c));
  }
  r.replace(std::move(out));
}

}  // namespace daybreak::kernels
