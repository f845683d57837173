// The simulated memory's contents: sparse pages over a 64-bit space. A page's first touch calls its
// region's generator; host, simulator and reference share one image, so a 1.4 TB model fits a small
// machine. Not thread-safe.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>

#include "isa/memory/tensor.hpp"

namespace daybreak::isa {

// Fills `to` with the region's bytes [offset, offset + to.size()). Must be a pure function.
using Generator = std::function<void(uint64_t offset, std::span<std::byte> to)>;

class MemoryImage {
 public:
  static constexpr uint64_t kPage = 64 * 1024;

  MemoryImage();
  ~MemoryImage();
  MemoryImage(const MemoryImage&) = delete;

  // Reserves `bytes` at the next free address (aligned to `align`, default one page) and returns its
  // base. Without a generator the region reads as zeros until written.
  Address reserve(const std::string& name, Bytes bytes, Generator generator = nullptr,
                  uint64_t align = kPage);
  // The same at a chosen base (tests with page ids beyond 32 bits). Throws InvariantError on overlap.
  void reserve_at(Address base, const std::string& name, Bytes bytes,
                  Generator generator = nullptr);

  // Throw InvariantError outside every region, naming the nearest one.
  void read(Address from, std::span<std::byte> to) const;
  void write(Address to, std::span<const std::byte> from);
  template <class T> T get(Address at) const {
    T v;
    read(at, std::as_writable_bytes(std::span(&v, 1)));
    return v;
  }
  template <class T> void put(Address at, const T& v) {
    write(at, std::as_bytes(std::span(&v, 1)));
  }

  // Frees pages that still equal what their generator gives; they come back on the next touch.
  void drop_clean_pages();
  Bytes resident() const;
  // The region that holds `at`: "name+offset", for messages.
  std::string name_of(Address at) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The scratchpads of one core: plain bytes, one block per Space.
class Scratch {
 public:
  explicit Scratch(std::array<Bytes, kSpaces> sizes);
  std::span<std::byte> bytes(Space s) { return {spaces_[int(s)].get(), sizes_[int(s)]}; }
  std::span<const std::byte> bytes(Space s) const {
    return {spaces_[int(s)].get(), sizes_[int(s)]};
  }

 private:
  // Zeroed by calloc: what a core never touches takes no memory.
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::array<std::unique_ptr<std::byte[], Free>, kSpaces> spaces_;
  std::array<size_t, kSpaces> sizes_{};
};

}  // namespace daybreak::isa
