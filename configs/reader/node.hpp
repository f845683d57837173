// A value of a user's YAML or JSON file that knows where it stands. Getters throw UserError with
// file:line:column, the key, and what is allowed; nothing is converted silently.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "configs/reader/errors.hpp"

namespace daybreak::configs {

enum class Kind : uint8_t { null, scalar, list, map };

// A key of a map, with its own place.
struct Key {
  std::string name;
  int line = 0, column = 0;
};

class Node {
 public:
  Node() = default;
  Node(std::shared_ptr<const std::string> file, std::string name, Kind kind, int line, int column)
      : file_(std::move(file)), name_(std::move(name)), kind_(kind), line_(line), column_(column) {}

  Kind kind() const { return kind_; }
  bool is_map() const { return kind_ == Kind::map; }
  bool is_list() const { return kind_ == Kind::list; }
  bool is_null() const { return kind_ == Kind::null; }
  bool is_text() const { return kind_ == Kind::scalar && quoted_; }  // was written in quotes
  Position at() const;
  Position at(const Key& key) const;
  const std::string& name() const { return name_; }           // the key it stands at; may be empty
  [[noreturn]] void fail(const std::string& sentence) const;  // UserError at this place

  // Scalars. Bounds are inclusive.
  const std::string& text() const;  // any scalar, as written
  int64_t integer(int64_t low = std::numeric_limits<int64_t>::min(),
                  int64_t high = std::numeric_limits<int64_t>::max()) const;
  double number(double low = std::numeric_limits<double>::lowest(),
                double high = std::numeric_limits<double>::max()) const;
  bool flag() const;                  // true or false, nothing else
  const std::string& string() const;  // text that is not a number, flag or null in JSON
  const std::string& word(const std::vector<std::string>& allowed) const;

  // Lists and maps. `size` is the number of entries; keys are in the order of the file.
  size_t size() const { return items_.size(); }
  const std::vector<Node>& items() const;        // fails unless a list
  const std::vector<Key>& keys() const;          // fails unless a map
  const std::vector<Node>& values() const;       // fails unless a map; values()[i] is of keys()[i]
  const Node* find(std::string_view key) const;  // nullptr when absent; fails unless a map
  const Node& require(std::string_view key) const;  // fails when absent
  // Fails at the first key that is not among `allowed`, naming the nearest one.
  void only(const std::vector<std::string>& allowed) const;

  // A required key ...
  int64_t integer_at(std::string_view key, int64_t low, int64_t high) const {
    return require(key).integer(low, high);
  }
  double number_at(std::string_view key, double low, double high) const {
    return require(key).number(low, high);
  }
  bool flag_at(std::string_view key) const { return require(key).flag(); }
  const std::string& string_at(std::string_view key) const { return require(key).string(); }
  // ... and an optional one: the default when it is absent or null.
  int64_t integer_or(std::string_view key, int64_t value, int64_t low, int64_t high) const;
  double number_or(std::string_view key, double value, double low, double high) const;
  bool flag_or(std::string_view key, bool value) const;
  std::string string_or(std::string_view key, const std::string& value) const;
  bool has(std::string_view key) const;  // present and not null

  // Building, for the loaders.
  void set_text(std::string text, bool quoted) {
    text_ = std::move(text);
    quoted_ = quoted;
  }
  Node& add_item(Node node) { return items_.emplace_back(std::move(node)); }
  Node& add_member(Key key, Node node);

 private:
  std::string subject() const;  // "'cores'" or "this value"
  std::shared_ptr<const std::string> file_;
  std::string name_, text_;
  std::vector<Node> items_;
  std::vector<Key> keys_;
  Kind kind_ = Kind::null;
  bool quoted_ = false;
  int line_ = 0, column_ = 0;
};

}  // namespace daybreak::configs
