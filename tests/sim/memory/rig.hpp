// What the memory tests share: a fresh SystemC context, clients that keep a window of requests in
// flight, access patterns of memory.md section 2.
#pragma once
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <systemc>
#include <vector>

#include <gtest/gtest.h>

#include "ref/numeric/random.hpp"
#include "sim/chip/config_hbm.hpp"
#include "sim/memory/hbm.hpp"
#include "sim/memory/memory_system.hpp"

namespace daybreak::sim::test {

// A SystemC world of its own, 1 fs resolution. Build modules after it, destroy them before it.
class World {
 public:
  World() {
    context_ = new sc_core::sc_simcontext;
    sc_core::sc_curr_simcontext = sc_core::sc_default_global_context = context_;
    sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
    sc_core::sc_report_handler::set_actions(sc_core::SC_ID_NO_SC_START_ACTIVITY_,
                                            sc_core::SC_DO_NOTHING);
  }
  ~World() {
    sc_core::sc_curr_simcontext = sc_core::sc_default_global_context = nullptr;
    delete context_;
  }
  World(const World&) = delete;

  static int64_t now() { return int64_t(sc_core::sc_time_stamp().value()); }
  static void run_for(int64_t fs) {
    sc_core::sc_start(sc_core::sc_time::from_value(uint64_t(fs)), sc_core::SC_RUN_TO_TIME);
  }
  // Until nothing is pending.
  static void run_all() {
    while (sc_core::sc_pending_activity())
      sc_core::sc_start(sc_core::sc_time_to_pending_activity());
  }

 private:
  sc_core::sc_simcontext* context_;
};

// Small random integers, repeatable.
struct Dice {
  uint64_t seed, n = 0;
  int64_t operator()(int64_t low, int64_t high) {
    return low + int64_t(numeric::below(numeric::mix(seed, 3, n++), uint64_t(high - low + 1)));
  }
  template <class T> T pick(std::initializer_list<T> from) {
    return *(from.begin() + (*this)(0, int64_t(from.size()) - 1));
  }
};

// Remembers everything it is told.
struct Recorder : MemoryClient {
  std::vector<Completion> got;
  void completed(std::span<const Completion> done) override {
    for (const Completion& c : done) {
      EXPECT_EQ(c.at.value, World::now());
      got.push_back(c);
    }
  }
};

// Endless bursts: next() says what comes; `window` bytes at most are in flight (one burst at
// least).
class Loop : public MemoryClient {
 public:
  Loop(MemoryPort& port, int64_t window, std::function<Burst()> next)
      : port_(port), window_(window), next_(std::move(next)) {}

  void start() { fill(); }
  void stop() { stopped_ = true; }
  void completed(std::span<const Completion> done) override {
    for (const Completion& c : done) {
      const Sent& s = sent_[c.tag];
      in_flight_ -= s.bytes;
      bytes += s.bytes;
      ++bursts;
      latency_fs += c.at.value - s.at;
      free_.push_back(c.tag);
    }
    if (!stopped_) fill();
  }

  int64_t bytes = 0, bursts = 0;
  int64_t latency_fs = 0;  // summed
  int64_t in_flight() const { return in_flight_; }

 private:
  struct Sent {
    int64_t at, bytes;
  };
  void fill() {
    batch_.clear();
    for (;;) {
      if (!held_) {
        pending_ = next_();
        held_ = true;
      }
      if (in_flight_ > 0 && in_flight_ + pending_.bytes > window_) break;
      held_ = false;
      in_flight_ += pending_.bytes;
      if (free_.empty()) {
        free_.push_back(sent_.size());
        sent_.emplace_back();
      }
      pending_.tag = free_.back();
      free_.pop_back();
      sent_[pending_.tag] = {World::now(), pending_.bytes};
      batch_.push_back(pending_);
    }
    if (!batch_.empty()) port_.submit(batch_, *this);
  }
  MemoryPort& port_;
  int64_t window_;
  std::function<Burst()> next_;
  Burst pending_;
  bool held_ = false, stopped_ = false;
  int64_t in_flight_ = 0;
  std::vector<Sent> sent_;
  std::vector<uint64_t> free_;
  std::vector<Burst> batch_;
};

inline HbmConfig preset(const char* name, int64_t stacks = 1) {
  HbmConfig hbm = ChipConfig().hbm;
  EXPECT_TRUE(apply_hbm_preset(hbm, name));
  hbm.stacks = stacks;
  hbm.queue = 128;
  return hbm;
}

// 64 B reads one after the other from `base` on, `span` bytes, then again.
inline std::function<Burst()> sequential(uint64_t base, uint64_t span, uint32_t bytes = 64) {
  return [=, at = uint64_t{0}]() mutable {
    const Burst burst{.address = Address(base + at), .bytes = bytes};
    at = (at + bytes) % span;
    return burst;
  };
}

// Objects of `bytes` bytes at random multiples of it, all whole atoms fetched.
inline std::function<Burst()> random_rows(uint64_t span, uint32_t bytes, uint64_t seed,
                                          uint32_t atom) {
  return [=, index = uint64_t{0}]() mutable {
    const uint64_t at = numeric::below(numeric::mix(seed, 7, index++), span / bytes) * bytes;
    const uint64_t first = at / atom * atom, end = (at + bytes + atom - 1) / atom * atom;
    return Burst{.address = Address(first), .bytes = uint32_t(end - first)};
  };
}

// Bytes per second of one loop on the DRAM alone, after a warm-up.
struct Rate {
  double bytes_per_second = 0, latency_ns = 0, in_flight = 0;
  HbmStats stats;
};
inline Rate measure_hbm(const HbmConfig& hbm, std::function<Burst()> next, int64_t window,
                        double warm_us = 4, double measured_us = 31.2,
                        std::vector<HbmCommand>* log = nullptr) {
  World world;
  HbmPort port("dram", hbm);
  if (log) {
    for (int s = 0; s < port.hbm().stacks(); ++s) port.hbm().stack(s).log_commands(log);
  }
  Loop loop(port, window, std::move(next));
  World::run_for(0);
  loop.start();
  World::run_for(int64_t(warm_us * 1e9));
  const int64_t bytes = loop.bytes, bursts = loop.bursts, latency = loop.latency_fs;
  const HbmStats before = port.hbm().stats();
  World::run_for(int64_t(measured_us * 1e9));
  Rate rate;
  rate.bytes_per_second = double(loop.bytes - bytes) / (measured_us * 1e-6);
  rate.latency_ns = double(loop.latency_fs - latency) / double(loop.bursts - bursts) * 1e-6;
  rate.in_flight = double(window);
  rate.stats = port.hbm().stats();
  rate.stats.refreshes -= before.refreshes;
  rate.stats.activates -= before.activates;
  return rate;
}

inline double peak(const HbmConfig& h) {
  return double(h.stacks * h.channels * h.pseudo_channels * h.atom) /
         (double(h.burst) * h.tck * 1e-9);
}
// memory.md: 128 atoms outstanding per pseudo-channel.
inline int64_t usual_window(const HbmConfig& h) {
  return 128 * h.atom * h.stacks * h.channels * h.pseudo_channels;
}

}  // namespace daybreak::sim::test
