#include "sim/memory/tlm_initiator.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "configs/reader/errors.hpp"

namespace daybreak::sim {

// Payloads come back to their pool when the last one who acquired them lets go. Each has room for
// the data of the largest transaction: we carry no values, but targets may read and write them.
class TlmInitiator::Pool : public tlm::tlm_mm_interface {
 public:
  struct Owner : tlm::tlm_extension<Owner> {
    int32_t transfer = -1;
    std::vector<unsigned char> data;
    tlm_extension_base* clone() const override { return new Owner(*this); }
    void copy_from(const tlm_extension_base& o) override { *this = static_cast<const Owner&>(o); }
  };
  explicit Pool(int64_t largest) : largest_(largest) {}
  ~Pool() override {
    for (Payload* p : all_) delete p;  // with its extension
  }
  Payload& take() {
    if (free_.empty()) {
      auto* p = new Payload(this);
      auto* owner = new Owner;
      owner->data.resize(size_t(largest_));
      p->set_extension(owner);
      p->set_data_ptr(owner->data.data());
      all_.push_back(p);
      free_.push_back(p);
    }
    Payload* p = free_.back();
    free_.pop_back();
    p->acquire();
    return *p;
  }
  void free(Payload* p) override { free_.push_back(p); }
  static Owner& owner(Payload& p) { return *p.get_extension<Owner>(); }

 private:
  int64_t largest_;
  std::vector<Payload*> all_, free_;
};

TlmInitiator::TlmInitiator(sc_core::sc_module_name name, TlmLayout layout)
    : sc_module(name), layout_(std::move(layout)), pool_(std::make_unique<Pool>(layout_.chunk)) {
  for (int c = 0; c < layout_.channels; ++c) {
    auto channel = std::make_unique<Channel>();
    channel->socket = std::make_unique<Socket>(fmt::format("socket{}", c).c_str());
    channel->socket->register_nb_transport_bw(this, &TlmInitiator::backward, c);
    channels_.push_back(std::move(channel));
  }
  SC_HAS_PROCESS(TlmInitiator);
  SC_METHOD(run);
  sensitive << wake_.event();
  dont_initialize();
}

TlmInitiator::~TlmInitiator() = default;

void TlmInitiator::submit(std::span<const Burst> bursts, MemoryClient& client) {
  const uint64_t chunk = uint64_t(layout_.chunk), atom = uint64_t(layout_.atom);
  for (const Burst& burst : bursts) {
    if (burst.bytes == 0) throw InvariantError(fmt::format("{}: a burst of 0 bytes", name()));
    int32_t index = free_;
    if (index >= 0) {
      free_ = transfers_[index].next;
    } else {
      index = int32_t(transfers_.size());
      transfers_.emplace_back();
    }
    transfers_[index] = {.client = &client, .tag = burst.tag};
    const uint64_t end = (burst.address.value + burst.bytes + atom - 1) / atom * atom;
    for (uint64_t at = burst.address.value / atom * atom; at < end;) {
      const uint64_t stop = std::min(end, (at / chunk + 1) * chunk);
      Payload& p = pool_->take();
      p.set_address(at);
      p.set_data_length(unsigned(stop - at));
      p.set_streaming_width(unsigned(stop - at));
      p.set_command(burst.write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
      p.set_byte_enable_ptr(nullptr);
      p.set_dmi_allowed(false);
      p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
      Pool::owner(p).transfer = index;
      ++transfers_[index].pieces;
      channels_[layout_.channel_of ? layout_.channel_of(at) : 0]->waiting.push_back(&p);
      at = stop;
    }
  }
  for (int c = 0; c < layout_.channels; ++c) send(c);
}

void TlmInitiator::send(int c) {
  Channel& channel = *channels_[c];
  while (!channel.requesting && !channel.waiting.empty()) {
    Payload& p = *channel.waiting.front();
    channel.waiting.pop_front();
    channel.requesting = &p;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    const tlm::tlm_sync_enum answer = (*channel.socket)->nb_transport_fw(p, phase, delay);
    if (answer == tlm::TLM_ACCEPTED) return;
    channel.requesting = nullptr;
    if (answer == tlm::TLM_COMPLETED || phase == tlm::BEGIN_RESP)
      responded(p, now_fs() + int64_t(delay.value()));
  }
}

tlm::tlm_sync_enum TlmInitiator::backward(int c, Payload& p, tlm::tlm_phase& phase,
                                          sc_core::sc_time& delay) {
  Channel& channel = *channels_[c];
  if (phase == tlm::END_REQ) {
    channel.requesting = nullptr;
    send(c);
    return tlm::TLM_ACCEPTED;
  }
  if (phase != tlm::BEGIN_RESP)
    throw InvariantError(
        fmt::format("{} fs {}: a phase that an initiator does not take", now_fs(), name()));
  const bool accepted = channel.requesting == &p;  // BEGIN_RESP may stand for END_REQ too
  responded(p, now_fs() + int64_t(delay.value()));
  phase = tlm::END_RESP;
  if (accepted) {
    channel.requesting = nullptr;
    send(c);
  }
  return tlm::TLM_COMPLETED;
}

void TlmInitiator::responded(Payload& p, int64_t at) {
  if (p.is_response_error())
    throw InvariantError(fmt::format("{} fs {}: the memory answered address {} with {}", now_fs(),
                                     name(), p.get_address(), p.get_response_string()));
  const int32_t index = Pool::owner(p).transfer;
  p.release();
  Transfer& transfer = transfers_[index];
  transfer.at = std::max(transfer.at, at);
  if (--transfer.pieces > 0) return;
  done_.push_back({transfer.at, index});
  std::push_heap(done_.begin(), done_.end(), std::greater<>());
  wake_.at(done_.front().first);
}

void TlmInitiator::run() {
  wake_.taken();
  const int64_t now = now_fs();
  while (!done_.empty() && done_.front().first <= now) {
    std::pop_heap(done_.begin(), done_.end(), std::greater<>());
    const int32_t index = done_.back().second;
    done_.pop_back();
    Transfer& t = transfers_[index];
    delivery_.add(t.client, {.tag = t.tag, .at = Femtoseconds(now), .l2_hit = false, .delay = {}});
    t.next = free_;
    free_ = index;
  }
  if (!done_.empty()) wake_.at(done_.front().first);
  delivery_.deliver();
}

}  // namespace daybreak::sim
