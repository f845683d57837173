#include "traces/report/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "traces/event/atomic_file.hpp"

namespace daybreak::traces {

bool RunRecord::pass() const {
  return std::all_of(verdicts.begin(), verdicts.end(), [](const VerdictRow& v) { return v.pass; });
}

double floor_cycles(double work, double per_second, double clock_hz) {
  return work <= 0 ? 0 : work / per_second * clock_hz;
}

KernelRow kernel_row(const LaunchAccount& launch, const LaunchFacts& facts, const Peaks& peaks) {
  KernelRow row;
  row.kernel = facts.kernel.empty() ? launch.kernel : facts.kernel;
  row.launch = launch.launch;
  row.tasks = launch.tasks;
  row.cores = launch.cores;
  row.cycles = launch.cycles();
  row.microseconds = double(row.cycles) / peaks.clock_hz * 1e6;
  row.hbm_read_bytes = facts.hbm_read_bytes;
  row.hbm_write_bytes = facts.hbm_write_bytes;
  row.read_bytes = facts.read_bytes;
  row.write_bytes = facts.write_bytes;
  row.memory = facts.memory;
  row.useful_bytes = facts.useful_bytes;
  row.useful_flop = facts.useful_flop;
  row.hbm_floor_cycles =
      floor_cycles(double(facts.useful_bytes), peaks.hbm_bytes_per_second, peaks.clock_hz);
  const double matrix_flops = facts.matrix_flops > 0 ? facts.matrix_flops : peaks.flops;
  row.matrix_floor_cycles = floor_cycles(facts.useful_flop, matrix_flops, peaks.clock_hz);
  if (row.cycles > 0) {
    row.hbm_floor_share = row.hbm_floor_cycles / double(row.cycles);
    row.matrix_floor_share = row.matrix_floor_cycles / double(row.cycles);
    row.useful_share =
        floor_cycles(facts.useful_flop, peaks.flops, peaks.clock_hz) / double(row.cycles);
  }
  for (const KindAccount& kind : launch.kinds) {
    row.busy.push_back({std::string(kind.word()), kind.busy_share()});
    row.stalls.push_back({std::string(kind.word()), kind.units_ran, kind.ran});
  }
  row.top_stall = "none";
  if (const KindAccount* unit = launch.bounding()) {
    const Cause cause = top_stall(unit->ran);
    row.top_stall_unit = std::string(unit->word());
    if (cause != Cause::busy) {
      row.top_stall = std::string(name_of(cause));
      row.top_stall_share = double(unit->ran[size_t(cause)]) / double(total(unit->ran));
    }
  }
  row.waterfall = waterfall(launch, std::max(row.hbm_floor_cycles, row.matrix_floor_cycles));
  return row;
}

Totals totals(const std::vector<KernelRow>& rows, int64_t first, int64_t last, const Peaks& peaks) {
  Totals out;
  double hbm_floor = 0, matrix_floor = 0, flop = 0;
  for (const KernelRow& row : rows) {
    ++out.launches;
    out.tasks += row.tasks;
    out.hbm_bytes += row.hbm_read_bytes + row.hbm_write_bytes;
    hbm_floor += row.hbm_floor_cycles;
    matrix_floor += row.matrix_floor_cycles;
    flop += row.useful_flop;
  }
  out.cycles = last - first;
  out.microseconds = double(out.cycles) / peaks.clock_hz * 1e6;
  if (out.cycles > 0) {
    out.hbm_floor_share = hbm_floor / double(out.cycles);
    out.matrix_floor_share = matrix_floor / double(out.cycles);
    out.useful_share = floor_cycles(flop, peaks.flops, peaks.clock_hz) / double(out.cycles);
  }
  return out;
}

std::string content_hash(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ uint8_t(c)) * 0x100000001b3u;
  return fmt::format("{:016x}", hash);
}

double three_digits(double value) {
  if (!std::isfinite(value)) return value;
  const std::string text = fmt::format("{:.2e}", value);
  double out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

void write_record(const RunRecord& record, const std::string& folder) {
  write_file(folder + "/record.json", to_json(record));
}

}  // namespace daybreak::traces
