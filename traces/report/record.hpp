// What a run leaves: one RunRecord, written as JSON. Same inputs give the same bytes, so it holds
// no path, time or host; keys come in the order of the members; errors are kept to 3 digits.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "traces/analysis/stalls.hpp"
#include "traces/report/waterfall.hpp"

namespace daybreak::traces {

// One input of the run: {"hidden_size", "7168"}. Values are text, as they are printed.
struct Fact {
  std::string name, value;
};

// A value that no input stated, and where it was taken from.
struct Assumed {
  std::string what, value, source;
};

struct Metric {
  std::string name;
  double value = 0;
};

// One comparison or claim. `worst` tells where it was worst, with got and wanted; may be empty.
struct VerdictRow {
  std::string name;
  bool pass = false;
  std::vector<Metric> metrics = {};
  std::string tolerance = {}, worst = {};
};

struct BusyShare {
  std::string unit;
  double share = 0;
};  // 0 to 1
struct UnitStalls {
  std::string unit;
  int64_t units = 0;
  CauseCycles cycles{};
};

// Look-ups of a launch in what stands between cores and HBM. Conflicts are misses behind another row.
struct MemoryCounts {
  int64_t row_hits = 0, row_misses = 0, row_conflicts = 0;
  int64_t l2_hits = 0, l2_misses = 0, tlb_hits = 0, tlb_misses = 0;
  int64_t scale_hits = 0, scale_misses = 0;
};
// Name and member, in the order of a record.
inline constexpr std::pair<const char*, int64_t MemoryCounts::*> kMemoryCounts[] = {
    {"row_hits", &MemoryCounts::row_hits},           {"row_misses", &MemoryCounts::row_misses},
    {"row_conflicts", &MemoryCounts::row_conflicts}, {"l2_hits", &MemoryCounts::l2_hits},
    {"l2_misses", &MemoryCounts::l2_misses},         {"tlb_hits", &MemoryCounts::tlb_hits},
    {"tlb_misses", &MemoryCounts::tlb_misses},       {"scale_hits", &MemoryCounts::scale_hits},
    {"scale_misses", &MemoryCounts::scale_misses}};

// One launch. Times are cycles of the core clock from "dependencies met" to the end of the last
// task.
struct KernelRow {
  std::string kernel;
  int64_t launch = 0, tasks = 0, cores = 0;
  int64_t cycles = 0;
  double microseconds = 0;
  int64_t hbm_read_bytes = 0, hbm_write_bytes = 0;  // moved between L2 and HBM
  int64_t read_bytes = 0, write_bytes = 0;          // moved between cores and L2
  MemoryCounts memory = {};
  int64_t useful_bytes = 0;  // least bytes HBM must move (floor)
  double useful_flop = 0;    // 2 x multiply-adds that the result needs
  double hbm_floor_cycles = 0, matrix_floor_cycles = 0;
  double hbm_floor_share = 0, matrix_floor_share = 0;  // floor / cycles, 0 to 1
  double useful_share = 0;                             // useful FLOP/s / Peaks::flops, 0 to 1
  std::vector<BusyShare> busy;                         // over the cores that ran it, by unit
  std::vector<UnitStalls> stalls;                      // the same cores, cycles by cause
  std::string top_stall, top_stall_unit;  // of the bounding unit; "none" without stalls
  double top_stall_share = 0;
  Waterfall waterfall;
};

struct Totals {
  int64_t launches = 0, tasks = 0, cycles = 0;  // cycles: first launch ready to last one ended
  double microseconds = 0;
  int64_t hbm_bytes = 0;
  double hbm_floor_share = 0, matrix_floor_share = 0, useful_share = 0;
};

struct Seed {
  std::string name;
  uint64_t value = 0;
};

struct RunRecord {
  std::string version;                          // of the program
  std::string verb;                             // "day0", "run"
  std::vector<Fact> model = {}, workload = {};  // what was read and asked for
  std::string chip = {}, chip_hash = {};        // name, content_hash() of all knobs
  double clock_hz = 0;
  std::string values = {};  // "full" or "steering"
  std::vector<Seed> seeds = {};
  std::vector<KernelRow> kernels = {};
  Totals totals = {};
  std::vector<VerdictRow> verdicts = {};
  std::vector<Assumed> assumed = {};
  bool pass() const;  // all verdicts
};

// What the report needs to know about a launch beside its accounting.
struct LaunchFacts {
  std::string kernel = {};  // name of the row; empty: the launch's own
  int64_t hbm_read_bytes = 0, hbm_write_bytes = 0, read_bytes = 0, write_bytes = 0;
  MemoryCounts memory = {};
  int64_t useful_bytes = 0;
  double useful_flop = 0;
  double matrix_flops = 0;  // peak of the format it multiplies in; 0: Peaks::flops
};
// Of the whole chip; flops in its fastest format.
struct Peaks {
  double clock_hz = 0, hbm_bytes_per_second = 0, flops = 0;
};

// Time that `work` needs at `per_second`, in cycles of a clock of `clock_hz`. Zero work needs none.
double floor_cycles(double work, double per_second, double clock_hz);

KernelRow kernel_row(const LaunchAccount&, const LaunchFacts&, const Peaks&);
// Totals of rows that ran from cycle `first` (ready) to `last` (ended).
Totals totals(const std::vector<KernelRow>&, int64_t first, int64_t last, const Peaks&);

// 64-bit FNV-1a of the text as 16 hexadecimal digits: tells inputs apart, protects nothing.
std::string content_hash(std::string_view text);
// To 3 significant digits; NaN and infinities stay.
double three_digits(double value);

std::string to_json(const RunRecord&);  // indented, ends with a newline
// Writes DIR/record.json by atomic rename; the folder must exist.
void write_record(const RunRecord&, const std::string& folder);

}  // namespace daybreak::traces
