#include "isa/instructions/keep_groups.hpp"

#include <algorithm>
#include <numeric>

#include "isa/instructions/detail/rows.hpp"

namespace daybreak::isa {

namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

// Sum of the best two of a group; NaN is never among them.
float worth(const float* x, int64_t n) {
  float first = kNever, second = kNever;
  for (int64_t i = 0; i < n; ++i) {
    if (x[i] > first)
      second = first, first = x[i];
    else if (x[i] > second)
      second = x[i];
  }
  return n < 2 ? first : first + second;
}

}  // namespace

// Two reductions (best and second best), one pass that writes.
Work KeepGroups::work() const {
  Work w;
  detail::elements(w, VectorClass::reduce) = 2 * to.elements();
  detail::elements(w, VectorClass::simple) = to.elements();
  detail::add_operand_work(*this, w);
  return w;
}

void KeepGroups::execute(Context& c) const {
  detail::expect_shape(from, to.rows, to.cols, "operand", kName);
  if (groups < 1 || count < 0 || count > int64_t(to.cols) || count % groups != 0 || keep < 0)
    detail::fail(kName, std::to_string(groups) + " groups do not divide " + std::to_string(count) +
                            " columns of " + detail::describe(to));
  const int64_t size = count / groups;
  detail::RowReader reader(c, from, kName);
  detail::RowWriter writer(c, to, kName);
  std::vector<float> values(static_cast<size_t>(groups));
  std::vector<int32_t> order(static_cast<size_t>(groups));
  for (int64_t r = 0; r < to.rows; ++r) {
    const float* x = reader.row(r);
    for (int32_t g = 0; g < groups; ++g) values[size_t(g)] = worth(x + g * size, size);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int32_t a, int32_t b) { return values[size_t(a)] > values[size_t(b)]; });
    float* y = writer.row(r);
    std::copy_n(x, to.cols, y);
    for (int32_t g = keep; g < groups; ++g) std::fill_n(y + order[size_t(g)] * size, size, kNever);
    writer.store(r);
  }
}

}  // namespace daybreak::isa
