#include "isa/instructions/fill.hpp"

#include <algorithm>

#include "isa/instructions/detail/words.hpp"

namespace daybreak::isa {

Work Fill::work() const {
  Work w;
  detail::elements(w, VectorClass::simple) = to.elements();
  detail::add_operand_work(*this, w);
  return w;
}

void Fill::execute(Context& c) const {
  if (to.format == Format::i32) {
    const detail::Words rows(c, to, kName);
    for (int64_t r = 0; r < to.rows; ++r) std::fill_n(rows.row(r), to.cols, int32_t(value));
    return;
  }
  detail::elementwise(c, kName, to, [v = value] { return v; });
}

}  // namespace daybreak::isa
