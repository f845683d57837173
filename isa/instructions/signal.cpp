#include "isa/instructions/signal.hpp"

namespace daybreak::isa {

// The counter is the chip's: whoever runs the queues keeps it, there are no values to compute.
Work Signal::work() const { return {}; }
void Signal::execute(Context&) const {}

}  // namespace daybreak::isa
