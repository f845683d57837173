#include "tests/device/ceilings.cuh"

#include "kernels/machines/hopper/shared_tile.cuh"
#include "kernels/machines/hopper/wgmma.cuh"
#include "tests/device/fill.cuh"

namespace daybreak::device {
namespace {

using namespace kernels::hopper;

constexpr int kRounds = 4000, kGroups = 2;

struct Operands {
  SharedTile<kernels::Bf16, 64, 64> a[kGroups];
  SharedTile<kernels::Bf16, 64, 256> b;
};

template <bool kBf16>
__global__ void __launch_bounds__(kWarpgroup* kGroups, 1)
    multiply(const uint4* values, float* results) {
  extern __shared__ uint8_t raw[];
  auto* aligned = raw + (-shared_address(raw) & 1023);
  auto& operands = *reinterpret_cast<Operands*>(aligned);
  for (int i = threadIdx.x; i < int(sizeof(Operands) / 16); i += blockDim.x)
    reinterpret_cast<uint4*>(aligned)[i] = values[i];
  show_to_matrix_unit();
  __syncthreads();
  float d[kBf16 ? 128 : 64] = {};
  const uint64_t a = operand(&operands.a[uniform(threadIdx.x / kWarpgroup)]);
  const uint64_t b = kBf16 ? operand(&operands.b, operands.b.kPanelBytes) : operand(&operands.b);
  for (int round = 0; round < kRounds; ++round) {
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if constexpr (kBf16)
        wgmma_bf16_ab(d, a + k * 2, b + k * 128, 1);
      else
        wgmma_e4m3_abt(d, a + k * 2, b + k * 2, 1);
    wgmma_commit();
    wgmma_settle();
  }
  float sum = 0;
  for (const float x : d) sum += x;
  results[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

template <bool kBf16> double rate(int multiprocessors) {
  Memory memory;
  const uint16_t values = memory.room(sizeof(Operands)),
                 results = memory.room(int64_t(multiprocessors) * 4 * kWarpgroup * kGroups);
  if (kBf16)
    fill_bf16(memory.base(values), sizeof(Operands) / 2, 3, 1);
  else
    fill_codes(memory.base(values), sizeof(Operands), 3, 1);
  constexpr int kBytes = sizeof(Operands) + 1024;
  check(cudaFuncSetAttribute(multiply<kBf16>, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes),
        "ceiling");
  const Timing t = time_cold(
      [&](cudaStream_t s) {
        multiply<kBf16><<<multiprocessors, kWarpgroup * kGroups, kBytes, s>>>(
            reinterpret_cast<const uint4*>(memory.base(values)),
            reinterpret_cast<float*>(memory.base(results)));
        check(cudaGetLastError(), "ceiling");
      },
      5);
  const double flops = 2.0 * 64 * (kBf16 ? 256 * 16 : 128 * 32) * 4 * kRounds * kGroups;
  return flops * multiprocessors / t.us * 1e6;
}

}  // namespace

Ceilings measure_ceilings() {
  constexpr int64_t kBytes = int64_t{4} << 30;
  Memory memory;
  const uint16_t from = memory.room(kBytes), to = memory.room(kBytes);
  fill_f32(memory.base(from), kBytes / 4, 1, 1);
  const Timing copy = time_cold(
      [&](cudaStream_t s) {
        check(cudaMemcpyAsync(memory.base(to), memory.base(from), kBytes, cudaMemcpyDeviceToDevice,
                              s),
              "copy");
      },
      5);
  const int multiprocessors = memory.place().multiprocessors;
  return {.copy = 2.0 * kBytes / copy.us * 1e6,
          .bf16 = rate<true>(multiprocessors),
          .e4m3 = rate<false>(multiprocessors)};
}

}  // namespace daybreak::device
