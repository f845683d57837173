#include "isa/instructions/wait.hpp"

namespace daybreak::isa {

// The counter is the chip's: whoever runs the queues keeps it, there are no values to compute.
Work Wait::work() const { return {}; }
void Wait::execute(Context&) const {}

}  // namespace daybreak::isa
