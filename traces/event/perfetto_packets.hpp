// The packets of a Perfetto trace file: encoding alone, no knowledge of chips. Names are interned,
// so each is written once. Packets go to the file in blocks; memory stays bounded.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "traces/event/atomic_file.hpp"

namespace daybreak::traces {

// An argument of a slice: a number, or text where `text` is not empty.
struct SliceArg {
  std::string_view name;
  int64_t number = 0;
  std::string_view text = {};
};

class PacketFile {
 public:
  explicit PacketFile(std::string path);

  // A track of its own; `rank` orders siblings. The uuid of the new track is returned.
  uint64_t process(std::string_view name, int32_t pid);
  uint64_t track(std::string_view name, uint64_t parent, int32_t rank);
  uint64_t counter(std::string_view name, std::string_view unit, uint64_t parent, int32_t rank);

  struct Slice {
    uint64_t track = 0;
    int64_t begin = 0, end = 0;
    std::string_view name, category;
    std::span<const SliceArg> args = {};
    std::span<const uint64_t> flows_out = {}, flows_in = {};  // flow ids
  };
  // Slices of one track must be written in the order of their times and must not overlap.
  void slice(const Slice&);
  void count(uint64_t track, int64_t time, double value);
  void commit();
  int64_t size() const { return file_.size() + int64_t(block_.size()); }  // bytes so far

 private:
  struct Names {
    std::unordered_map<std::string, uint64_t> ids;             // looked up only, never iterated
    std::vector<std::pair<uint64_t, std::string_view>> fresh;  // not yet in the file
  };
  uint64_t intern(Names&, std::string_view);
  uint64_t add_track(std::string body);
  void packet(std::string_view body, bool first = false);

  AtomicFile file_;
  std::string block_, interned_, event_, body_, arg_;  // reused buffers
  Names events_, categories_, args_;
  uint64_t tracks_ = 0;
};

}  // namespace daybreak::traces
