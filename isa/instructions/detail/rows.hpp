// Scratch tiles as rows of fp32: f32 rows are used in place, bf16 and e4m3 rows are decoded into and
// encoded from a buffer. Results never carry a NaN payload: which one survives an operation depends on
// the order a compiler gives its operands, so every NaN is written as 0x7FC00000.
#pragma once
#include <bit>
#include <string>
#include <vector>

#include "isa/instructions/common.hpp"
#include "isa/instructions/operands.hpp"

namespace daybreak::isa::detail {

// Throws InvariantError "<instruction>: <what>".
[[noreturn]] void fail(std::string_view instruction, const std::string& what);

// "operand[0x40:64x576:bf16/1152]#3".
std::string describe(const TileRef& t);

// Base of a tile after a bounds check of all its rows.
std::byte* base_of(Context& c, const TileRef& t, std::string_view instruction);

// Throws unless the tile is rows x cols.
void expect_shape(const TileRef& t, int64_t rows, int64_t cols, std::string_view name,
                  std::string_view instruction);

inline void canonicalise(float* x, int64_t n) {
  constexpr float kNan = std::bit_cast<float>(0x7FC00000u);
  for (int64_t i = 0; i < n; ++i) x[i] = x[i] != x[i] ? kNan : x[i];
}

class RowReader {
 public:
  RowReader(Context& c, const TileRef& t, std::string_view instruction);
  // Row r as fp32, valid until the next call.
  const float* row(int64_t r) {
    const std::byte* at = base_ + r * pitch_;
    return direct_ ? reinterpret_cast<const float*>(at) : decoded(at);
  }

 private:
  const float* decoded(const std::byte* at);

  const std::byte* base_;
  int64_t pitch_;
  int64_t cols_;
  Format format_;
  bool direct_;
  std::vector<float> buffer_;
};

class RowWriter {
 public:
  RowWriter(Context& c, const TileRef& t, std::string_view instruction);
  // Where to put row r as fp32; store(r) must follow before the next call.
  float* row(int64_t r) {
    return direct_ ? reinterpret_cast<float*>(base_ + r * pitch_) : buffer_.data();
  }
  void store(int64_t r) {
    if (direct_)
      canonicalise(reinterpret_cast<float*>(base_ + r * pitch_), cols_);
    else
      encode(base_ + r * pitch_);
  }

 private:
  void encode(std::byte* at);

  std::byte* base_;
  int64_t pitch_;
  int64_t cols_;
  Format format_;
  bool direct_;
  std::vector<float> buffer_;
};

// All elements of a tile, row after row, as one fp32 vector: column vectors of row values.
class VectorReader {
 public:
  VectorReader(Context& c, const TileRef& t, std::string_view instruction);
  float operator[](int64_t i) const { return data_[i]; }
  const float* data() const { return data_; }

 private:
  const float* data_;
  std::vector<float> buffer_;
};

// Writes `values`, row after row, into all elements of a tile.
void write_vector(Context& c, const TileRef& t, std::vector<float>& values,
                  std::string_view instruction);

// A packed column of values as one row.
inline TileRef as_row(TileRef t) {
  t.cols = t.rows;
  t.rows = 1;
  return t;
}
inline bool is_packed_column(const TileRef& t) {
  return t.cols == 1 && t.rows > 1 && t.format == Format::f32 && t.pitch == 4;
}

// y[r][c] = f(x...[r][c]) over tiles of one shape.
template <class F, class... From>
void elementwise(Context& c, std::string_view instruction, const TileRef& to, F f,
                 const From&... from) {
  (expect_shape(from, to.rows, to.cols, "operand", instruction), ...);
  if ((is_packed_column(to) && ... && is_packed_column(from)))
    return elementwise(c, instruction, as_row(to), f, as_row(from)...);
  RowWriter writer(c, to, instruction);
  std::tuple readers{RowReader(c, from, instruction)...};
  const int64_t cols = to.cols;
  for (int64_t r = 0; r < to.rows; ++r) {
    float* y = writer.row(r);
    std::apply(
        [&](auto&... reader) {
          // In place is allowed: each element depends on its own position only.
          [cols, y, f](auto... x) {
#pragma GCC ivdep
            for (int64_t i = 0; i < cols; ++i) y[i] = f(x[i]...);
          }(reader.row(r)...);
        },
        readers);
    writer.store(r);
  }
}

// ---- work ------------------------------------------------------------------------------------

inline int64_t& elements(Work& w, VectorClass c) { return w.elements[int(c)]; }

// What every vector instruction pays beside its arithmetic: operands that are not fp32 are converted
// (class cast), operands in the accumulator cross its path.
template <class I> void add_operand_work(const I& instruction, Work& w, bool casts = true) {
  for_each_operand(instruction, [&](const auto& operand, Access access, bool) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(operand)>, TileRef>) {
      const int64_t times = int64_t(reads(access)) + int64_t(writes(access));
      if (casts && operand.format != Format::f32)
        elements(w, VectorClass::cast) += times * operand.elements();
      if (operand.space == Space::accumulator) w.accumulator_bytes += times * operand.bytes();
    }
  });
}

}  // namespace daybreak::isa::detail
