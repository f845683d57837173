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

}  // namespace daybreak::kernels
