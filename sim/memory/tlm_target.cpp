#include "sim/memory/tlm_target.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "configs/reader/errors.hpp"

namespace daybreak::sim {

TlmTarget::TlmTarget(sc_core::sc_module_name name, MemoryPort& port, int64_t outstanding,
                     isa::MemoryImage* image)
    : sc_module(name), socket("socket"), port_(port), outstanding_(outstanding), image_(image) {
  socket.register_nb_transport_fw(this, &TlmTarget::forward);
  SC_HAS_PROCESS(TlmTarget);
  SC_METHOD(run);
  sensitive << wake_.event();
  dont_initialize();
}

void TlmTarget::fail(const Payload& p, const char* why) const {
  throw InvariantError(fmt::format("{} fs {}: a transaction of {} B at address {} {}", now_fs(),
                                   name(), p.get_data_length(), p.get_address(), why));
}

tlm::tlm_sync_enum TlmTarget::forward(Payload& p, Phase& phase, sc_core::sc_time& delay) {
  if (phase == tlm::END_RESP) {
    responding_ = false;
    if (delay == sc_core::SC_ZERO_TIME) {
      respond();
    } else {
      wake_.at(now_fs() + int64_t(delay.value()));
    }
    return tlm::TLM_COMPLETED;
  }
  if (phase != tlm::BEGIN_REQ) fail(p, "came in a phase that a target does not take");
  if (p.get_data_length() == 0) fail(p, "is empty");
  if (p.get_command() == tlm::TLM_IGNORE_COMMAND) fail(p, "neither reads nor writes");
  if (held_) fail(p, "came before END_REQ of the one before");
  p.acquire();
  const int64_t at = now_fs() + int64_t(delay.value());
  if (at > now_fs()) {
    // Annotations of one initiator may not be in order.
    auto place = late_.end();
    while (place != late_.begin() && (place - 1)->at > at) --place;
    late_.insert(place, {at, &p});
    wake_.at(late_.front().at);
  } else {
    submit(p);
  }
  if (in_flight_ + int64_t(late_.size()) >= outstanding_) {
    held_ = &p;
    return tlm::TLM_ACCEPTED;
  }
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

void TlmTarget::submit(Payload& p) {
  if (free_.empty()) {
    free_.push_back(slots_.size());
    slots_.push_back(nullptr);
  }
  const uint64_t slot = free_.back();
  free_.pop_back();
  slots_[slot] = &p;
  ++in_flight_;
  const Burst burst{.address = Address(p.get_address()),
                    .bytes = p.get_data_length(),
                    .write = p.get_command() == tlm::TLM_WRITE_COMMAND,
                    .tag = slot};
  port_.submit(std::span(&burst, 1), *this);
}

void TlmTarget::completed(std::span<const Completion> done) {
  for (const Completion& c : done) {
    Payload& p = *slots_[c.tag];
    free_.push_back(c.tag);
    --in_flight_;
    if (image_) {
      auto* data = reinterpret_cast<std::byte*>(p.get_data_ptr());
      if (p.get_command() == tlm::TLM_READ_COMMAND) {
        image_->read(Address(p.get_address()), std::span(data, p.get_data_length()));
      } else {
        image_->write(Address(p.get_address()),
                      std::span<const std::byte>(data, p.get_data_length()));
      }
    }
    p.set_response_status(tlm::TLM_OK_RESPONSE);
    answers_.push_back(&p);
  }
  if (held_ && in_flight_ + int64_t(late_.size()) < outstanding_) {
    Payload& p = *held_;
    held_ = nullptr;
    // BEGIN_RESP of the same transaction stands for its END_REQ.
    if (std::find(answers_.begin(), answers_.end(), &p) == answers_.end()) {
      Phase phase = tlm::END_REQ;
      sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
      socket->nb_transport_bw(p, phase, delay);
    }
  }
  respond();
}

void TlmTarget::respond() {
  while (!responding_ && !answers_.empty()) {
    Payload& p = *answers_.front();
    answers_.pop_front();
    responding_ = true;
    Phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    const tlm::tlm_sync_enum answer = socket->nb_transport_bw(p, phase, delay);
    if (answer == tlm::TLM_COMPLETED || (answer == tlm::TLM_UPDATED && phase == tlm::END_RESP))
      responding_ = false;
    p.release();
  }
}

void TlmTarget::run() {
  wake_.taken();
  while (!late_.empty() && late_.front().at <= now_fs()) {
    Payload& p = *late_.front().payload;
    late_.pop_front();
    submit(p);
  }
  if (!late_.empty()) wake_.at(late_.front().at);
  respond();
}

}  // namespace daybreak::sim
