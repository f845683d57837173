// Refresh of a channel: due times lie on a fixed grid; what fell due since the last look is applied
// in one step (see hbm_channel.hpp).
#include <algorithm>

#include "sim/memory/hbm_channel.hpp"

namespace daybreak::sim {
namespace {

// Refreshes that fell due long ago only count: the last two decide what is open and what is busy.
void skip_missed(int64_t& due, int64_t now, int64_t refi, int64_t& refreshes) {
  const int64_t missed = (now - due) / refi - 1;
  if (missed <= 0) return;
  due += missed * refi;
  refreshes += missed;
}

}  // namespace

void HbmChannel::refresh_bank(uint32_t b, int64_t now) {
  HbmBank& bank = banks_[b];
  skip_missed(bank.refresh_due, now, t_.refi, s_.stats.refreshes);
  while (bank.refresh_due <= now) {
    int64_t begin = std::max(bank.refresh_due, bank.act_ok);
    if (bank.open >= 0) {
      const int64_t pre = std::max(bank.refresh_due, bank.pre_ok);
      log(HbmCommand::Kind::precharge, b, bank.open, pre, true);
      begin = std::max(begin, pre + t_.rp);
      bank.open = -1;
    }
    log(HbmCommand::Kind::refresh, b, 0, begin);
    ++s_.stats.refreshes;
    bank.refresh_begin = bank.refresh_due;
    bank.refresh_end = bank.act_ok = begin + t_.rfc_pb;
    bank.refresh_due += t_.refi;
  }
}

void HbmChannel::refresh_all(int p, int64_t now) {
  const uint32_t count = uint32_t(s_.geometry.banks_of_pc()), first = uint32_t(p) * count;
  int64_t due = banks_[first].refresh_due;
  skip_missed(due, now, t_.refi, s_.stats.refreshes);
  while (due <= now) {
    int64_t begin = due;
    for (uint32_t b = first; b < first + count; ++b) {
      HbmBank& bank = banks_[b];
      if (bank.open >= 0) {
        const int64_t pre = std::max(due, bank.pre_ok);
        log(HbmCommand::Kind::precharge, b, bank.open, pre, true);
        bank.act_ok = std::max(bank.act_ok, pre + t_.rp);
        bank.open = -1;
      }
      begin = std::max(begin, bank.act_ok);
    }
    log(HbmCommand::Kind::refresh, first, 0, begin);
    ++s_.stats.refreshes;
    for (uint32_t b = first; b < first + count; ++b) {
      banks_[b].refresh_begin = due;
      banks_[b].refresh_end = banks_[b].act_ok = begin + t_.rfc_ab;
      banks_[b].refresh_due = due + t_.refi;
    }
    due += t_.refi;
  }
}

}  // namespace daybreak::sim
