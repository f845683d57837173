#include "sim/memory/port_dram.hpp"

#include <algorithm>

namespace daybreak::sim {

PortDram::PortDram(sc_core::sc_module_name name, MemoryPort& port, DramListener& listener)
    : sc_module(name), port_(port), listener_(listener) {
  SC_HAS_PROCESS(PortDram);
  SC_METHOD(run);
  sensitive << wake_.event();
  dont_initialize();
}

int PortDram::request(uint64_t address, uint64_t bytes, bool write, uint64_t owner, int64_t at) {
  pending_.push_back(
      {.at = at,
       .order = order_++,
       .burst = {
           .address = Address(address), .bytes = uint32_t(bytes), .write = write, .tag = owner}});
  std::push_heap(pending_.begin(), pending_.end());
  ++in_flight_;
  (write ? stats_.write_bytes : stats_.read_bytes) += int64_t(bytes);
  wake_.at(at);
  return 1;
}

void PortDram::run() {
  wake_.taken();
  const int64_t now = now_fs();
  batch_.clear();
  while (!pending_.empty() && pending_.front().at <= now) {
    std::pop_heap(pending_.begin(), pending_.end());
    batch_.push_back(pending_.back().burst);
    pending_.pop_back();
  }
  if (!pending_.empty()) wake_.at(pending_.front().at);
  if (!batch_.empty()) port_.submit(batch_, *this);
}

void PortDram::completed(std::span<const Completion> done) {
  in_flight_ -= int64_t(done.size());
  for (const Completion& c : done) {
    listener_.served(c.tag, c.at.value,
                     {.row = c.delay[traces::Cause::hbm_row],
                      .bandwidth = c.delay[traces::Cause::hbm_bandwidth],
                      .refresh = c.delay[traces::Cause::refresh]});
  }
}

}  // namespace daybreak::sim
