#include "configs/reader/expression.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "configs/reader/words.hpp"

namespace daybreak::configs {

using Values = Expression::Values;

struct Expression::Term {
  enum class Kind { number, metric, call, negate, binary } kind = Kind::number;
  double number = 0;
  size_t reference = 0;  // metric: position in references()
  std::string name;      // call: function; binary: operator
  Position at;
  std::vector<std::shared_ptr<const Term>> inputs;
};

namespace {

using Term = Expression::Term;
using Pointer = std::shared_ptr<const Term>;

struct Function {
  const char* name;
  size_t least, most;  // arguments
};
constexpr size_t kAny = 1000;
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
const std::vector<Function> kFunctions = {
    {"min", 1, kAny}, {"max", 1, kAny}, {"sum", 1, kAny}, {"mean", 1, kAny}, {"count", 1, kAny},
    {"abs", 1, 1},    {"log2", 1, 1},   {"sqrt", 1, 1},   {"delta", 1, 1},   {"ratio", 1, 1},
    {"first", 1, 1},  {"last", 1, 1},   {"tail", 2, 2}};

// Loosest first; operators of one level go from left to right.
const std::vector<std::vector<std::string>> kLevels = {
    {"or"}, {"and"}, {"<=", ">=", "==", "!=", "<", ">"}, {"+", "-"}, {"*", "/"}};

bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool digit(char c) { return c >= '0' && c <= '9'; }

class Parser {
 public:
  Parser(const std::string& text, const Position& at, std::vector<MetricReference>& references)
      : text_(text), start_(at), references_(references) {}

  Pointer parse() {
    Pointer root = binary(0);
    space();
    if (at_ < text_.size()) fail("an operator or the end is expected; got " + here());
    return root;
  }

 private:
  static constexpr int kMostDepth = 100;

  Position place(size_t offset) const {
    Position at = start_;
    if (at.column > 0) at.column += int(offset);
    return at;
  }
  [[noreturn]] void fail(const std::string& sentence) const {
    throw UserError(place(at_), "in the expression, " + sentence);
  }
  std::string here() const {
    return at_ < text_.size() ? in_quotes(std::string_view(text_).substr(at_, 12)) : "the end";
  }
  void space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n'))
      ++at_;
  }
  bool take(const std::string& word) {
    space();
    if (text_.compare(at_, word.size(), word) != 0) return false;
    const size_t end = at_ + word.size();
    if (letter(word[0]) && end < text_.size() && (letter(text_[end]) || digit(text_[end])))
      return false;
    at_ = end;
    return true;
  }
  std::string identifier() {
    const size_t first = at_;
    while (at_ < text_.size() && (letter(text_[at_]) || digit(text_[at_]))) ++at_;
    return text_.substr(first, at_ - first);
  }

  Pointer binary(size_t level) {
    if (level == kLevels.size()) return unary();
    Pointer left = binary(level + 1);
    while (true) {
      space();
      const size_t offset = at_;
      const auto& words = kLevels[level];
      const auto found =
          std::find_if(words.begin(), words.end(), [&](const auto& word) { return take(word); });
      if (found == words.end()) return left;
      auto term = std::make_shared<Term>();
      term->kind = Term::Kind::binary;
      term->name = *found;
      term->at = place(offset);
      if (++terms_ > 500) fail("there are more than 500 operators");
      term->inputs = {left, binary(level + 1)};
      left = term;
    }
  }

  Pointer unary() {
    if (++depth_ > kMostDepth) fail("parentheses and signs are nested more than 100 deep");
    space();
    Pointer result;
    const size_t offset = at_;
    const bool inverse = take("not");
    if (inverse || take("-")) {
      auto term = std::make_shared<Term>();
      term->kind = Term::Kind::negate;
      term->name = inverse ? "not" : "-";
      term->at = place(offset);
      term->inputs = {unary()};
      result = term;
    } else {
      result = atom();
    }
    --depth_;
    return result;
  }

  Pointer atom() {
    space();
    if (take("(")) {
      Pointer inside = binary(0);
      if (!take(")")) fail("')' is expected; got " + here());
      return inside;
    }
    if (at_ < text_.size() && (digit(text_[at_]) || text_[at_] == '.')) return number();
    if (at_ < text_.size() && letter(text_[at_])) return named();
    fail("a number, a metric or '(' is expected; got " + here());
  }

  Pointer number() {
    auto term = std::make_shared<Term>();
    term->at = place(at_);
    const char* first = text_.data() + at_;
    const auto result = std::from_chars(first, text_.data() + text_.size(), term->number);
    if (result.ec != std::errc{}) fail("a number is expected; got " + here());
    at_ += size_t(result.ptr - first);
    return term;
  }

  Pointer named() {
    const size_t offset = at_;
    const std::string name = identifier();
    auto term = std::make_shared<Term>();
    term->at = place(offset);
    if (take("(")) {
      term->kind = Term::Kind::call;
      term->name = name;
      arguments(*term);
      return term;
    }
    MetricReference reference{.run = "", .metric = name, .at = place(offset)};
    if (at_ < text_.size() && text_[at_] == '.') {
      ++at_;
      if (at_ == text_.size() || !letter(text_[at_])) fail("a metric is expected after '.'");
      reference = {.run = name, .metric = identifier(), .at = place(offset)};
    }
    term->kind = Term::Kind::metric;
    term->reference = references_.size();
    references_.push_back(reference);
    return term;
  }

  void arguments(Term& call) {
    const auto known = std::find_if(kFunctions.begin(), kFunctions.end(),
                                    [&](const Function& f) { return call.name == f.name; });
    if (known == kFunctions.end()) {
      std::vector<std::string> names;
      for (const auto& f : kFunctions) names.push_back(f.name);
      throw UserError(call.at, "in the expression, there is no function " + in_quotes(call.name) +
                                   "; allowed are " + any_of(names) +
                                   did_you_mean(call.name, names));
    }
    do call.inputs.push_back(binary(0));
    while (take(","));
    if (!take(")")) fail("',' or ')' is expected; got " + here());
    if (call.inputs.size() < known->least || call.inputs.size() > known->most)
      throw UserError(call.at, "in the expression, " + call.name + " takes " +
                                   std::to_string(known->least) + " argument" +
                                   (known->least == 1 ? "" : "s") + "; got " +
                                   std::to_string(call.inputs.size()));
  }

  const std::string& text_;
  Position start_;
  std::vector<MetricReference>& references_;
  size_t at_ = 0;
  int depth_ = 0, terms_ = 0;
};

double combine(const std::string& op, double a, double b) {
  const bool finite = std::isfinite(a) && std::isfinite(b);
  if (op == "+") return a + b;
  if (op == "-") return a - b;
  if (op == "*") return a * b;
  if (op == "/") return a / b;
  if (!finite) return kUnknown;
  if (op == "<") return a < b;
  if (op == "<=") return a <= b;
  if (op == ">") return a > b;
  if (op == ">=") return a >= b;
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  return op == "and" ? a != 0 && b != 0 : a != 0 || b != 0;
}

class Evaluator {
 public:
  Evaluator(const Expression::Lookup& lookup, const std::vector<MetricReference>& references)
      : lookup_(lookup), references_(references) {}

  Values operator()(const Term& term) const {
    switch (term.kind) {
      case Term::Kind::number: return {term.number};
      case Term::Kind::metric: return lookup_(references_[term.reference]);
      case Term::Kind::negate: {
        Values values = (*this)(*term.inputs[0]);
        for (double& v : values)
          v = term.name == "-" ? -v : std::isfinite(v) ? double(v == 0) : kUnknown;
        return values;
      }
      case Term::Kind::binary: return binary(term);
      case Term::Kind::call: break;
    }
    return call(term);
  }

 private:
  Values binary(const Term& term) const {
    const Values a = (*this)(*term.inputs[0]), b = (*this)(*term.inputs[1]);
    if (a.size() != b.size() && a.size() != 1 && b.size() != 1)
      throw UserError(term.at, "in the expression, '" + term.name + "' combines lists of " +
                                   std::to_string(a.size()) + " and " + std::to_string(b.size()) +
                                   " numbers; they must be equally long, or one a single number");
    const bool none = a.empty() || b.empty();
    Values out(none ? 0 : std::max(a.size(), b.size()));
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = combine(term.name, a[a.size() == 1 ? 0 : i], b[b.size() == 1 ? 0 : i]);
    return out;
  }

  Values call(const Term& term) const {
    const std::string& f = term.name;
    Values x = (*this)(*term.inputs[0]);
    if (f == "tail") return tail(term, x, (*this)(*term.inputs[1]));
    for (size_t i = 1; i < term.inputs.size(); ++i) {
      const Values more = (*this)(*term.inputs[i]);
      x.insert(x.end(), more.begin(), more.end());
    }
    if (f == "count") return {double(x.size())};
    if (f == "abs" || f == "log2" || f == "sqrt") {
      for (double& v : x) v = f == "abs" ? std::abs(v) : f == "log2" ? std::log2(v) : std::sqrt(v);
      return x;
    }
    if (f == "delta" || f == "ratio") {
      for (size_t i = 0; i + 1 < x.size(); ++i)
        x[i] = f == "delta" ? x[i + 1] - x[i] : x[i + 1] / x[i];
      if (!x.empty()) x.pop_back();
      return x;
    }
    if (x.empty()) throw UserError(term.at, "in the expression, " + f + " of an empty list");
    if (f == "first") return {x.front()};
    if (f == "last") return {x.back()};
    return {fold(f, x)};
  }

  static Values tail(const Term& term, const Values& x, const Values& n) {
    if (n.size() != 1 || !(n[0] >= 0) || n[0] != std::floor(n[0]))
      throw UserError(term.at, "in the expression, tail(list, n) takes one whole number n >= 0");
    const size_t count = n[0] > double(x.size()) ? x.size() : size_t(n[0]);
    return Values(x.end() - std::ptrdiff_t(count), x.end());
  }

  // NaN anywhere gives NaN: a missing number must not hide behind the others.
  static double fold(const std::string& f, const Values& x) {
    double sum = 0, low = x[0], high = x[0];
    for (const double v : x) {
      sum += v;
      low = std::min(low, v);
      high = std::max(high, v);
    }
    if (std::isnan(sum) && std::any_of(x.begin(), x.end(), [](double v) { return std::isnan(v); }))
      return sum;
    return f == "min" ? low : f == "max" ? high : f == "sum" ? sum : sum / double(x.size());
  }

  const Expression::Lookup& lookup_;
  const std::vector<MetricReference>& references_;
};

}  // namespace

Expression Expression::parse(const std::string& text, const Position& at) {
  Expression out;
  out.text_ = text;
  out.root_ = Parser(text, at, out.references_).parse();
  return out;
}

Values Expression::evaluate(const Lookup& lookup) const {
  if (!root_) return {};
  return Evaluator(lookup, references_)(*root_);
}

bool Expression::is_claim() const {
  if (!root_ || root_->kind != Term::Kind::binary) return false;
  const auto has = [&](const auto& words) {
    return std::find(words.begin(), words.end(), root_->name) != words.end();
  };
  return std::any_of(kLevels.begin(), kLevels.begin() + 3, has);
}

bool Expression::holds(const Lookup& lookup) const {
  const Values values = evaluate(lookup);
  return !values.empty() && std::all_of(values.begin(), values.end(),
                                        [](double v) { return v != 0 && std::isfinite(v); });
}

}  // namespace daybreak::configs
