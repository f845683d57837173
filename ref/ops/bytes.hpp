// Bytes of a cache as an oracle reads them: one piece of memory, or a function that copies a range
// out of a sparse image. Offsets are 64 bits from the start of the tensor.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace daybreak::ref {

class ByteSource {
 public:
  // Copies bytes [offset, offset + to.size()) to `to`. Called from one thread at a time.
  using Reader = std::function<void(uint64_t offset, std::span<uint8_t> to)>;

  explicit ByteSource(std::span<const uint8_t> bytes) : bytes_(bytes), size_(bytes.size()) {}
  ByteSource(uint64_t size, Reader read) : size_(size), read_(std::move(read)) {}

  uint64_t size() const { return size_; }
  // `count` bytes from `offset`; `room` holds them if they had to be copied, and must outlive their
  // use. Throws InvariantError past the end.
  const uint8_t* at(uint64_t offset, uint64_t count, std::vector<uint8_t>& room) const;

 private:
  std::span<const uint8_t> bytes_;
  uint64_t size_;
  Reader read_;
};

}  // namespace daybreak::ref
