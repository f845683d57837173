// Random damage to a text: bytes changed, cut, doubled, swapped; words from a list put in.
#pragma once
#include <random>
#include <string>
#include <vector>

namespace daybreak {

inline std::string mutate(std::string text, std::mt19937_64& random,
                          const std::vector<std::string>& words) {
  const auto below = [&](size_t n) { return size_t(random() % (n ? n : 1)); };
  for (size_t edits = 1 + below(4); edits > 0; --edits) {
    const size_t at = below(text.size() + 1);
    switch (below(6)) {
      case 0:
        if (at < text.size()) text[at] = char(random());
        break;
      case 1: text.erase(at, 1 + below(12)); break;
      case 2: text.insert(at, words[below(words.size())]); break;
      case 3: text.insert(at, text.substr(below(text.size() + 1), below(40))); break;
      case 4: text.resize(at); break;
      default:
        if (at + 1 < text.size()) std::swap(text[at], text[at + 1]);
    }
  }
  return text;
}

}  // namespace daybreak
