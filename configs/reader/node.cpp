#include "configs/reader/node.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "configs/reader/words.hpp"

namespace daybreak::configs {
namespace {

const char* noun(Kind kind) {
  switch (kind) {
    case Kind::null: return "nothing";
    case Kind::scalar: return "a value";
    case Kind::list: return "a list";
    case Kind::map: return "a map";
  }
  return "";
}

std::optional<double> parse_number(std::string_view text) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc{} || result.ptr != text.data() + text.size()) return std::nullopt;
  if (!std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<int64_t> parse_integer(std::string_view text) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  int64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec == std::errc{} && result.ptr == text.data() + text.size()) return value;
  // 1e6 and 4096.0 are whole numbers too, up to what a double holds exactly.
  const auto real = parse_number(text);
  if (!real || std::abs(*real) > 9007199254740992.0 || *real != std::floor(*real))
    return std::nullopt;
  return int64_t(*real);
}

std::string range_text(double low, double high, const std::string& what) {
  const bool below = low <= -1e18, above = high >= 1e18;
  if (below && above) return what;
  if (below) return what + " up to " + number_text(high);
  if (above) return what + " from " + number_text(low);
  return what + " from " + number_text(low) + " to " + number_text(high);
}

}  // namespace

Position Node::at() const { return {file_ ? *file_ : "", line_, column_}; }
Position Node::at(const Key& key) const { return {file_ ? *file_ : "", key.line, key.column}; }
void Node::fail(const std::string& sentence) const { throw UserError(at(), sentence); }

std::string Node::subject() const { return name_.empty() ? "this value" : in_quotes(name_); }

const std::string& Node::text() const {
  if (kind_ != Kind::scalar) fail(subject() + " must be a single value, not " + noun(kind_));
  return text_;
}

int64_t Node::integer(int64_t low, int64_t high) const {
  const std::string allowed = range_text(double(low), double(high), "a whole number");
  if (kind_ != Kind::scalar) fail(subject() + " must be " + allowed + ", not " + noun(kind_));
  const auto value = quoted_ ? std::nullopt : parse_integer(text_);
  if (!value || *value < low || *value > high)
    fail(subject() + " must be " + allowed + "; got " + (quoted_ ? "the text " : "") +
         in_quotes(text_));
  return *value;
}

double Node::number(double low, double high) const {
  const std::string allowed = range_text(low, high, "a number");
  if (kind_ != Kind::scalar) fail(subject() + " must be " + allowed + ", not " + noun(kind_));
  const auto value = quoted_ ? std::nullopt : parse_number(text_);
  if (!value || *value < low || *value > high)
    fail(subject() + " must be " + allowed + "; got " + (quoted_ ? "the text " : "") +
         in_quotes(text_));
  return *value;
}

bool Node::flag() const {
  if (kind_ != Kind::scalar) fail(subject() + " must be true or false, not " + noun(kind_));
  if (quoted_ || (text_ != "true" && text_ != "false"))
    fail(subject() + " must be true or false; got " + (quoted_ ? "the text " : "") +
         in_quotes(text_));
  return text_ == "true";
}

const std::string& Node::string() const {
  if (kind_ != Kind::scalar) fail(subject() + " must be text, not " + noun(kind_));
  if (!quoted_ && (text_ == "true" || text_ == "false" || parse_number(text_)))
    fail(subject() + " must be text; got " + in_quotes(text_) + ", which is not in quotes");
  return text_;
}

const std::string& Node::word(const std::vector<std::string>& allowed) const {
  if (kind_ != Kind::scalar)
    fail(subject() + " must be " + any_of(allowed) + ", not " + noun(kind_));
  if (std::find(allowed.begin(), allowed.end(), text_) == allowed.end())
    fail(subject() + " must be " + any_of(allowed) + "; got " + in_quotes(text_) +
         did_you_mean(text_, allowed));
  return text_;
}

const std::vector<Node>& Node::items() const {
  if (kind_ != Kind::list) fail(subject() + " must be a list, not " + noun(kind_));
  return items_;
}

const std::vector<Key>& Node::keys() const {
  if (kind_ != Kind::map) fail(subject() + " must be a map of keys, not " + noun(kind_));
  return keys_;
}

const std::vector<Node>& Node::values() const {
  keys();
  return items_;
}

const Node* Node::find(std::string_view key) const {
  const auto& all = keys();
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i].name == key) return &items_[i];
  return nullptr;
}

const Node& Node::require(std::string_view key) const {
  if (const Node* found = find(key)) return *found;
  fail((name_.empty() ? "" : "in " + in_quotes(name_) + ", ") + "the key " + in_quotes(key) +
       " is missing");
}

void Node::only(const std::vector<std::string>& allowed) const {
  for (const auto& key : keys()) {
    if (std::find(allowed.begin(), allowed.end(), key.name) != allowed.end()) continue;
    const std::string near = did_you_mean(key.name, allowed);
    throw UserError(at(key), "unknown key " + in_quotes(key.name) +
                                 (name_.empty() ? "" : " in " + in_quotes(name_)) +
                                 "; allowed are " + any_of(allowed) + near);
  }
}

int64_t Node::integer_or(std::string_view key, int64_t value, int64_t low, int64_t high) const {
  return has(key) ? find(key)->integer(low, high) : value;
}
double Node::number_or(std::string_view key, double value, double low, double high) const {
  return has(key) ? find(key)->number(low, high) : value;
}
bool Node::flag_or(std::string_view key, bool value) const {
  return has(key) ? find(key)->flag() : value;
}
std::string Node::string_or(std::string_view key, const std::string& value) const {
  return has(key) ? find(key)->string() : value;
}
bool Node::has(std::string_view key) const {
  const Node* found = find(key);
  return found && !found->is_null();
}

Node& Node::add_member(Key key, Node node) {
  keys_.push_back(std::move(key));
  return items_.emplace_back(std::move(node));
}

}  // namespace daybreak::configs
