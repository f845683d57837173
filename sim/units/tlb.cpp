#include "sim/units/tlb.hpp"

#include <algorithm>

namespace daybreak::sim {

Tlb::Tlb(const TlbConfig& c)
    : sets_(uint64_t(std::max<int64_t>(1, c.entries / c.ways))),
      ways_per_set_(uint64_t(std::min(c.entries, c.ways))),
      fill_entries_(c.fill_entries),
      ways_(sets_ * ways_per_set_) {}

bool Tlb::lookup(Address address) {
  const uint64_t entry = address.value / kEntryBytes;
  Way* set = set_of(entry);
  for (uint64_t w = 0; w < ways_per_set_; ++w) {
    if (set[w].entry != entry) continue;
    set[w].used = ++time_;
    return true;
  }
  return false;
}

Address Tlb::fill_begin(Address address) const {
  const uint64_t bytes = uint64_t(fill_bytes());
  return Address(address.value / bytes * bytes);
}

void Tlb::fill(Address address) {
  const uint64_t entry = address.value / kEntryBytes,
                 first = fill_begin(address).value / kEntryBytes;
  for (uint64_t e = first; e < first + uint64_t(fill_entries_); ++e)
    if (e != entry) insert(e);
  insert(entry);  // last: the entry asked for survives a fill larger than its set
}

void Tlb::insert(uint64_t entry) {
  Way* set = set_of(entry);
  Way* oldest = set;
  for (uint64_t w = 0; w < ways_per_set_; ++w) {
    if (set[w].entry == entry) {
      oldest = &set[w];
      break;
    }
    if (set[w].used < oldest->used) oldest = &set[w];
  }
  *oldest = {entry, ++time_};
}

}  // namespace daybreak::sim
