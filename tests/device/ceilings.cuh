// What this card gives in this run: copy, and wgmma on random operands in shared memory.
#pragma once
#include "tests/device/rig.cuh"

namespace daybreak::device {

struct Ceilings {
  double copy = 0;  // bytes read + written a second
  double bf16 = 0;  // FLOP/s, 64 x 256 x 16
  double e4m3 = 0;  // 64 x 128 x 32
  double of(Ceiling c) const {
    return c == Ceiling::copy ? copy : c == Ceiling::bf16 ? bf16 : e4m3;
  }
};
Ceilings measure_ceilings();

// The same figures of the runs that the peers' table comes from (h200_peers.md section 1).
inline constexpr Ceilings kPeerCeilings{.copy = 4.30e12, .bf16 = 853e12, .e4m3 = 1880e12};

}  // namespace daybreak::device
