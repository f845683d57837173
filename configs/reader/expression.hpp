// Arithmetic and comparisons over the metrics of runs, for tables and verdicts of a study. Values
// are lists of numbers; a single run's metric is a list of one, a grid's metric one number per run
// of the grid in file order. A list of one combines with any list, others must have equal length.
//
//   expr   : or-expr      or  and  not  < <= > >= == !=  + -  * /  unary -
//   atom   : 12.5   name.metric   metric (columns: of the row's run)   f(expr, ...)   ( expr )
//   f      : min max sum mean (of all numbers given)   abs log2 sqrt (each)   count
//            delta (differences of neighbours)   ratio (quotients of neighbours)
//            first last (one number)   tail(list, n) (the last n numbers)
//
// Comparisons give 1 or 0. One of a number that is not finite gives NaN, which and, or, not hand on
// and which fails a verdict: a division by zero never passes one.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "configs/reader/errors.hpp"

namespace daybreak::configs {

// A metric of a run or grid that an expression names; `run` is empty in a column.
struct MetricReference {
  std::string run, metric;
  Position at;
};

class Expression {
 public:
  using Values = std::vector<double>;
  // Gives the numbers of a reference. It throws UserError(reference.at, ...) for an unknown metric.
  using Lookup = std::function<Values(const MetricReference&)>;

  Expression() = default;
  // `at` is the place of the text's first character. Throws UserError.
  static Expression parse(const std::string& text, const Position& at);

  Values evaluate(const Lookup&) const;
  // True when every number is finite and not 0 and there is at least one.
  bool holds(const Lookup&) const;
  // Whether its value is true or false: a comparison, or some of them joined by and, or.
  bool is_claim() const;
  const std::vector<MetricReference>& references() const { return references_; }
  const std::string& text() const { return text_; }

  struct Term;  // a node of the parsed tree

 private:
  std::shared_ptr<const Term> root_;
  std::vector<MetricReference> references_;
  std::string text_;
};

}  // namespace daybreak::configs
