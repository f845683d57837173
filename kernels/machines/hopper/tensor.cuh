// Global memory as device machines see it: what a TensorDesc says of one tensor, with the address
// its binding has on the device. Offsets are 64 bits.
#pragma once
#include <cstdint>

#include "kernels/tile/elements.hpp"

namespace daybreak::kernels::hopper {

struct Tensor {
  uint8_t* data = nullptr;
  int64_t pitch = 0;       // bytes from row to row (of a page)
  int64_t page_pitch = 0;  // bytes from page to page
  int64_t rows = 0;        // all of them
  int32_t page_rows = 0;   // 0: rows stand at one pitch throughout
  int32_t cols = 0;
  const void* map = nullptr;  // tensor map of boxes of 64 rows x 128 bytes, 128-byte swizzle

  DAYBREAK_DEVICE uint8_t* row(int64_t r) const {
    if (page_rows == 0) return data + r * pitch;
    return data + r / page_rows * page_pitch + r % page_rows * pitch;
  }
  // A row of a tensor that is known to stand at one pitch: no branch, no division.
  DAYBREAK_DEVICE uint8_t* line(int64_t r) const { return data + r * pitch; }
  template <class T> DAYBREAK_DEVICE T* at(int64_t r, int64_t col) const {
    return reinterpret_cast<T*>(row(r)) + col;
  }
};

// What can go wrong where a kernel cannot stop: bits of the fault word.
enum Fault : uint32_t {
  kStaleTable = 1,    // a gather through an index table of another generation of the page table
  kOutsideRow = 2,    // an index that names no row of its tensor
  kUnmappedPage = 4,  // a position without a page
  kScratchFull = 8,   // locals of a body beyond the scratch its tuning gives it
};

// What a launch needs beside its Args.
struct Context {
  uint32_t* faults = nullptr;         // one word
  const int32_t* indirect = nullptr;  // how many tasks there are, where only memory knows
};

DAYBREAK_DEVICE void raise(const Context& c, Fault fault) { atomicOr(c.faults, uint32_t(fault)); }

}  // namespace daybreak::kernels::hopper
