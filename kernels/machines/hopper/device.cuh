// What every device machine stands on: shared-memory addresses, mbarriers, fences, bulk copies, and
// the arithmetic the hardware has an instruction for.
#pragma once
#include <cstdint>

#include "kernels/tile/elements.hpp"

namespace daybreak::kernels::hopper {

inline constexpr int kWarp = 32, kWarpgroup = 128;

DAYBREAK_DEVICE uint32_t shared_address(const void* p) {
  return uint32_t(__cvta_generic_to_shared(p));
}
DAYBREAK_DEVICE int lane() { return threadIdx.x % kWarp; }
DAYBREAK_DEVICE int thread_of_group() { return threadIdx.x % kWarpgroup; }
// The first of the two rows of a 64-row accumulator that this thread holds; the other is 8 below.
DAYBREAK_DEVICE int first_row() { return thread_of_group() / kWarp * 16 + lane() / 4; }

// Tells the compiler that a value is the same in the whole warp. What operand addresses depend on
// must be: they live in uniform registers, and moving them there for every wgmma costs its time.
DAYBREAK_DEVICE int uniform(int x) { return __shfl_sync(~0u, x, 0); }

// An mbarrier in shared memory. Waits name the parity of the phase they wait for. Every thread that
// has to be waited for arrives itself: one lane behind its warp's barrier costs that barrier, which is
// dearer than 31 arrivals, and racecheck does not see the order it makes.
struct Barrier {
  uint64_t word;

  DAYBREAK_DEVICE void init(int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(this)),
                 "r"(arrivals));
  }
  DAYBREAK_DEVICE void wait(uint32_t parity) {
    asm volatile(
        "{.reg .pred p;\n"
        "again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
        "@p bra done;\n bra again;\n done:}" ::"r"(shared_address(this)),
        "r"(parity)
        : "memory");
  }
  DAYBREAK_DEVICE void arrive() {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(this)) : "memory");
  }
  // After this thread's cp.async so far have landed.
  DAYBREAK_DEVICE void arrive_when_copied() {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(this))
                 : "memory");
  }
  // The phase also waits for this many bytes of bulk copies. Before the phase's last arrival.
  DAYBREAK_DEVICE void expect(uint32_t bytes) {
    asm volatile(
        "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(shared_address(this)),
        "r"(bytes)
        : "memory");
  }
};

DAYBREAK_DEVICE void show_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
// Ordinary and cp.async writes before, reads of the matrix unit and of bulk copies after.
DAYBREAK_DEVICE void show_to_matrix_unit() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// ---- launches -----------------------------------------------------------------------------------

// A kernel may start while the one before it in its stream comes to its end; from here on that one is
// done. None says earlier that its next may start: blocks that wait would lie unevenly.
DAYBREAK_DEVICE void follow_previous() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

// ---- copies -------------------------------------------------------------------------------------

// 16 bytes, of which the first `bytes` are copied and the others become zeros.
DAYBREAK_DEVICE void copy_16(uint32_t to, const void* from, int bytes) {
  asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
               "r"(bytes)
               : "memory");
}
DAYBREAK_DEVICE void copy_16(uint32_t to, const void* from) {
  asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16;" ::"r"(to), "l"(from)
               : "memory");
}
DAYBREAK_DEVICE void copies_landed() { asm volatile("cp.async.wait_all;" ::: "memory"); }
// A run of memory, a multiple of 16 bytes at both ends.
DAYBREAK_DEVICE void copy_bulk(void* to, const void* from, uint32_t bytes, Barrier& barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(to)),
      "l"(from), "r"(bytes), "r"(shared_address(&barrier))
      : "memory");
}
// The box of a tensor map at (col, row, page).
DAYBREAK_DEVICE void copy_box(void* to, const void* map, int col, int row, int page,
                              Barrier& barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(shared_address(to)),
      "l"(map), "r"(col), "r"(row), "r"(page), "r"(shared_address(&barrier))
      : "memory");
}
// 16 bytes of read-only memory that will not be read again through the L1 cache; zeros unless
// `wanted`. Predicated: a branch would keep the next load from being issued.
DAYBREAK_DEVICE uint4 read_once(const void* p, bool wanted) {
  uint4 v;
  asm volatile(
      "{.reg .pred p; setp.ne.b32 p, %5, 0;\n"
      "mov.b32 %0, 0; mov.b32 %1, 0; mov.b32 %2, 0; mov.b32 %3, 0;\n"
      "@p ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];}"
      : "=&r"(v.x), "=&r"(v.y), "=&r"(v.z), "=&r"(v.w)
      : "l"(p), "r"(int(wanted)));
  return v;
}
DAYBREAK_DEVICE void prefetch_sector(const void* p, bool wanted) {  // 32 bytes into the L2 cache
  asm volatile("{.reg .pred p; setp.ne.b32 p, %1, 0; @p prefetch.global.L2 [%0];}" ::"l"(p),
               "r"(int(wanted)));
}

// ---- arithmetic ---------------------------------------------------------------------------------

DAYBREAK_DEVICE float exp2_fast(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
DAYBREAK_DEVICE uint32_t pack_bf16(float low, float high) {  // to nearest, ties to even
  uint32_t r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  return r;
}
DAYBREAK_DEVICE Bf16 to_bf16(float x) { return {uint16_t(pack_bf16(x, 0))}; }
DAYBREAK_DEVICE float to_float(Bf16 x) { return __uint_as_float(uint32_t(x.bits) << 16); }
DAYBREAK_DEVICE float to_float(float x) { return x; }
// Saturating at 448, ties to even; NaN gives 0x7F.
DAYBREAK_DEVICE E4m3 to_e4m3(float x) {
  uint16_t r;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(r) : "f"(0.f), "f"(x));
  return {uint8_t(r)};
}
// Two codes (low 16 bits) to two fp32, exactly.
DAYBREAK_DEVICE float2 from_e4m3(uint16_t codes) {
  uint32_t halves;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(codes));
  float2 v;
  asm("{.reg .b16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h;}"
      : "=f"(v.x), "=f"(v.y)
      : "r"(halves));
  return v;
}
DAYBREAK_DEVICE float to_float(E4m3 x) { return from_e4m3(x.bits).x; }

DAYBREAK_DEVICE float quad_max(float x) {
  x = fmaxf(x, __shfl_xor_sync(~0u, x, 1));
  return fmaxf(x, __shfl_xor_sync(~0u, x, 2));
}
DAYBREAK_DEVICE float quad_sum(float x) {
  x += __shfl_xor_sync(~0u, x, 1);
  return x + __shfl_xor_sync(~0u, x, 2);
}

}  // namespace daybreak::kernels::hopper
