#include "isa/program/scanner.hpp"

#include <bit>
#include <cstdint>

#include "configs/reader/words.hpp"

namespace daybreak::isa {

namespace {

bool is_space(char ch) { return ch == ' ' || ch == '\t' || ch == '\r'; }
bool is_name(char ch) {
  return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') ||
         ch == '_';
}

}  // namespace

void Scanner::fail_at(size_t column, const std::string& sentence) const {
  throw UserError({.file = file_, .line = number_, .column = int(column) + 1}, sentence);
}

bool Scanner::next_word() {
  while (at_ < line_.size() && is_space(line_[at_])) ++at_;
  begin_ = at_;
  return at_ < line_.size() && line_[at_] != '#';
}

std::string_view Scanner::name() {
  begin_ = at_;
  while (at_ < line_.size() && is_name(line_[at_])) ++at_;
  return line_.substr(begin_, at_ - begin_);
}

std::string Scanner::quoted() {
  begin_ = at_;
  expect('"');
  std::string out;
  while (true) {
    if (at_ >= line_.size()) fail_at(begin_, "this text has no closing quote");
    const char ch = line_[at_++];
    if (ch == '"') return out;
    if (ch != '\\') {
      out += ch;
      continue;
    }
    const size_t escape = at_ - 1;
    const char kind = at_ < line_.size() ? line_[at_++] : '\0';
    if (kind == '"' || kind == '\\') {
      out += kind;
      continue;
    }
    uint8_t byte = 0;
    const char* digits = line_.data() + at_;
    const bool enough = kind == 'x' && line_.size() - at_ >= 2;
    if (!enough || std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2)
      fail_at(escape, "an escape is \\\", \\\\ or \\x and two hexadecimal digits");
    out += char(byte);
    at_ += 2;
  }
}

bool Scanner::accept(char ch) {
  if (at_ >= line_.size() || line_[at_] != ch) return false;
  ++at_;
  return true;
}

void Scanner::expect(char ch) {
  if (!accept(ch)) fail_at(at_, std::string("'") + ch + "' is expected here");
}

void Scanner::end_of_word() {
  if (at_ < line_.size() && !is_space(line_[at_]))
    fail_at(at_, "a space or the line's end is expected here");
}

std::string_view Scanner::rest_of_word() {
  begin_ = at_;
  while (at_ < line_.size() && !is_space(line_[at_])) ++at_;
  return line_.substr(begin_, at_ - begin_);
}

float Scanner::real(const char* what) {
  const std::string_view word = rest_of_word();
  const char *first = word.data(), *last = first + word.size();
  if (word.starts_with("nan:")) {
    uint32_t bits = 0;
    const auto [end, error] = std::from_chars(first + 4, last, bits, 16);
    const float v = std::bit_cast<float>(bits);
    if (error == std::errc() && end == last && v != v) return v;
  } else {
    float v = 0;
    const auto [end, error] = std::from_chars(first, last, v);
    if (error == std::errc() && end == last && v == v) return v;
  }
  fail(std::string(what) + " must be a number, inf, -inf or nan:BITS, not " +
       configs::in_quotes(word));
}

size_t Scanner::pick(const char* what, const std::vector<std::string>& known) {
  const std::string_view found = name();
  for (size_t i = 0; i < known.size(); ++i)
    if (found == known[i]) return i;
  unknown(what, found, known);
}

void Scanner::unknown(const char* what, std::string_view name,
                      const std::vector<std::string>& known) const {
  fail(configs::in_quotes(name) + " is no " + what + "; allowed are " + configs::any_of(known) +
       configs::did_you_mean(name, known));
}

}  // namespace daybreak::isa
