// Cuts a line of the text form into its parts, knowing the column of each.
#pragma once
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "configs/reader/errors.hpp"

namespace daybreak::isa {

class Scanner {
 public:
  Scanner(std::string_view line, const std::string& file, int number)
      : line_(line), file_(file), number_(number) {}

  // Fails at the place of the last thing begun (a word, a value).
  [[noreturn]] void fail(const std::string& sentence) const { fail_at(begin_, sentence); }

  // Moves to the next word; false at the end of the line or before a comment.
  bool next_word();
  bool at_quote() const { return at_ < line_.size() && line_[at_] == '"'; }
  // A name of letters, digits and underscores; may be empty.
  std::string_view name();
  // "..." with \", \\ and \xHH.
  std::string quoted();
  // Fails unless the next character is this one.
  void expect(char ch);
  bool accept(char ch);
  // Fails unless a space or the end follows.
  void end_of_word();
  // Everything up to the next space, for values of one piece.
  std::string_view rest_of_word();

  // A whole number in [low, high]; `what` names it in messages.
  template <class T>
  T integer(const char* what, T low = std::numeric_limits<T>::min(),
            T high = std::numeric_limits<T>::max(), int base = 10) {
    begin_ = at_;
    T v{};
    const char* first = line_.data() + at_;
    const auto [end, error] = std::from_chars(first, line_.data() + line_.size(), v, base);
    if (error != std::errc() || v < low || v > high)
      fail(std::string(what) + " must be a whole number from " + std::to_string(low) + " to " +
           std::to_string(high) + (base == 16 ? " (hexadecimal)" : ""));
    at_ += size_t(end - first);
    return v;
  }
  float real(const char* what);

  // One of count_of(E) values by its name.
  template <class E> E choice(const char* what) {
    std::vector<std::string> known;
    for (int i = 0; i < count_of(E{}); ++i) known.emplace_back(name_of(E(i)));
    return E(pick(what, known));
  }
  // Index of the name that follows among the known ones; fails naming them and the nearest.
  size_t pick(const char* what, const std::vector<std::string>& known);
  // Fails for a name that is not among the known ones.
  [[noreturn]] void unknown(const char* what, std::string_view name,
                            const std::vector<std::string>& known) const;

 private:
  [[noreturn]] void fail_at(size_t column, const std::string& sentence) const;

  std::string_view line_;
  const std::string& file_;
  int number_;
  size_t at_ = 0;
  size_t begin_ = 0;
};

}  // namespace daybreak::isa
