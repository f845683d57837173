// Who last touched which bytes: of one block of scratch, or of one binding of memory.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "isa/program/region.hpp"
#include "isa/program/types.hpp"

namespace daybreak::kernels {

// Positions count from 1 within a queue; 0 = none.
struct Touch {
  isa::Region bytes;
  uint32_t position = 0;
  isa::Queue queue{};
  bool write = false;
  bool indexed = false;  // rows that an index table chooses
};

class AccessLog {
 public:
  // conflict(const Touch& old) for every touch that `now` must follow.
  template <class F> void follow(const Touch& now, F&& conflict) const {
    for (const Touch& old : touches_) {
      if (!now.write && !old.write) continue;
      // Which rows two index tables choose is not known; the simulator checks those.
      if (now.indexed && old.indexed && now.write && old.write) continue;
      if (isa::overlap(now.bytes, old.bytes)) conflict(old);
    }
  }
  // Adds `now`, which follows all it conflicts with, and drops what it stands for: whoever must
  // follow the dropped touch conflicts with `now` too.
  void add(const Touch& now) {
    size_t kept = 0;
    bool joined = false;
    for (size_t i = 0; i < touches_.size(); ++i) {
      Touch& old = touches_[i];
      const bool same =
          old.queue == now.queue && old.write == now.write && old.indexed == now.indexed;
      const bool superseded = same || (now.write && !now.indexed);
      if (superseded && isa::covers(now.bytes, old.bytes)) continue;
      if (same && !joined) joined = join(old, now);
      if (kept != i) touches_[kept] = old;
      ++kept;
    }
    touches_.resize(kept);
    if (!joined) touches_.push_back(now);
  }
  // What a block that takes over [begin, end) inherits: one contiguous piece per touch.
  void inherit(const AccessLog& from, int64_t begin, int64_t end) {
    for (Touch t : from.touches_) {
      const int64_t low = std::max(begin, t.bytes.begin), high = std::min(end, t.bytes.end());
      if (low >= high) continue;
      t.bytes = {low, 1, high - low, high - low};
      merge(t);
    }
  }
  void clear() { touches_.clear(); }

 private:
  // A neighbour of the same queue: queues retire in order, so the later position stands for both.
  static bool join(Touch& old, const Touch& now) {
    isa::Region& a = old.bytes;
    const isa::Region& b = now.bytes;
    if (a.rows == b.rows && a.begin + a.row_bytes == b.begin &&
        (a.rows == 1 || a.pitch == b.pitch)) {
      a.row_bytes += b.row_bytes;
      if (a.rows == 1) a.pitch = a.row_bytes;
    } else if (a.row_bytes == b.row_bytes && a.begin + a.rows * a.pitch == b.begin &&
               (b.rows == 1 || a.pitch == b.pitch)) {
      a.rows += b.rows;
    } else {
      return false;
    }
    old.position = now.position;
    return true;
  }
  // An inherited touch; several of one queue over the same bytes become one.
  void merge(const Touch& t) {
    for (Touch& old : touches_)
      if (old.queue == t.queue && old.write == t.write && old.bytes.begin == t.bytes.begin &&
          old.bytes.end() == t.bytes.end()) {
        old.position = std::max(old.position, t.position);
        return;
      }
    touches_.push_back(t);
  }

  std::vector<Touch> touches_;
};

}  // namespace daybreak::kernels
