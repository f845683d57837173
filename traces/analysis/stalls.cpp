#include "traces/analysis/stalls.hpp"

#include <fmt/format.h>

#include <numeric>

#include "configs/reader/errors.hpp"

namespace daybreak::traces {

int64_t total(const CauseCycles& c) { return std::accumulate(c.begin(), c.end(), int64_t{0}); }

int64_t busy(const CauseCycles& c) { return c[size_t(Cause::busy)]; }

Cause top_stall(const CauseCycles& c) {
  size_t top = size_t(Cause::busy);
  for (size_t i = 0; i < c.size(); ++i) {
    if (i == size_t(Cause::busy) || c[i] == 0) continue;
    if (top == size_t(Cause::busy) || c[i] > c[top]) top = i;
  }
  return Cause(top);
}

bool is_data_stall(Cause cause) {
  switch (cause) {
    case Cause::operand_bank:
    case Cause::noc:
    case Cause::l2_miss:
    case Cause::tlb_walk:
    case Cause::outstanding:
    case Cause::hbm_row:
    case Cause::hbm_bandwidth:
    case Cause::refresh:
    case Cause::convert_lanes:
    case Cause::scale_miss: return true;
    default: return false;
  }
}

std::string_view KindAccount::word() const {
  const size_t dot = kind.rfind('.');
  return dot == std::string::npos ? std::string_view(kind) : std::string_view(kind).substr(dot + 1);
}

double KindAccount::busy_share() const {
  const int64_t all_cycles = total(ran);
  return all_cycles == 0 ? 0 : double(busy(ran)) / double(all_cycles);
}

const KindAccount* LaunchAccount::kind(std::string_view word) const {
  for (const KindAccount& k : kinds)
    if (k.word() == word) return &k;
  return nullptr;
}

const KindAccount* LaunchAccount::bounding() const {
  const KindAccount* best = nullptr;
  double best_share = -1;
  for (const KindAccount& k : kinds) {
    int64_t held = 0;
    for (size_t i = 0; i < k.ran.size(); ++i)
      if (Cause(i) == Cause::busy || is_data_stall(Cause(i))) held += k.ran[i];
    const int64_t time = total(k.ran);
    const double share = time == 0 ? 0 : double(held) / double(time);
    if (share > best_share) best = &k, best_share = share;
  }
  return best;
}

void StallAccount::unit(const UnitInfo& info) {
  if (info.id < 0)
    throw InvariantError(fmt::format("{}: unit id {} is negative", info.path, info.id));
  if (size_t(info.id) >= index_.size()) index_.resize(size_t(info.id) + 1, -1);
  if (index_[size_t(info.id)] >= 0)
    throw InvariantError(fmt::format("{}: unit id {} was announced twice", info.path, info.id));
  index_[size_t(info.id)] = int32_t(units_.size());
  units_.push_back(info);
  totals_.push_back({});
  reached_.push_back(0);
}

size_t StallAccount::index_of(int32_t unit) const {
  if (unit < 0 || size_t(unit) >= index_.size() || index_[size_t(unit)] < 0)
    throw InvariantError(fmt::format("unit id {} was never announced", unit));
  return size_t(index_[size_t(unit)]);
}

void StallAccount::span(const UnitSpan& s) {
  const size_t i = index_of(s.unit);
  if (s.begin != reached_[i] || s.end < s.begin)
    throw InvariantError(fmt::format("cycle {}: {}: span [{}, {}) does not continue at {}", s.begin,
                                     units_[i].path, s.begin, s.end, reached_[i]));
  if (size_t(s.cause) >= size_t(kCauses))
    throw InvariantError(
        fmt::format("cycle {}: {}: unknown cause {}", s.begin, units_[i].path, int(s.cause)));
  reached_[i] = s.end;
  const int64_t cycles = s.end - s.begin;
  totals_[i][size_t(s.cause)] += cycles;
  if (s.launch == kNone || cycles == 0) return;
  PerLaunch& launch = launches_[s.launch];
  if (launch.units.size() < units_.size()) launch.units.resize(units_.size());
  launch.units[i][size_t(s.cause)] += cycles;
  if (s.cause != Cause::busy && s.waits_for != kNone)
    launch.waits[{int32_t(i), int32_t(index_of(int32_t(s.waits_for)))}] += cycles;
}

void StallAccount::task(const TaskEvent& t) {
  PerLaunch& launch = launches_[t.launch];
  ++launch.tasks;
  launch.cores.insert(t.core);
}

void StallAccount::launch(const LaunchEvent& l) {
  PerLaunch& launch = launches_[l.launch];
  launch.kernel = std::string(l.kernel);
  launch.event = l;
  launch.event.kernel = {};
}

void StallAccount::end(int64_t cycles) {
  for (size_t i = 0; i < units_.size(); ++i)
    if (reached_[i] != cycles)
      throw InvariantError(fmt::format("cycle {}: {}: its spans end at {}, the run at {}",
                                       reached_[i], units_[i].path, reached_[i], cycles));
  cycles_ = cycles;
  ended_ = true;
}

const CauseCycles& StallAccount::unit_cycles(int32_t unit) const { return totals_[index_of(unit)]; }

LaunchAccount StallAccount::account(int64_t number, const PerLaunch& p) const {
  LaunchAccount out;
  out.launch = number;
  out.kernel = p.kernel;
  out.tasks = p.tasks;
  out.cores = int64_t(p.cores.size());
  out.ready = p.event.ready;
  out.started = p.event.started;
  out.ended = p.event.ended;
  std::map<std::string, size_t> place;
  std::vector<int32_t> kind_of(units_.size(), -1);
  for (size_t i = 0; i < units_.size(); ++i) {
    if (units_[i].core < 0) continue;
    const auto [at, fresh] = place.try_emplace(units_[i].kind, out.kinds.size());
    if (fresh) {
      out.kinds.emplace_back();
      out.kinds.back().kind = units_[i].kind;
    }
    kind_of[i] = int32_t(at->second);
    KindAccount& kind = out.kinds[at->second];
    const bool ran = p.cores.contains(units_[i].core);
    ++kind.units;
    kind.units_ran += ran;
    if (i >= p.units.size()) continue;
    for (size_t c = 0; c < size_t(kCauses); ++c) {
      kind.all[c] += p.units[i][c];
      if (ran) kind.ran[c] += p.units[i][c];
    }
  }
  for (const auto& [pair, cycles] : p.waits) {
    const size_t from = size_t(pair.first);
    if (kind_of[from] >= 0 && p.cores.contains(units_[from].core))
      out.kinds[size_t(kind_of[from])].waits_for[units_[size_t(pair.second)].kind] += cycles;
  }
  return out;
}

std::vector<LaunchAccount> StallAccount::launches() const {
  if (!ended_) throw InvariantError("the accounting was read before the run had ended");
  std::vector<LaunchAccount> out;
  for (const auto& [number, launch] : launches_) out.push_back(account(number, launch));
  return out;
}

LaunchAccount StallAccount::launch_account(int64_t launch) const {
  if (!ended_) throw InvariantError("the accounting was read before the run had ended");
  const auto at = launches_.find(launch);
  if (at == launches_.end())
    throw InvariantError(fmt::format("launch {} has no accounting: it never ran", launch));
  return account(launch, at->second);
}

}  // namespace daybreak::traces
