#include "sim/chip/host.hpp"

#include <algorithm>

namespace daybreak::sim {

double load_seconds(const HostConfig& host, int64_t bytes, int64_t piece) {
  double read = 0, sent = 0;  // until now, in units of 1e-9 s
  for (int64_t left = bytes; left > 0; left -= piece) {
    const double size = double(std::min(left, piece));
    read += size / host.storage;
    sent = std::max(sent, read) + size / host.link;
  }
  return bytes > 0 ? sent * 1e-9 + host.link_latency_us * 1e-6 : 0;
}

int64_t load_peak_bytes(int64_t bytes, int64_t piece) { return bytes + std::min(bytes, 2 * piece); }

double convert_seconds(const HostConfig& host, int64_t from_bytes, int64_t to_bytes) {
  return double(from_bytes + to_bytes) / std::min(host.storage, host.memory) * 1e-9;
}

}  // namespace daybreak::sim
