// An outside DRAM model as a memory port: bursts become TLM-2.0 transactions (AT, 4-phase base
// protocol) of at most `chunk` bytes, each on the socket of its channel, one BEGIN_REQ per socket
// until its END_REQ. A burst completes with the response of its last transaction.
//
// The contract is memory.md's: payloads with a memory manager, lengths that are whole bursts inside
// one channel, one initiator per channel.
#pragma once
#include <tlm_utils/simple_initiator_socket.h>
#include <deque>
#include <functional>
#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "sim/memory/delivery.hpp"
#include "sim/memory/port.hpp"
#include "sim/memory/wake.hpp"

namespace daybreak::sim {

struct TlmLayout {
  int64_t chunk = 64;  // transactions do not cross a multiple of it
  int64_t atom = 32;   // they start and end on a multiple of it
  int channels = 1;
  // The channel of a chunk's address; channel 0 without it.
  std::function<int(uint64_t)> channel_of = {};
};

class TlmInitiator : public sc_core::sc_module, public MemoryPort {
 public:
  TlmInitiator(sc_core::sc_module_name, TlmLayout);
  ~TlmInitiator() override;
  using Socket = tlm_utils::simple_initiator_socket_tagged<TlmInitiator>;
  Socket& socket(int channel) { return *channels_[channel]->socket; }
  void submit(std::span<const Burst>, MemoryClient&) override;

 private:
  using Payload = tlm::tlm_generic_payload;
  struct Channel {
    std::unique_ptr<Socket> socket;
    std::deque<Payload*> waiting;
    Payload* requesting = nullptr;  // between BEGIN_REQ and END_REQ
  };
  struct Transfer {
    MemoryClient* client = nullptr;
    uint64_t tag = 0;
    int32_t pieces = 0, next = -1;
    int64_t at = 0;
  };
  class Pool;
  tlm::tlm_sync_enum backward(int channel, Payload&, tlm::tlm_phase&, sc_core::sc_time&);
  void send(int channel);
  void responded(Payload&, int64_t at);
  void run();

  TlmLayout layout_;
  std::unique_ptr<Pool> pool_;
  std::vector<std::unique_ptr<Channel>> channels_;
  std::vector<Transfer> transfers_;
  int32_t free_ = -1;
  std::vector<std::pair<int64_t, int32_t>> done_;  // heap by time
  Delivery delivery_;
  Wake wake_;
};

}  // namespace daybreak::sim
