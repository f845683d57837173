// Element types of tiles, and the two qualifiers that let one source be host and device code.
#pragma once
#include <cstdint>

#ifdef __CUDACC__
#define DAYBREAK_DEVICE __device__ __forceinline__
#define DAYBREAK_BOTH __host__ __device__ __forceinline__
#else
#define DAYBREAK_DEVICE inline
#define DAYBREAK_BOTH inline
#endif

namespace daybreak::kernels {

struct Bf16 {
  uint16_t bits;
};
struct F16 {
  uint16_t bits;
};  // timing only
struct E4m3 {
  uint8_t bits;
};
struct Ranked {
  float score;
  int32_t position;
};  // a record of the sort unit

// Of two integers, and one held inside [low, high]: by value, since device code has no address of a
// constant.
DAYBREAK_BOTH constexpr int least(int a, int b) { return a < b ? a : b; }
DAYBREAK_BOTH constexpr int most(int a, int b) { return a > b ? a : b; }
DAYBREAK_BOTH constexpr int within(int x, int low, int high) { return most(low, least(x, high)); }
// a / b, where b is one more often than not: a division is some forty instructions of a GPU.
DAYBREAK_BOTH constexpr int quotient(int a, int b) { return b == 1 ? a : a / b; }

}  // namespace daybreak::kernels
