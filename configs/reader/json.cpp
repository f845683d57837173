// A strict reader of JSON (RFC 8259): one value, no comments, no trailing commas, no duplicate
// keys, surrogate pairs decoded, lone surrogates and invalid UTF-8 refused. Columns count bytes
// from 1.
#include <unordered_set>

#include "configs/reader/loader.hpp"
#include "configs/reader/utf8.hpp"
#include "configs/reader/words.hpp"

namespace daybreak::configs {
namespace {

class JsonReader {
 public:
  JsonReader(std::string_view text, const std::string& name)
      : text_(text), file_(std::make_shared<const std::string>(name)) {}

  Node read() {
    if (text_.substr(0, 3) == "\xef\xbb\xbf") fail("starts with a byte order mark; JSON has none");
    space();
    if (at_ == text_.size()) fail("is empty; one JSON value is expected");
    Node root = value("", 1);
    space();
    if (at_ < text_.size()) fail("something stands behind the end of the JSON value");
    return root;
  }

 private:
  [[noreturn]] void fail(const std::string& sentence) const {
    throw UserError(Position{*file_, line_, column()}, sentence);
  }
  int column() const { return int(at_ - line_start_) + 1; }
  bool more() const { return at_ < text_.size(); }
  char here() const { return text_[at_]; }

  void space() {
    for (; more(); ++at_) {
      const char c = here();
      if (c == '\n') {
        ++line_;
        line_start_ = at_ + 1;
      } else if (c != ' ' && c != '\t' && c != '\r') {
        return;
      }
    }
  }

  // Skips white space and gives the next character, which must exist.
  char next(const char* expected) {
    space();
    if (!more())
      fail(std::string("the file ends where ") + expected + " is expected; is it cut off?");
    return here();
  }

  [[noreturn]] void unexpected(const char* expected) {
    fail(std::string(expected) + " is expected; got " + in_quotes(text_.substr(at_, 1)));
  }

  Node value(const std::string& name, int depth) {
    if (depth > kMaxDepth)
      fail("lists and maps are nested more than " + std::to_string(kMaxDepth) + " deep");
    if (++values_ > kMaxValues)
      fail("the file holds more than " + std::to_string(kMaxValues) + " values");
    const char c = next("a value");
    if (c == '{') return map(name, depth);
    if (c == '[') return list(name, depth);
    Node node(file_, name, Kind::scalar, line_, column());
    if (c == '"') {
      node.set_text(string(), true);
    } else if (c == '-' || (c >= '0' && c <= '9')) {
      node.set_text(number(), false);
    } else {
      const std::string word = literal();
      if (word == "null") return Node(file_, name, Kind::null, node.at().line, node.at().column);
      node.set_text(word, false);
    }
    return node;
  }

  Node list(const std::string& name, int depth) {
    Node node(file_, name, Kind::list, line_, column());
    ++at_;
    if (next("a value or ']'") == ']') return ++at_, node;
    while (true) {
      node.add_item(value(name, depth + 1));
      const char c = next("',' or ']'");
      if (c != ',' && c != ']') unexpected("',' or ']'");
      ++at_;
      if (c == ']') return node;
      if (next("a value") == ']') fail("a ',' before ']' is not JSON");
    }
  }

  Node map(const std::string& name, int depth) {
    Node node(file_, name, Kind::map, line_, column());
    std::unordered_set<std::string> seen;
    ++at_;
    if (next("a key or '}'") == '}') return ++at_, node;
    while (true) {
      if (next("a key") != '"') unexpected("a key in double quotes");
      Key key{.name = "", .line = line_, .column = column()};
      key.name = string();
      if (!seen.insert(key.name).second)
        throw UserError(node.at(key), "the key " + in_quotes(key.name) + " stands here twice");
      if (next("':'") != ':') unexpected("':'");
      ++at_;
      Node member = value(key.name, depth + 1);
      node.add_member(std::move(key), std::move(member));
      const char c = next("',' or '}'");
      if (c != ',' && c != '}') unexpected("',' or '}'");
      ++at_;
      if (c == '}') return node;
      if (next("a key") == '}') fail("a ',' before '}' is not JSON");
    }
  }

  std::string literal() {
    size_t end = at_;
    while (end < text_.size() && ((text_[end] | 32) >= 'a') && ((text_[end] | 32) <= 'z')) ++end;
    const std::string word(text_.substr(at_, end - at_));
    if (word != "true" && word != "false" && word != "null") {
      if (word.empty()) unexpected("a value");
      if (end == text_.size()) fail("the file ends inside a word; is it cut off?");
      fail("a value is expected; got " + in_quotes(word) +
           did_you_mean(word, {"true", "false", "null"}));
    }
    at_ = end;
    return word;
  }

  bool digit() const { return more() && here() >= '0' && here() <= '9'; }
  void digits() {
    if (!digit())
      fail(more() ? "a digit is expected in this number" : "the file ends inside a number");
    while (digit()) ++at_;
  }
  std::string number() {
    const size_t start = at_;
    if (here() == '-') ++at_;
    const bool zero = digit() && here() == '0';
    if (zero) ++at_;
    if (zero && digit()) fail("a number must not start with 0");
    if (!zero) digits();
    if (more() && here() == '.') ++at_, digits();
    if (more() && (here() | 32) == 'e') {
      ++at_;
      if (more() && (here() == '+' || here() == '-')) ++at_;
      digits();
    }
    return std::string(text_.substr(start, at_ - start));
  }

  uint32_t hex4() {
    uint32_t code = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = more() ? here() : '"';
      const int low = c | 32;
      if (c >= '0' && c <= '9')
        code = code * 16 + uint32_t(c - '0');
      else if (low >= 'a' && low <= 'f')
        code = code * 16 + uint32_t(low - 'a' + 10);
      else
        fail("four hexadecimal digits are expected after \\u");
    }
    return code;
  }

  void escape(std::string& out) {
    ++at_;
    if (!more()) fail("the file ends inside a string; is it cut off?");
    const char c = here();
    ++at_;
    switch (c) {
      case '"':
      case '\\':
      case '/': out += c; return;
      case 'b': out += '\b'; return;
      case 'f': out += '\f'; return;
      case 'n': out += '\n'; return;
      case 'r': out += '\r'; return;
      case 't': out += '\t'; return;
      case 'u': break;
      default: at_ -= 2; fail(in_quotes(text_.substr(at_, 2)) + " is no JSON escape");
    }
    uint32_t code = hex4();
    if (code >= 0xdc00 && code < 0xe000) fail("half of a surrogate pair stands alone");
    if (code >= 0xd800 && code < 0xdc00) {
      if (text_.substr(at_, 2) != "\\u") fail("half of a surrogate pair stands alone");
      at_ += 2;
      const uint32_t low = hex4();
      if (low < 0xdc00 || low >= 0xe000) fail("half of a surrogate pair stands alone");
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    append_utf8(out, code);
  }

  std::string string() {
    std::string out;
    ++at_;
    while (true) {
      if (!more()) fail("the file ends inside a string; is it cut off?");
      const unsigned char c = here();
      if (c == '"') return ++at_, out;
      if (c == '\\') {
        escape(out);
      } else if (c < 0x20) {
        fail("a control character inside a string must be escaped");
      } else if (c < 0x80) {
        out += char(c);
        ++at_;
      } else {
        const size_t length = utf8_length(text_.substr(at_));
        if (length == 0) fail("this is not valid UTF-8");
        out += text_.substr(at_, length);
        at_ += length;
      }
    }
  }

  std::string_view text_;
  std::shared_ptr<const std::string> file_;
  size_t at_ = 0, line_start_ = 0;
  int line_ = 1, values_ = 0;
};

}  // namespace

Node load_json_text(std::string_view text, const std::string& name) {
  check_size(text.size(), name, kMaxFileBytes);
  return JsonReader(text, name).read();
}

}  // namespace daybreak::configs
