// Shape checks of the oracles: a shape that disagrees is a broken invariant of the caller.
#pragma once
#include <string>

#include "configs/reader/errors.hpp"

namespace daybreak::ref {

inline void require(bool holds, const char* sentence) {
  if (!holds) throw InvariantError(std::string("reference: ") + sentence);
}

}  // namespace daybreak::ref
