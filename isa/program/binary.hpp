// Binary form of a program: 8 magic bytes, version, payload size, CRC-32 of all that and the payload;
// little-endian throughout. Every changed byte, missing byte or extra byte is refused.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "isa/program/program.hpp"

namespace daybreak::isa {

inline constexpr uint32_t kBinaryVersion = 1;

// Whether a file starts as the binary form does; anything else may be text.
bool is_binary(std::span<const std::byte> bytes);
std::vector<std::byte> encode(const TaskProgram& program);
// Throws UserError naming the file, the byte offset and what was expected there.
TaskProgram decode(std::span<const std::byte> bytes, const std::string& filename);

// CRC-32 (IEEE 802.3, reflected), continuing from `crc`.
uint32_t crc32(std::span<const std::byte> bytes, uint32_t crc = 0);

}  // namespace daybreak::isa
