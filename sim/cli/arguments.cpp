#include "sim/cli/arguments.hpp"

#include <algorithm>
#include <charconv>

#include "configs/reader/words.hpp"

namespace daybreak::cli {

Arguments Arguments::from_words(const std::string& where, const std::vector<std::string>& words) {
  Pairs pairs;
  for (const auto& word : words) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0)
      throw UserError(where + ": " + configs::in_quotes(word) + " is not of the form key=value");
    std::string key = word.substr(0, equals);
    for (const auto& [other, value] : pairs)
      if (other == key) throw UserError(where + ": " + configs::in_quotes(key) + " is given twice");
    pairs.emplace_back(std::move(key), word.substr(equals + 1));
  }
  return {where, std::move(pairs)};
}

const std::string* Arguments::find(const WordForm& form) {
  if (std::ranges::find(*asked_, form.key, &WordForm::key) == asked_->end())
    asked_->push_back(form);
  for (const auto& [name, value] : pairs_)
    if (name == form.key) return &value;
  return nullptr;
}

bool Arguments::has(const std::string& key) const {
  return std::any_of(pairs_.begin(), pairs_.end(), [&](const auto& p) { return p.first == key; });
}

void Arguments::fail(const std::string& key, const std::string& sentence) const {
  throw UserError(where_ + ": " + key + ": " + sentence);
}

int64_t Arguments::integer(const std::string& key, int64_t fallback, int64_t low, int64_t high) {
  const std::string* text =
      find({.key = key, .kind = WordForm::Kind::integer, .low = low, .high = high, .allowed = {}});
  return text ? number(key, *text, low, high) : fallback;
}

std::vector<int64_t> Arguments::integers(const std::string& key, const std::string& fallback,
                                         int64_t low, int64_t high) {
  const std::string* given =
      find({.key = key, .kind = WordForm::Kind::integers, .low = low, .high = high, .allowed = {}});
  const std::string& all = given ? *given : fallback;
  std::vector<int64_t> values;
  for (size_t from = 0; from <= all.size();) {
    const size_t comma = std::min(all.find(',', from), all.size());
    values.push_back(number(key, std::string_view(all).substr(from, comma - from), low, high));
    from = comma + 1;
  }
  return values;
}

int64_t Arguments::number(const std::string& key, std::string_view text, int64_t low,
                          int64_t high) const {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < low || value > high)
    fail(key, configs::in_quotes(std::string(text)) + " is not a whole number from " +
                  std::to_string(low) + " to " + std::to_string(high));
  return value;
}

std::string Arguments::word(const std::string& key, const std::string& fallback,
                            const std::vector<std::string>& allowed) {
  const std::string* text = find({.key = key, .kind = WordForm::Kind::word, .allowed = allowed});
  if (!text) return fallback;
  if (std::find(allowed.begin(), allowed.end(), *text) == allowed.end())
    fail(key, configs::in_quotes(*text) + " is not " + configs::any_of(allowed) +
                  configs::did_you_mean(*text, allowed));
  return *text;
}

std::string Arguments::text(const std::string& key, const std::string& fallback) {
  const std::string* text = find({.key = key, .allowed = {}});
  return text ? *text : fallback;
}

void Arguments::finish() const {
  std::vector<std::string> known;
  for (const auto& form : *asked_) known.push_back(form.key);
  for (const auto& [key, value] : pairs_)
    if (std::ranges::find(known, key) == known.end())
      throw UserError(where_ + ": unknown key " + configs::in_quotes(key) +
                      configs::did_you_mean(key, known) + "; it takes " + configs::any_of(known));
}

}  // namespace daybreak::cli
