// Block level of a core's page-table cache: set-associative, least recently used. One read of the
// page table fills `fill_entries` neighbouring entries.
#pragma once
#include <cstdint>
#include <vector>

#include "isa/program/types.hpp"
#include "sim/chip/config.hpp"

namespace daybreak::sim {

class Tlb {
 public:
  explicit Tlb(const TlbConfig&);

  // Whether the block entry at this address (4 bytes) is held; makes it the most recent of its set.
  bool lookup(Address entry);
  // The bytes one page-table read brings for this entry.
  int64_t fill_bytes() const { return fill_entries_ * kEntryBytes; }
  Address fill_begin(Address entry) const;
  void fill(Address entry);

 private:
  static constexpr int64_t kEntryBytes = 4;
  struct Way {
    uint64_t entry = ~uint64_t(0);
    uint64_t used = 0;
  };
  Way* set_of(uint64_t entry) { return &ways_[entry % sets_ * ways_per_set_]; }
  void insert(uint64_t entry);

  uint64_t sets_, ways_per_set_;
  int64_t fill_entries_;
  std::vector<Way> ways_;
  uint64_t time_ = 0;
};

}  // namespace daybreak::sim
