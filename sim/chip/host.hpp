// What bringing weights from a file to the chip costs on the host, by the knobs chip.host.
#pragma once
#include <cstdint>

#include "sim/chip/config.hpp"

namespace daybreak::sim {

// Seconds until `bytes` of a file are in the chip's memory: pieces of `piece` bytes are read into host memory
// one after the other, and each goes over the link once it is there, while the next ones are read.
double load_seconds(const HostConfig&, int64_t bytes, int64_t piece);
// Memory in use then, chip and host together: the weights, and one piece that is read while another is sent.
int64_t load_peak_bytes(int64_t bytes, int64_t piece);
// Seconds of converting a file beforehand: what is read and what is written pass storage and host memory, of
// which the slower counts. The arithmetic hides behind it.
double convert_seconds(const HostConfig&, int64_t from_bytes, int64_t to_bytes);

}  // namespace daybreak::sim
