// Which bytes of a tile hold values: all, none, or a map by byte while a tile is written in parts.
#pragma once
#include <cstdint>
#include <vector>

namespace daybreak::kernels {

class Coverage {
 public:
  Coverage(uint32_t rows = 0, uint32_t row_bytes = 0) : rows_(rows), row_bytes_(row_bytes) {}

  void clear() { full_ = false, count_ = 0, map_.clear(); }
  // The rectangle of `rows` rows x `bytes` bytes at (row, byte), inside the tile.
  void fill(uint32_t row, uint32_t byte, uint32_t rows, uint32_t bytes) {
    if (full_) return;
    if (rows == rows_ && bytes == row_bytes_) {
      full_ = true, map_.clear();
      return;
    }
    if (map_.empty()) map_.assign(size_t(rows_) * row_bytes_, 0), count_ = 0;
    for (uint32_t r = row; r < row + rows; ++r)
      for (uint32_t b = byte; b < byte + bytes; ++b) {
        uint8_t& at = map_[size_t(r) * row_bytes_ + b];
        count_ += !at, at = 1;
      }
    if (count_ == map_.size()) full_ = true, map_.clear();
  }
  bool holds(uint32_t row, uint32_t byte, uint32_t rows, uint32_t bytes) const {
    if (full_) return true;
    if (map_.empty()) return false;
    for (uint32_t r = row; r < row + rows; ++r)
      for (uint32_t b = byte; b < byte + bytes; ++b)
        if (!map_[size_t(r) * row_bytes_ + b]) return false;
    return true;
  }

 private:
  uint32_t rows_ = 0, row_bytes_ = 0;
  bool full_ = false;
  size_t count_ = 0;
  std::vector<uint8_t> map_;
};

}  // namespace daybreak::kernels
