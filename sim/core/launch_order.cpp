#include "sim/core/launch_order.hpp"

#include <fmt/format.h>

#include <map>

#include "configs/reader/errors.hpp"

namespace daybreak::sim {

LaunchOrder::LaunchOrder(std::span<const isa::Launch> launches)
    : needs_(launches.size()), before_(launches.size()) {
  const size_t count = launches.size(), words = (count + 63) / 64;
  std::map<uint32_t, uint32_t> last_of_stream;
  std::vector<std::vector<uint32_t>> users(count);
  std::vector<uint32_t> missing(count);
  for (uint32_t l = 0; l < count; ++l) {
    for (uint32_t a : launches[l].after) {
      if (a >= count)
        throw InvariantError(
            fmt::format("launch {} waits for launch {}, but there are {}", l, a, count));
      needs_[l].push_back(a);
    }
    const auto previous = last_of_stream.find(launches[l].stream);
    if (previous != last_of_stream.end()) needs_[l].push_back(previous->second);
    last_of_stream[launches[l].stream] = l;
    for (uint32_t a : needs_[l]) users[a].push_back(l);
    missing[l] = uint32_t(needs_[l].size());
    before_[l].resize(words);
  }
  std::vector<uint32_t> ready;
  for (uint32_t l = 0; l < count; ++l)
    if (missing[l] == 0) ready.push_back(l);
  for (size_t next = 0; next < ready.size(); ++next) {
    const uint32_t l = ready[next];
    for (uint32_t u : users[l]) {
      for (size_t w = 0; w < words; ++w) before_[u][w] |= before_[l][w];
      before_[u][l / 64] |= uint64_t(1) << (l % 64);
      if (--missing[u] == 0) ready.push_back(u);
    }
  }
  for (uint32_t l = 0; l < count; ++l)
    if (missing[l] > 0)
      throw InvariantError(
          fmt::format("launch {} ({}) waits, through dependencies and streams, for "
                      "itself",
                      l, launches[l].kernel));
}

bool LaunchOrder::all_before_rest(const std::vector<uint64_t>& ended,
                                  const std::vector<uint64_t>& finished) const {
  for (uint32_t l = 0; l < before_.size(); ++l) {
    if (finished[l / 64] >> (l % 64) & 1) continue;
    for (size_t w = 0; w < ended.size(); ++w)
      if (ended[w] & ~before_[l][w]) return false;
  }
  return true;
}

}  // namespace daybreak::sim
