// Binary form: the input is taken as it is, and once more as a payload behind a right header, so that the
// checksum does not hide the decoder.
#include <cstring>
#include <vector>

#include "configs/reader/errors.hpp"
#include "isa/program/binary.hpp"
#include "isa/program/verify.hpp"

namespace {

using namespace daybreak;

void decode_and_compare(std::span<const std::byte> bytes) {
  try {
    const isa::TaskProgram program = isa::decode(bytes, "input");
    const std::vector<std::byte> again = isa::encode(program);
    if (again.size() != bytes.size() || std::memcmp(again.data(), bytes.data(), bytes.size()) != 0)
      __builtin_trap();
    isa::verify(program, {.max_semaphores = 256});
  } catch (const UserError&) {}
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  decode_and_compare(input);
  std::vector<std::byte> whole = isa::encode({});
  whole.resize(24);
  whole.insert(whole.end(), input.begin(), input.end());
  for (int b = 0; b < 8; ++b) whole[12 + b] = std::byte(uint64_t(size) >> (8 * b));
  const uint32_t crc = isa::crc32(input, isa::crc32(std::span(whole).first(20)));
  for (int b = 0; b < 4; ++b) whole[20 + b] = std::byte(crc >> (8 * b));
  decode_and_compare(whole);
  return 0;
}
