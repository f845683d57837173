#include "isa/instructions/scalar_work.hpp"

namespace daybreak::isa {

Work ScalarWork::work() const { return {.scalar_ops = operations}; }

// Time only.
void ScalarWork::execute(Context&) const {}

}  // namespace daybreak::isa
