#include "traces/report/table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace daybreak::traces {
namespace {

std::string percent(double share) { return fmt::format("{:.1f}", share * 100); }

// Busy share of one unit in percent; "-" where the chip has no such unit. The two directions of the
// DMA engine are one column: the busier one.
std::string busy_percent(const KernelRow& row, std::string_view unit) {
  double best = -1;
  for (const BusyShare& b : row.busy)
    if (b.unit == unit || (unit == "dma" && b.unit.starts_with("dma")))
      best = std::max(best, b.share);
  return best < 0 ? "-" : percent(best);
}

std::string stall_text(const KernelRow& row) {
  if (row.top_stall_unit.empty()) return row.top_stall;
  return fmt::format("{} {}: {}", row.top_stall_unit, percent(row.top_stall_share), row.top_stall);
}

std::string three(double value) { return fmt::format("{:.3g}", three_digits(value)); }

}  // namespace

std::string TextTable::text() const {
  std::vector<size_t> width;
  for (const Column& c : columns) width.push_back(c.name.size());
  for (const auto& row : rows)
    for (size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  std::string out;
  const auto line = [&](const auto& cell) {
    std::string text;
    for (size_t i = 0; i < columns.size(); ++i) {
      if (i) text += "  ";
      text += columns[i].right ? fmt::format("{:>{}}", cell(i), width[i])
                               : fmt::format("{:<{}}", cell(i), width[i]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  };
  const auto rule = [&] { line([&](size_t i) { return std::string(width[i], '-'); }); };
  line([&](size_t i) { return columns[i].name; });
  rule();
  for (const auto& row : rows)
    if (row.empty())
      rule();
    else
      line([&](size_t i) { return row[i]; });
  return out;
}

std::string kernel_table(const RunRecord& record) {
  TextTable table;
  table.columns = {{"kernel", false},
                   {"tasks"},
                   {"cycles"},
                   {"us"},
                   {"MB moved"},
                   {"% HBM"},
                   {"% matrix"},
                   {"% peak"},
                   {"dma"},
                   {"matrix"},
                   {"vector"},
                   {"sort"},
                   {"top stall of the bounding unit, % of its time", false}};
  for (const KernelRow& k : record.kernels)
    table.rows.push_back({k.kernel, fmt::format("{}", k.tasks), fmt::format("{}", k.cycles),
                          fmt::format("{:.2f}", k.microseconds),
                          fmt::format("{:.3f}", double(k.hbm_read_bytes + k.hbm_write_bytes) / 1e6),
                          percent(k.hbm_floor_share), percent(k.matrix_floor_share),
                          percent(k.useful_share), busy_percent(k, "dma"),
                          busy_percent(k, "matrix"), busy_percent(k, "vector"),
                          busy_percent(k, "sort"), stall_text(k)});
  const Totals& t = record.totals;
  table.rows.emplace_back();
  table.rows.push_back({"total", fmt::format("{}", t.tasks), fmt::format("{}", t.cycles),
                        fmt::format("{:.2f}", t.microseconds),
                        fmt::format("{:.3f}", double(t.hbm_bytes) / 1e6),
                        percent(t.hbm_floor_share), percent(t.matrix_floor_share),
                        percent(t.useful_share), "", "", "", "", ""});
  return table.text() +
         "% HBM, % matrix: the least time HBM and the matrix units need for the useful work / time.\n"
         "% peak: useful FLOP/s / peak. dma to sort: % of the time a unit was busy, over the cores\n"
         "that ran the kernel (dma: the busier direction). MB moved: between L2 and HBM.\n";
}

std::string memory_table(const RunRecord& record) {
  TextTable table;
  table.columns = {{"kernel", false}, {"row hit"}, {"closed bank"}, {"bank conflict"},
                   {"refresh"},       {"L2 hit"},  {"TLB hit"},     {"scale hit"}};
  const auto share = [](int64_t part, int64_t whole) {
    return whole > 0 ? percent(double(part) / double(whole)) : std::string("-");
  };
  for (const KernelRow& k : record.kernels) {
    const MemoryCounts& m = k.memory;
    const int64_t rows = m.row_hits + m.row_misses;
    const auto loads = std::ranges::find(k.stalls, "dma_in", &UnitStalls::unit);
    table.rows.push_back({k.kernel, share(m.row_hits, rows),
                          share(m.row_misses - m.row_conflicts, rows), share(m.row_conflicts, rows),
                          loads == k.stalls.end()
                              ? "-"
                              : share(loads->cycles[size_t(Cause::refresh)], total(loads->cycles)),
                          share(m.l2_hits, m.l2_hits + m.l2_misses),
                          share(m.tlb_hits, m.tlb_hits + m.tlb_misses),
                          share(m.scale_hits, m.scale_hits + m.scale_misses)});
  }
  return table.text() +
         "% of the columns that HBM read or wrote: row open, bank closed, behind another row; refresh:\n"
         "% of the time of dma_in that only refresh took. % of look-ups: L2, block entries of page\n"
         "tables, block scales.\n";
}

std::string waterfall_table(const RunRecord& record) {
  TextTable table;
  table.columns = {{"kernel", false}, {"floor"},    {"layout"}, {"issue"},
                   {"sync"},          {"dispatch"}, {"actual"}, {"bounding unit", false}};
  const auto us = [&](int64_t cycles) {
    return fmt::format("{:.2f}", double(cycles) / record.clock_hz * 1e6);
  };
  for (const KernelRow& k : record.kernels) {
    const Waterfall& w = k.waterfall;
    table.rows.push_back({k.kernel, us(w.floor), us(w.layout), us(w.issue), us(w.sync),
                          us(w.dispatch), us(w.actual), w.unit});
  }
  return table.text();
}

std::string verdict_lines(const RunRecord& record) {
  std::string out;
  for (const VerdictRow& v : record.verdicts) {
    out += fmt::format("{}  {}", v.pass ? "pass" : "FAIL", v.name);
    std::string metrics;
    for (const Metric& m : v.metrics)
      metrics += fmt::format("{}{} {}", metrics.empty() ? "" : ", ", m.name, three(m.value));
    if (!metrics.empty()) out += ": " + metrics;
    if (!v.tolerance.empty()) out += fmt::format(" ({})", v.tolerance);
    if (!v.pass && !v.worst.empty()) out += fmt::format("; worst: {}", v.worst);
    out += "\n";
  }
  return out;
}

std::string assumed_lines(const RunRecord& record) {
  TextTable table;
  table.columns = {{"what", false}, {"value", false}, {"source", false}};
  for (const Assumed& a : record.assumed) table.rows.push_back({a.what, a.value, a.source});
  return record.assumed.empty() ? "" : table.text();
}

std::string report_text(const RunRecord& record) {
  std::string out = kernel_table(record);
  out += "\nWhere the time went, microseconds\n" + waterfall_table(record);
  if (!record.verdicts.empty()) out += "\nVerdicts\n" + verdict_lines(record);
  if (!record.assumed.empty()) out += "\nAssumed\n" + assumed_lines(record);
  return out;
}

}  // namespace daybreak::traces
