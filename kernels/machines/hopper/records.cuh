// 656-byte latent records on their way from memory to a BF16 tile, through the registers of the DMA
// role: 512 E4M3 codes, four fp32 scales, 64 BF16 values (spec/operators.md section 4). Eight threads
// take a record and 128 take 16 at a time; while those are converted the next are under way, and a
// step's records are brought into the L2 cache a step earlier.
#pragma once
#include "kernels/machines/hopper/shared_tile.cuh"

namespace daybreak::kernels::hopper {

class RecordStream {
 public:
  static constexpr int kRows = 64, kBytes = 656;
  static constexpr int kPassRows = kWarpgroup / 8, kPasses = kRows / kPassRows;

  // The step after the one to be converted next: packed records from `base` on, of which `entries`
  // names 64, `index` those of this thread: numbers below `count`, or -1. Whether all are one of these.
  // The entries are read again where they are used, which costs less than the registers to keep them.
  DAYBREAK_DEVICE bool name(const uint8_t* base, int count, const int32_t* entries,
                            const int (&index)[kPasses]) {
    advance();
    base_ = base, count_ = count, upcoming_ = entries;
    bool good = true;
#pragma unroll
    for (int i = 0; i < kPasses; ++i) {
      const bool named = uint32_t(index[i]) < uint32_t(count);
      good &= named || index[i] == -1;
#pragma unroll
      for (int at = chunk() * 32; at < kBytes; at += 8 * 32)
        prefetch_sector(base + int64_t(index[i]) * kBytes + at, named);
    }
    more_ = true;
    return good;
  }
  // Nothing follows what was named last.
  DAYBREAK_DEVICE void advance() {
    current_ = upcoming_;
    more_ = false;
  }

  // The latent columns; `wait` before the first is written.
  template <int C, class Wait>
  DAYBREAK_DEVICE void convert(SharedTile<Bf16, kRows, C>& to, Wait wait) {
    if (!ahead_) fetch(current_, 0);
    wait();
    const uint32_t at = shared_address(to.bytes) + chunk() / 4 * to.kPanelBytes + row() * 128;
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
      const Piece now = piece_;
      if (pass + 1 < kPasses)
        fetch(current_, pass + 1);
      else
#pragma unroll
        for (int i = 0; i < kPasses; ++i)
          tail_[i] = part(record(current_, i), kTail + chunk() * 16);
      convert_piece(now, at + pass * kPassRows * 128, to.kPanelBytes * 2);
    }
    if (more_) fetch(upcoming_, 0);  // lands while the next step's records are named
    ahead_ = more_;
  }
  // The rotated columns, which convert() has fetched, to a panel that begins at `byte`.
  template <int C> DAYBREAK_DEVICE void copy_tail(SharedTile<Bf16, kRows, C>& to, int byte) {
    const uint32_t at = shared_address(to.bytes) + byte / 128 * to.kPanelBytes + row() * 128 +
                        ((chunk() ^ (row() % 8)) * 16);
#pragma unroll
    for (int i = 0; i < kPasses; ++i) write_16(at + i * kPassRows * 128, tail_[i]);
  }

 private:
  static constexpr int kScales = 512, kTail = 528;
  struct Piece {
    uint4 codes[4], scales;
  };

  static DAYBREAK_DEVICE int row() { return thread_of_group() / 8; }
  static DAYBREAK_DEVICE int chunk() { return thread_of_group() % 8; }
  DAYBREAK_DEVICE int record(const int32_t* entries, int pass) const {
    return __ldg(entries + row() + pass * kPassRows);
  }
  DAYBREAK_DEVICE uint4 part(int record, int byte) const {
    return read_once(base_ + int64_t(record) * kBytes + byte, uint32_t(record) < uint32_t(count_));
  }
  static DAYBREAK_DEVICE void write_16(uint32_t at, uint4 v) {
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(v.x), "r"(v.y), "r"(v.z),
                 "r"(v.w)
                 : "memory");
  }
  // Chunk c and every eighth after it: one of each scale's group.
  DAYBREAK_DEVICE void fetch(const int32_t* entries, int pass) {
    const int from = record(entries, pass);
#pragma unroll
    for (int i = 0; i < 4; ++i) piece_.codes[i] = part(from, (chunk() + i * 8) * 16);
    piece_.scales = part(from, kScales);
  }
  static DAYBREAK_DEVICE uint32_t convert_pair(uint32_t codes, float scale) {
    const float2 v = from_e4m3(uint16_t(codes));
    return pack_bf16(v.x * scale, v.y * scale);
  }
  static DAYBREAK_DEVICE uint4 convert_eight(uint32_t low, uint32_t high, float scale) {
    return {convert_pair(low, scale), convert_pair(low >> 16, scale), convert_pair(high, scale),
            convert_pair(high >> 16, scale)};
  }
  // 16 codes become two chunks of a panel. Threads of the two panels of a row write them in opposite
  // order: their banks differ.
  DAYBREAK_DEVICE void convert_piece(const Piece& p, uint32_t at, int next_group) {
    const bool swapped = chunk() >= 4;
    const uint32_t first = ((chunk() % 4 * 2 + swapped) ^ (row() % 8)) * 16, second = first ^ 16;
    const float scales[4] = {__uint_as_float(p.scales.x), __uint_as_float(p.scales.y),
                             __uint_as_float(p.scales.z), __uint_as_float(p.scales.w)};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const uint4 c = p.codes[i];
      const uint32_t x = swapped ? c.z : c.x, y = swapped ? c.w : c.y, z = swapped ? c.x : c.z,
                     u = swapped ? c.y : c.w;
      write_16(at + i * next_group + first, convert_eight(x, y, scales[i]));
      write_16(at + i * next_group + second, convert_eight(z, u, scales[i]));
    }
  }

  const uint8_t* base_;  // the first name() sets these; values of their own would cost registers
  int count_;
  const int32_t *current_, *upcoming_;
  Piece piece_;
  uint4 tail_[kPasses];
  bool more_ = false, ahead_ = false;
};

}  // namespace daybreak::kernels::hopper
