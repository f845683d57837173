// How a paged cache keeps the bytes of one token, and the device memory it lives in, as the host
// runtime sees them: the same code serves the simulator's memory image and a GPU's memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "isa/memory/image.hpp"

namespace daybreak::kernels::kv {

// Bytes of device memory from a base on.
class DeviceBytes {
 public:
  virtual ~DeviceBytes() = default;
  virtual void read(uint64_t at, std::span<std::byte> to) const = 0;
  virtual void write(uint64_t at, std::span<const std::byte> from) = 0;
};

class ImageBytes : public DeviceBytes {
 public:
  ImageBytes(isa::MemoryImage& image, Address base) : image_(image), base_(base) {}
  void read(uint64_t at, std::span<std::byte> to) const override {
    image_.read(Address(base_.value + at), to);
  }
  void write(uint64_t at, std::span<const std::byte> from) override {
    image_.write(Address(base_.value + at), from);
  }

 private:
  isa::MemoryImage& image_;
  Address base_;
};

// Token t of a page has its bytes at offset + t * stride, `bytes` of them.
struct Field {
  int64_t offset = 0, stride = 0, bytes = 0;
};

struct CacheLayout {
  std::string name;
  int64_t page_tokens = 64;
  int64_t page_bytes = 0;
  std::vector<Field> fields;

  // Bytes of one token in all fields: what a snapshot keeps, whatever the page size.
  int64_t token_bytes() const;
};

// 656-byte latent records (operators.md section 4), pages of any number of tokens.
CacheLayout latent_records(int64_t page_tokens);
// Index keys: 128 codes a token, then one fp32 scale a token at the page's tail (section 3; 8448
// bytes at 64 tokens).
CacheLayout index_keys(int64_t page_tokens = 64);

}  // namespace daybreak::kernels::kv
