#include "isa/instructions/detail/rows.hpp"

#include <fmt/format.h>

#include <cstring>

#include "configs/reader/errors.hpp"
#include "ref/numeric/convert.hpp"

namespace daybreak::isa::detail {

namespace {

bool aligned(const std::byte* p, uintptr_t to) { return reinterpret_cast<uintptr_t>(p) % to == 0; }

bool in_place(const TileRef& t, const std::byte* base) {
  return t.format == Format::f32 && aligned(base, 4) && (t.rows <= 1 || t.pitch % 4 == 0);
}

void expect_arithmetic(const TileRef& t, std::string_view instruction) {
  if (t.format != Format::f32 && t.format != Format::bf16 && t.format != Format::e4m3)
    fail(instruction, describe(t) + " cannot be used in arithmetic; f32, bf16 and e4m3 can");
}

}  // namespace

void fail(std::string_view instruction, const std::string& what) {
  throw InvariantError(std::string(instruction) + ": " + what);
}

std::string describe(const TileRef& t) {
  return fmt::format("{}[{:#x}:{}x{}:{}/{}]#{}", isa::name_of(t.space), t.offset, t.rows, t.cols,
                     daybreak::name_of(t.format), t.pitch, t.id);
}

std::byte* base_of(Context& c, const TileRef& t, std::string_view instruction) {
  const auto space = c.scratch.bytes(t.space);
  if (!t.empty()) {
    const uint64_t end =
        uint64_t(t.offset) + uint64_t(t.rows - 1) * t.pitch + uint64_t(t.row_bytes());
    if (end > space.size())
      fail(instruction, describe(t) + " ends at byte " + std::to_string(end) +
                            ", past the scratchpad's " + std::to_string(space.size()));
  }
  return space.data() + t.offset;
}

void expect_shape(const TileRef& t, int64_t rows, int64_t cols, std::string_view name,
                  std::string_view instruction) {
  if (t.rows != rows || t.cols != cols)
    fail(instruction, std::string(name) + " " + describe(t) + " must be " + std::to_string(rows) +
                          "x" + std::to_string(cols));
}

RowReader::RowReader(Context& c, const TileRef& t, std::string_view instruction)
    : base_(base_of(c, t, instruction)),
      pitch_(t.pitch),
      cols_(t.cols),
      format_(t.format),
      direct_(in_place(t, base_)) {
  expect_arithmetic(t, instruction);
  if (!direct_) buffer_.resize(t.cols);
}

const float* RowReader::decoded(const std::byte* at) {
  float* to = buffer_.data();
  if (cols_ == 0) return to;
  switch (format_) {
    case Format::e4m3:
      numeric::decode_e4m3(std::span(reinterpret_cast<const uint8_t*>(at), size_t(cols_)), to);
      break;
    case Format::bf16:
      if (aligned(at, 2)) {
        numeric::decode_bf16(std::span(reinterpret_cast<const uint16_t*>(at), size_t(cols_)), to);
      } else {
        for (int64_t i = 0; i < cols_; ++i) {
          uint16_t bits;
          std::memcpy(&bits, at + 2 * i, 2);
          to[i] = numeric::decode_bf16(bits);
        }
      }
      break;
    default: std::memcpy(to, at, size_t(cols_) * 4);
  }
  return to;
}

RowWriter::RowWriter(Context& c, const TileRef& t, std::string_view instruction)
    : base_(base_of(c, t, instruction)),
      pitch_(t.pitch),
      cols_(t.cols),
      format_(t.format),
      direct_(in_place(t, base_)) {
  expect_arithmetic(t, instruction);
  if (!direct_) buffer_.resize(t.cols);
}

void RowWriter::encode(std::byte* at) {
  if (cols_ == 0) return;
  canonicalise(buffer_.data(), cols_);
  switch (format_) {
    case Format::e4m3:
      numeric::encode_e4m3(std::span<const float>(buffer_), reinterpret_cast<uint8_t*>(at));
      break;
    case Format::bf16:
      if (aligned(at, 2)) {
        numeric::encode_bf16(std::span<const float>(buffer_), reinterpret_cast<uint16_t*>(at));
      } else {
        for (int64_t i = 0; i < cols_; ++i) {
          const uint16_t bits = numeric::encode_bf16(buffer_[i]);
          std::memcpy(at + 2 * i, &bits, 2);
        }
      }
      break;
    default: std::memcpy(at, buffer_.data(), size_t(cols_) * 4);
  }
}

VectorReader::VectorReader(Context& c, const TileRef& t, std::string_view instruction) {
  const bool packed = t.rows <= 1 || t.pitch == t.row_bytes();
  RowReader rows(c, t, instruction);
  if (packed && t.format == Format::f32 && !t.empty()) {
    const float* first = rows.row(0);
    if (reinterpret_cast<const std::byte*>(first) == base_of(c, t, instruction)) {
      data_ = first;
      return;
    }
  }
  buffer_.resize(size_t(t.elements()));
  for (int64_t r = 0; r < t.rows && t.cols; ++r)
    std::memcpy(buffer_.data() + r * t.cols, rows.row(r), size_t(t.cols) * 4);
  data_ = buffer_.data();
}

void write_vector(Context& c, const TileRef& t, std::vector<float>& values,
                  std::string_view instruction) {
  RowWriter rows(c, t, instruction);
  for (int64_t r = 0; r < t.rows && t.cols; ++r) {
    std::memcpy(rows.row(r), values.data() + r * t.cols, size_t(t.cols) * 4);
    rows.store(r);
  }
}

}  // namespace daybreak::isa::detail
