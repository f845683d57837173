#include "isa/instructions/glu.hpp"

#include "isa/instructions/detail/math.hpp"
#include "isa/instructions/detail/rows.hpp"

namespace daybreak::isa {

namespace {

// NaN passes both clamps.
float below(float x, float limit) { return x > limit ? limit : x; }
float within(float x, float limit) { return x < -limit ? -limit : below(x, limit); }

}  // namespace

// One sigmoid or tanh is a special pass; clamps, products and the added one are simple ones.
Work Glu::work() const {
  Work w;
  const int64_t n = to.elements(), clamps = form != Gating::situ && limit > 0 ? 3 : 0;
  const int64_t special = form == Gating::situ ? 3 : 1;
  const int64_t simple = form == Gating::silu ? 2 : form == Gating::swiglu ? 4 : 7;
  detail::elements(w, VectorClass::special) = special * n;
  detail::elements(w, VectorClass::simple) = (simple + clamps) * n;
  detail::add_operand_work(*this, w);
  return w;
}

void Glu::execute(Context& c) const {
  const auto apply = [&](auto f) { detail::elementwise(c, kName, to, f, gate, up); };
  const float k = factor, l = limit;
  switch (form) {
    case Gating::silu:
      if (l > 0)
        return apply([l](float g, float u) { return detail::silu(below(g, l)) * within(u, l); });
      return apply([](float g, float u) { return detail::silu(g) * u; });
    case Gating::swiglu:
      return apply([k, l](float g, float u) {
        const float x = l > 0 ? below(g, l) : g, y = l > 0 ? within(u, l) : u;
        return x * detail::sigmoid(k * x) * (y + 1);
      });
    case Gating::situ:
      return apply([k, l](float g, float u) {
        return k * detail::tanh(g / k) * detail::sigmoid(g) * (l * detail::tanh(u / l));
      });
  }
}

}  // namespace daybreak::isa
