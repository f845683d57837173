// YAML through yaml-cpp's event interface: depth and count are checked at every event, so the
// parser never recurses further than the cap, and the tree is built without yaml-cpp's own nodes.
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <istream>
#include <streambuf>
#include <unordered_set>

#include "configs/reader/loader.hpp"
#include "configs/reader/utf8.hpp"
#include "configs/reader/words.hpp"

namespace daybreak::configs {
namespace {

std::string too_deep() {
  return "lists and maps are nested more than " + std::to_string(kMaxDepth) + " deep";
}

// Reads a text in place.
struct TextBuffer : std::streambuf {
  explicit TextBuffer(std::string_view text) {
    char* start = const_cast<char*>(text.data());
    setg(start, start, start + text.size());
  }
};

class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(std::shared_ptr<const std::string> file) : file_(std::move(file)) {}

  Node root;

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0) fail(mark, "a second document ('---') starts here; one is allowed");
  }
  void OnDocumentEnd() override {}
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    fail(mark, "aliases ('*name') are not allowed");
  }
  void OnAnchor(const YAML::Mark& mark, const std::string&) override {
    fail(mark, "anchors ('&name') are not allowed");
  }
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { leaf(mark, "", true, false); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& value) override {
    check_tag(mark, tag);
    const bool was_quoted = tag == "!";
    const bool null = !was_quoted && (value == "null" || value == "~" || value.empty());
    leaf(mark, value, null, was_quoted);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    check_tag(mark, tag);
    open(mark, Kind::list);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    check_tag(mark, tag);
    open(mark, Kind::map);
  }
  void OnMapEnd() override { close(); }

 private:
  // A list or map that is not finished, and the key that waits for its value.
  struct Level {
    Node node;
    Key key;
    bool has_key = false;
    std::unordered_set<std::string> seen;
  };

  [[noreturn]] void fail(const YAML::Mark& mark, const std::string& sentence) const {
    throw UserError(Position{*file_, mark.line + 1, mark.column + 1}, sentence);
  }
  void check_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (!tag.empty() && tag != "?" && tag != "!") fail(mark, "tags ('!name') are not allowed");
  }
  void count(const YAML::Mark& mark) {
    if (++values_ > kMaxValues)
      fail(mark, "the file holds more than " + std::to_string(kMaxValues) + " values");
  }
  bool wants_key() const {
    return !levels_.empty() && levels_.back().node.is_map() && !levels_.back().has_key;
  }
  std::string name() const {
    if (levels_.empty()) return "";
    return levels_.back().node.is_map() ? levels_.back().key.name : levels_.back().node.name();
  }

  void leaf(const YAML::Mark& mark, const std::string& value, bool null, bool was_quoted) {
    count(mark);
    if (wants_key()) {
      if (null) fail(mark, "a key is missing here");
      Level& level = levels_.back();
      level.key = {.name = value, .line = mark.line + 1, .column = mark.column + 1};
      level.has_key = true;
      if (!level.seen.insert(value).second)
        fail(mark, "the key " + in_quotes(value) + " stands here twice");
      return;
    }
    if (null) return attach(nothing(mark));
    Node node(file_, name(), Kind::scalar, mark.line + 1, mark.column + 1);
    node.set_text(value, was_quoted);
    attach(std::move(node));
  }
  // A key without a value stands where its key does: yaml-cpp's mark is already on the next line.
  Node nothing(const YAML::Mark& mark) const {
    if (!levels_.empty() && levels_.back().node.is_map()) {
      const Key& key = levels_.back().key;
      return Node(file_, key.name, Kind::null, key.line, key.column);
    }
    return Node(file_, name(), Kind::null, mark.line + 1, mark.column + 1);
  }
  void open(const YAML::Mark& mark, Kind kind) {
    count(mark);
    if (wants_key()) fail(mark, "a key must be a single value");
    if (int(levels_.size()) >= kMaxDepth) fail(mark, too_deep());
    levels_.push_back({Node(file_, name(), kind, mark.line + 1, mark.column + 1), {}, false, {}});
  }
  void close() {
    Node node = std::move(levels_.back().node);
    levels_.pop_back();
    attach(std::move(node));
  }
  void attach(Node node) {
    if (levels_.empty()) {
      root = std::move(node);
      return;
    }
    Level& level = levels_.back();
    if (level.node.is_map())
      level.node.add_member(std::move(level.key), std::move(node));
    else
      level.node.add_item(std::move(node));
    level.has_key = false;
  }

  std::shared_ptr<const std::string> file_;
  std::vector<Level> levels_;
  int values_ = 0, documents_ = 0;
};

// yaml-cpp replaces what it cannot decode; a user's file must say exactly what is read.
void check_characters(std::string_view text, const std::string& name) {
  int line = 1;
  size_t start = 0;
  for (size_t i = 0; i < text.size();) {
    const unsigned char c = text[i];
    const size_t length = utf8_length(text.substr(i, 4));
    const bool control = (c < 0x20 && c != '\n' && c != '\r' && c != '\t') || c == 0x7f;
    if (length == 0 || control)
      throw UserError(
          Position{name, line, int(i - start) + 1},
          control ? "a control character is not allowed here" : "this is not valid UTF-8");
    if (c == '\n') {
      ++line;
      start = i + 1;
    }
    i += length;
  }
}

// yaml-cpp's scanner looks ahead over a whole run of open brackets before the first event comes
// out. Quotes and comments are not told apart: no honest file leaves that many brackets open in
// them either.
void check_brackets(std::string_view text, const std::string& name) {
  int line = 1, open = 0;
  size_t start = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') ++line, start = i + 1;
    if (c == '[' || c == '{') ++open;
    if ((c == ']' || c == '}') && open > 0) --open;
    if (open > kMaxDepth) throw UserError(Position{name, line, int(i - start) + 1}, too_deep());
  }
}

// One sentence from yaml-cpp's message.
std::string sentence_of(const YAML::Exception& error) {
  std::string text = error.msg.empty() ? "the YAML is not well formed" : error.msg;
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  return "not valid YAML: " + text;
}

}  // namespace

Node load_yaml_text(std::string_view text, const std::string& name) {
  check_size(text.size(), name, kMaxYamlBytes);
  check_characters(text, name);
  check_brackets(text, name);
  TextBuffer buffer(text);
  std::istream stream(&buffer);
  TreeBuilder builder(std::make_shared<const std::string>(name));
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {}
  } catch (const YAML::Exception& error) {
    throw UserError(Position{name, error.mark.line + 1, error.mark.column + 1}, sentence_of(error));
  }
  if (builder.root.kind() == Kind::null) throw UserError(Position{name, 1, 1}, "the file is empty");
  return std::move(builder.root);
}

}  // namespace daybreak::configs
