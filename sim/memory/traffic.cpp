#include "sim/memory/traffic.hpp"

#include <algorithm>
#include <cmath>
#include <systemc>

#include "sim/core/context.hpp"
#include "sim/memory/hbm.hpp"

namespace daybreak::sim {
namespace {

struct Seen {
  std::vector<int64_t> latencies;  // fs
  int64_t atoms = 0, useful = 0;
  int64_t submitted = 0, submitted_requests = 0;
};

// One stream: keeps its window full, or submits what arrives.
class Stream : public sc_core::sc_module, public MemoryClient {
 public:
  Stream(sc_core::sc_module_name name, HbmPort& port, TrafficSource& source, Seen& seen,
         int64_t atom, int64_t window, double mean_gap_fs, uint64_t seed)
      : sc_module(name),
        port_(port),
        source_(source),
        seen_(seen),
        atom_(uint64_t(atom)),
        window_(window),
        mean_gap_fs_(mean_gap_fs),
        random_(seed) {
    SC_HAS_PROCESS(Stream);
    SC_METHOD(arrivals);
    sensitive << wake_.event();
    held_ = source_.next();
  }
  int64_t left = INT64_MAX;  // objects still to send

  void completed(std::span<const Completion> done) override {
    for (const Completion& c : done) {
      const Sent& s = sent_[c.tag];
      in_flight_ -= s.atoms;
      seen_.atoms += s.atoms;
      seen_.useful += s.bytes;
      seen_.latencies.push_back(c.at.value - s.at);
      free_.push_back(c.tag);
    }
    if (mean_gap_fs_ == 0) fill();
  }

 private:
  struct Sent {
    int64_t at, atoms, bytes;
  };
  // The first call starts the loop.
  void arrivals() {
    wake_.taken();
    if (mean_gap_fs_ == 0) return fill();
    batch_.clear();
    for (; next_at_ <= now_fs(); next_at_ += gap()) take(next_at_);
    if (!batch_.empty()) port_.submit(batch_, *this);
    wake_.at(next_at_);
  }
  int64_t gap() {
    const double uniform = double((random_.next() >> 11) + 1) * 0x1p-53;  // (0, 1]
    return std::max<int64_t>(1, int64_t(-std::log(uniform) * mean_gap_fs_));
  }
  int64_t atoms_of(const Burst& b) const {
    return int64_t((b.address.value + b.bytes - 1) / atom_ - b.address.value / atom_) + 1;
  }
  void fill() {
    batch_.clear();
    while (left > 0 && (in_flight_ == 0 || in_flight_ + atoms_of(held_) <= window_)) take(now_fs());
    if (!batch_.empty()) port_.submit(batch_, *this);
  }
  void take(int64_t at) {
    if (free_.empty()) {
      free_.push_back(sent_.size());
      sent_.emplace_back();
    }
    held_.tag = free_.back();
    free_.pop_back();
    const int64_t atoms = atoms_of(held_);
    sent_[held_.tag] = {at, atoms, held_.bytes};
    in_flight_ += atoms;
    ++seen_.submitted;
    seen_.submitted_requests +=
        int64_t((held_.address.value + held_.bytes - 1) / 64 - held_.address.value / 64) + 1;
    batch_.push_back(held_);
    held_ = source_.next();
    --left;
  }

  HbmPort& port_;
  TrafficSource& source_;
  Seen& seen_;
  uint64_t atom_;
  int64_t window_;
  double mean_gap_fs_;
  SplitMix random_;
  Burst held_;
  int64_t in_flight_ = 0, next_at_ = 1;
  std::vector<Sent> sent_;
  std::vector<uint64_t> free_;
  std::vector<Burst> batch_;
  Wake wake_;
};

double at_rank(const std::vector<int64_t>& sorted, double share) {
  if (sorted.empty()) return 0;
  const size_t rank = size_t(std::ceil(share * double(sorted.size())));
  return double(sorted[std::min(sorted.size() - 1, rank == 0 ? 0 : rank - 1)]) * 1e-6;
}

void run_until(double us) {
  const auto target = sc_core::sc_time::from_value(uint64_t(us * 1e9));
  sc_core::sc_start(target - sc_core::sc_time_stamp(), sc_core::SC_RUN_TO_TIME);
}

}  // namespace

TrafficResult run_traffic(const HbmConfig& hbm, std::vector<std::unique_ptr<TrafficSource>> sources,
                          const TrafficPlan& plan, uint64_t seed) {
  const SystemContext context;
  HbmPort port("dram", hbm);
  const double peak = double(hbm.stacks * hbm.channels * hbm.pseudo_channels * hbm.atom) /
                      (double(hbm.burst) * hbm.tck * 1e-9);
  Seen seen;
  std::vector<std::unique_ptr<Stream>> streams;
  const int64_t count = int64_t(sources.size());
  for (int64_t i = 0; i < count; ++i) {
    const double object = plan.load > 0 ? double(sources[i]->next().bytes) : 1;
    const double gap = plan.load > 0 ? object / (plan.load * peak) * 1e15 * double(count) : 0;
    const std::string name = "stream" + std::to_string(i);
    streams.push_back(std::make_unique<Stream>(name.c_str(), port, *sources[i], seen, hbm.atom,
                                               plan.window_atoms / count, gap,
                                               seed * 1000 + uint64_t(i)));
    if (plan.objects > 0) streams.back()->left = plan.objects / count;
  }
  const double warm = plan.objects > 0 ? 0 : plan.warm_us;
  run_until(warm);
  const HbmStats before = port.hbm().stats();
  seen.latencies.clear();
  seen.atoms = seen.useful = 0;
  if (plan.objects > 0) {
    while (sc_core::sc_pending_activity())
      sc_core::sc_start(sc_core::sc_time_to_pending_activity());
  } else {
    run_until(warm + plan.measured_us);
  }

  const double us = double(now_fs()) * 1e-9 - warm, seconds = us * 1e-6;
  const HbmStats after = port.hbm().stats();
  TrafficResult out;
  out.us = us;
  out.objects = double(seen.latencies.size());
  out.requests = seen.submitted_requests;
  out.peak_share = double(seen.atoms * hbm.atom) / seconds / peak;
  out.bytes_per_second = double(seen.useful) / seconds;
  out.useful_share = out.bytes_per_second / peak;
  const double hits = double(after.row_hits - before.row_hits);
  const double misses = double(after.row_misses - before.row_misses) +
                        double(after.row_conflicts - before.row_conflicts);
  out.row_hit_share = hits + misses > 0 ? hits / (hits + misses) : 0;
  double sum = 0;
  for (int64_t l : seen.latencies) sum += double(l);
  out.mean_ns = sum / std::max(1.0, out.objects) * 1e-6;
  out.in_flight = sum * 1e-15 / seconds;
  std::sort(seen.latencies.begin(), seen.latencies.end());
  out.p50_ns = at_rank(seen.latencies, 0.5);
  out.p95_ns = at_rank(seen.latencies, 0.95);
  out.p99_ns = at_rank(seen.latencies, 0.99);
  return out;
}

}  // namespace daybreak::sim
