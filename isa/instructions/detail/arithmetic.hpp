// The five operations of combine, row_apply and column_apply, chosen once per instruction.
#pragma once
#include "isa/instructions/combine.hpp"

namespace daybreak::isa::detail {

// Calls body(f) with f(a, b) in fp32. `when_zero` replaces a quotient whose divisor is 0 if given.
template <class Body> void with_arithmetic(Arithmetic function, Body body) {
  switch (function) {
    case Arithmetic::add: return body([](float a, float b) { return a + b; });
    case Arithmetic::subtract: return body([](float a, float b) { return a - b; });
    case Arithmetic::multiply: return body([](float a, float b) { return a * b; });
    case Arithmetic::divide: return body([](float a, float b) { return a / b; });
    // A NaN on either side wins, and +0 is larger than -0: the same result in either order.
    case Arithmetic::maximum:
      return body([](float a, float b) {
        const float larger = a > b ? a : b;
        return a == b ? a + b == 0 ? a + b : a : a != a ? a : larger;
      });
  }
}

constexpr VectorClass class_of(Arithmetic function) {
  return function == Arithmetic::divide ? VectorClass::special : VectorClass::simple;
}

}  // namespace daybreak::isa::detail
