#include "tests/device/fill.cuh"

#include "kernels/machines/hopper/device.cuh"
#include "tests/device/rig.cuh"

namespace daybreak::device {
namespace {

using namespace kernels::hopper;

__device__ uint64_t mixed(uint64_t seed, uint64_t i) {
  uint64_t z = (seed * 0x9E3779B97F4A7C15 + i + 1) * 0xD1B54A32D192ED03;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}
__device__ float normal(uint64_t seed, uint64_t i) {
  const uint64_t bits = mixed(seed, i);
  const float u = (float(uint32_t(bits) >> 8) + 0.5f) * 0x1p-24f;
  return sqrtf(-2 * logf(u)) * cospif(2 * float(uint32_t(bits >> 40)) * 0x1p-24f);
}

// f(i) for i < count, one thread each, strided.
template <class F> __global__ void each_of(int64_t count, F f) {
  for (int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x; i < count;
       i += int64_t(gridDim.x) * blockDim.x)
    f(i);
}
template <class F> void for_each(int64_t count, F f) {
  each_of<<<1056, 256>>>(count, f);
  check(cudaGetLastError(), "fill");
}

__device__ float scale(uint64_t seed, uint64_t i, bool any) {
  const uint64_t bits = mixed(seed + 77, i);
  return any ? 0.004f + float(bits % 1000) * 4e-6f : exp2f(-float(8 + bits % 2));
}

}  // namespace

void fill_bf16(uint8_t* to, int64_t count, uint64_t seed, float deviation) {
  for_each(count, [=] __device__(int64_t i) {
    reinterpret_cast<kernels::Bf16*>(to)[i] = to_bf16(normal(seed, i) * deviation);
  });
}
void fill_f32(uint8_t* to, int64_t count, uint64_t seed, float deviation) {
  for_each(count, [=] __device__(int64_t i) {
    reinterpret_cast<float*>(to)[i] = normal(seed, i) * deviation;
  });
}
void fill_codes(uint8_t* to, int64_t count, uint64_t seed, float deviation) {
  for_each(count, [=] __device__(int64_t i) { to[i] = to_e4m3(normal(seed, i) * deviation).bits; });
}
void fill_records(uint8_t* to, int64_t records, uint64_t seed, bool any_scale) {
  for_each(records * 580, [=] __device__(int64_t i) {
    const int64_t record = i / 580;
    const int at = i % 580;
    uint8_t* bytes = to + record * 656;
    if (at < 512)
      bytes[at] = to_e4m3(normal(seed, i) * 100).bits;
    else if (at < 516)
      reinterpret_cast<float*>(bytes + 512)[at - 512] = scale(seed, i, any_scale);
    else
      reinterpret_cast<kernels::Bf16*>(bytes + 528)[at - 516] = to_bf16(normal(seed, i) * 0.5f);
  });
}
void fill_index_pages(uint8_t* to, int64_t pages, uint64_t seed) {
  for_each(pages * 64 * 129, [=] __device__(int64_t i) {
    const int64_t token = i / 129;
    const int at = i % 129;
    uint8_t* page = to + token / 64 * 8448;
    if (at < 128)
      page[token % 64 * 128 + at] = to_e4m3(normal(seed, i) * 100).bits;
    else
      reinterpret_cast<float*>(page + 8192)[token % 64] = scale(seed, i, token % 2);
  });
}
void collect_rows(uint8_t* to, const uint8_t* from, const int32_t* rows, int count, int row_bytes) {
  for_each(int64_t(count) * row_bytes, [=] __device__(int64_t i) {
    const int row = rows[i / row_bytes];
    if (row >= 0) to[i] = from[int64_t(row) * row_bytes + i % row_bytes];
  });
}

}  // namespace daybreak::device
