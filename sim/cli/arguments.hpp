// Positional `key=value` words of `daybreak run KERNEL ...` and of a study's `args`. Reading a key marks
// it as known; what nothing has read is refused with the nearest known key.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "configs/reader/errors.hpp"

namespace daybreak::cli {

// What a getter was asked for: the words that its key takes.
struct WordForm {
  std::string key;
  enum class Kind : uint8_t { integer, integers, word, text } kind = Kind::text;
  int64_t low = 0, high = 0;         // integers
  std::vector<std::string> allowed;  // word
};

class Arguments {
 public:
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  // `where` starts messages: the kernel's name, or a study's position.
  Arguments(std::string where, Pairs pairs) : where_(std::move(where)), pairs_(std::move(pairs)) {}
  static Arguments from_words(const std::string& where, const std::vector<std::string>& words);

  int64_t integer(const std::string& key, int64_t fallback, int64_t low, int64_t high);
  // Numbers with commas between them.
  std::vector<int64_t> integers(const std::string& key, const std::string& fallback, int64_t low,
                                int64_t high);
  std::string word(const std::string& key, const std::string& fallback,
                   const std::vector<std::string>& allowed);
  std::string text(const std::string& key, const std::string& fallback);
  bool has(const std::string& key) const;
  // UserError for the first key that no getter asked for.
  void finish() const;
  // Every key asked for so far, of this one and its copies.
  const std::vector<WordForm>& asked() const { return *asked_; }
  const Pairs& pairs() const { return pairs_; }
  const std::string& where() const { return where_; }

 private:
  const std::string* find(const WordForm& form);
  int64_t number(const std::string& key, std::string_view text, int64_t low, int64_t high) const;
  [[noreturn]] void fail(const std::string& key, const std::string& sentence) const;
  std::string where_;
  Pairs pairs_;
  std::shared_ptr<std::vector<WordForm>> asked_ = std::make_shared<std::vector<WordForm>>();
};

}  // namespace daybreak::cli
