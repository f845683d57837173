#include "configs/reader/words.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "configs/reader/utf8.hpp"

namespace daybreak::configs {

int edit_distance(std::string_view a, std::string_view b) {
  const size_t width = b.size() + 1;
  std::vector<int> before(width), last(width), row(width);
  for (size_t j = 0; j < width; ++j) last[j] = int(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = int(i);
    for (size_t j = 1; j < width; ++j) {
      const bool same = a[i - 1] == b[j - 1];
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  constexpr size_t kLongest = 200;  // nobody mistypes a longer key; keeps hostile keys cheap
  if (word.size() > kLongest) return "";
  std::string best;
  int least = std::max(2, int(word.size() / 3)) + 1;
  for (const auto& candidate : known) {
    const int distance = edit_distance(word, candidate);
    if (distance < least && distance < int(candidate.size())) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const std::string near = nearest(word, known);
  return near.empty() ? "" : "; did you mean '" + near + "'?";
}

std::string any_of(const std::vector<std::string>& words) {
  std::string out;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += i + 1 == words.size() ? " or " : ", ";
    out += words[i];
  }
  return out;
}

std::string in_quotes(std::string_view text) {
  constexpr size_t kMost = 40;
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "'";
  size_t i = 0;
  while (i < text.size() && i < kMost) {
    const unsigned char c = text[i];
    const size_t length = utf8_length(text.substr(i, 4));
    if (c < 0x20 || c == 0x7f || length == 0) {
      out += "\\x";
      out += kHex[c >> 4];
      out += kHex[c & 15];
      ++i;
    } else {
      out += text.substr(i, length);
      i += length;
    }
  }
  return out + (i < text.size() ? "...'" : "'");
}

std::string number_text(double value) {
  char buffer[32];
  const bool whole = value > -1e15 && value < 1e15 && value == double(int64_t(value));
  const auto end = whole ? std::to_chars(buffer, buffer + sizeof buffer, int64_t(value)).ptr
                         : std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return std::string(buffer, end);
}

}  // namespace daybreak::configs
