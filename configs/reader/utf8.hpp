// UTF-8 as RFC 3629 defines it: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace daybreak::configs {

// Bytes of the character that `text` starts with; 0 when it is not valid.
inline size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? uint8_t(text[i]) : uint8_t(0); };
  const auto tail = [&](size_t i) { return (byte(i) & 0xc0) == 0x80; };
  const uint8_t a = byte(0), b = byte(1);
  if (text.empty()) return 0;
  if (a < 0x80) return 1;
  if (a >= 0xc2 && a < 0xe0) return tail(1) ? 2 : 0;
  if (a >= 0xe0 && a < 0xf0) {
    if (!tail(1) || !tail(2) || (a == 0xe0 && b < 0xa0) || (a == 0xed && b >= 0xa0)) return 0;
    return 3;
  }
  if (a >= 0xf0 && a < 0xf5) {
    if (!tail(1) || !tail(2) || !tail(3) || (a == 0xf0 && b < 0x90) || (a == 0xf4 && b >= 0x90))
      return 0;
    return 4;
  }
  return 0;
}

inline void append_utf8(std::string& out, uint32_t code) {
  const auto put = [&](uint32_t byte) { out += char(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | code >> 6), put(0x80 | (code & 63));
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12), put(0x80 | (code >> 6 & 63)), put(0x80 | (code & 63));
  } else {
    put(0xf0 | code >> 18), put(0x80 | (code >> 12 & 63));
    put(0x80 | (code >> 6 & 63)), put(0x80 | (code & 63));
  }
}

}  // namespace daybreak::configs
