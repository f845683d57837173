// Any memory port as a TLM-2.0 target (AT, 4-phase base protocol), so that another SystemC model
// can use ours. END_REQ is given at once while fewer than `outstanding` transactions are in flight,
// later otherwise: that is the back-pressure. Completion times are the port's own; one response at
// a time is on the socket, as the base protocol wants. Timing only, unless a memory image is given:
// then reads fill the payload's data and writes store them, at completion.
#pragma once
#include <tlm_utils/simple_target_socket.h>
#include <deque>
#include <systemc>
#include <tlm>
#include <vector>

#include "isa/memory/image.hpp"
#include "sim/memory/port.hpp"
#include "sim/memory/wake.hpp"

namespace daybreak::sim {

class TlmTarget : public sc_core::sc_module, private MemoryClient {
 public:
  TlmTarget(sc_core::sc_module_name, MemoryPort&, int64_t outstanding = 1024,
            isa::MemoryImage* image = nullptr);
  tlm_utils::simple_target_socket<TlmTarget> socket;

 private:
  using Payload = tlm::tlm_generic_payload;
  using Phase = tlm::tlm_phase;
  tlm::tlm_sync_enum forward(Payload&, Phase&, sc_core::sc_time& delay);
  void completed(std::span<const Completion>) override;
  void submit(Payload&);
  void respond();
  void run();
  void fail(const Payload&, const char* why) const;

  MemoryPort& port_;
  int64_t outstanding_, in_flight_ = 0;
  isa::MemoryImage* image_;
  std::vector<Payload*> slots_;
  std::vector<uint64_t> free_;
  Payload* held_ = nullptr;  // its END_REQ is still owed
  struct Late {
    int64_t at;
    Payload* payload;
  };
  std::deque<Late> late_;         // BEGIN_REQ with a timing annotation, by time
  std::deque<Payload*> answers_;  // completed, BEGIN_RESP still owed
  bool responding_ = false;
  Wake wake_;
};

}  // namespace daybreak::sim
