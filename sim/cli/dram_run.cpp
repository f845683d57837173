#include "sim/cli/dram_run.hpp"

#include <charconv>
#include <cmath>
#include <ctime>
#include <iostream>

#include <fmt/format.h>

#include "configs/reader/words.hpp"
#include "sim/chip/config_check.hpp"
#include "sim/chip/config_hbm.hpp"
#include "sim/cli/study_record.hpp"
#include "sim/memory/traffic.hpp"

namespace daybreak::cli {
namespace {

constexpr double kLoads[] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95};

double cpu_seconds() { return double(std::clock()) / CLOCKS_PER_SEC; }

// The part that the words ask for; what they leave out is the chip's.
sim::HbmConfig part(Arguments& a, const sim::ChipConfig& chip, const std::string& scope) {
  sim::HbmConfig hbm = chip.hbm;
  const std::string preset = a.word("dram", "chip", [] {
    auto names = sim::hbm_preset_names();
    names.push_back("chip");
    return names;
  }());
  if (preset != "chip") sim::apply_hbm_preset(hbm, preset);
  hbm.map = a.text("map", hbm.map);
  sim::address_parts(hbm);  // refuses what is no map
  hbm.bank_hash = a.word("hash", hbm.bank_hash ? "on" : "off", {"on", "off"}) == "on";
  hbm.refresh = a.word("refresh", hbm.refresh, {"all-bank", "per-bank", "off"});
  hbm.page = a.word("page", hbm.page, {"open", "closed"});
  if (scope != "chip") hbm.stacks = 1;
  if (scope == "channel" || scope == "pc") hbm.channels = 1;
  if (scope == "pc") hbm.pseudo_channels = 1;
  hbm.queue = a.integer("queue", scope == "pc" ? 64 : 128, 1, 4096);
  return hbm;
}

// A share of peak, 0 for a closed loop, -1 for the whole curve.
double load_of(Arguments& a) {
  const std::string text = a.text("load", "closed");
  if (text == "closed") return 0;
  if (text == "curve") return -1;
  double load = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), load);
  if (error != std::errc() || end != text.data() + text.size() || !(load > 0) || load > 4)
    throw UserError("run dram: load: " + configs::in_quotes(text) +
                    " is not a share of peak above 0 and up to 4, closed or curve");
  return load;
}

DramPoint point(const std::string& name, const sim::TrafficResult& r, double seconds) {
  const double by_little = r.mean_ns * 1e-9 * r.objects / (r.us * 1e-6);
  return {.name = name,
          .metrics = {{"peak_percent", r.peak_share * 100},
                      {"useful_percent", r.useful_share * 100},
                      {"row_hit_percent", r.row_hit_share * 100},
                      {"mean_ns", r.mean_ns},
                      {"p50_ns", r.p50_ns},
                      {"p95_ns", r.p95_ns},
                      {"p99_ns", r.p99_ns},
                      {"gb_per_second", r.bytes_per_second / 1e9},
                      {"in_flight", by_little},
                      {"objects", r.objects},
                      {"us", r.us}},
          .requests_per_cpu_second = double(r.requests) / std::max(1e-6, seconds)};
}

}  // namespace

std::vector<DramPoint> dram_points(Arguments a, const sim::ChipConfig& chip, uint64_t seed) {
  const std::string scope = a.word("scope", "stack", {"pc", "channel", "stack", "chip"});
  const sim::HbmConfig hbm = part(a, chip, scope);
  const std::string pattern = a.text("pattern", "seq");
  const int64_t pcs = hbm.stacks * hbm.channels * hbm.pseudo_channels;
  const double load = load_of(a);
  const int64_t seed_of_run = a.integer("seed", int64_t(seed), 0, INT64_MAX);
  sim::TrafficPlan plan;
  plan.window_atoms = a.integer("window", 128, 1, 1 << 20) * pcs;
  const bool wide = scope == "stack" || scope == "chip";
  plan.warm_us = wide ? 4 : 8;
  plan.measured_us = double(a.integer("us", wide ? 16 : 78, 1, 1 << 20));
  // Words of pattern=gather.
  const bool gather = pattern == "gather";
  const bool sorted = a.word("order", "position", {"position", "score"}) == "position";
  const int64_t tables = a.integer("tables", 128, 1, 1 << 20);
  const int64_t cores = a.integer("cores", chip.cores, 1, 4096);
  const int64_t topk = a.integer("topk", 2048, 1, 1 << 20);
  const int64_t context = a.integer("context", 131072, 1, 1 << 30);
  a.finish();

  auto sources = [&] {
    std::vector<std::unique_ptr<sim::TrafficSource>> out;
    if (!gather) {
      out.push_back(sim::make_pattern(pattern, uint64_t(pcs) << 26, uint64_t(seed_of_run)));
      return out;
    }
    for (int64_t core = 0; core < cores; ++core)
      out.push_back(sim::make_gather(uint64_t(context), uint64_t(topk), sorted,
                                     uint64_t(seed_of_run * 4096 + core)));
    return out;
  };
  if (gather) {
    plan.objects = tables * topk;
    plan.window_atoms = cores * chip.core.dma.outstanding * chip.core.dma.request / hbm.atom;
  }
  std::vector<DramPoint> out;
  auto run = [&](const std::string& name, double share) {
    plan.load = share;
    const double before = cpu_seconds();
    const auto result = sim::run_traffic(hbm, sources(), plan, uint64_t(seed_of_run));
    out.push_back(point(name, result, cpu_seconds() - before));
  };
  if (load >= 0) {
    run(load == 0 ? "closed" : fmt::format("load {}", load), load);
  } else {
    for (double l : kLoads) run(fmt::format("load {}", l), l);
  }
  return out;
}

int run_dram(const std::vector<std::string>& words, const CommonOptions& options) {
  const auto chip = options.load_chip();
  const auto points = dram_points(Arguments::from_words("run dram", words), chip, options.seed);
  std::string title = "dram";
  for (const auto& word : words) title += " " + word;
  StudyRecord record{.title = title, .about = {}, .columns = {}, .rows = {}, .verdicts = {}};
  const std::pair<const char*, const char*> columns[] = {{"% of peak", "peak_percent"},
                                                         {"% useful", "useful_percent"},
                                                         {"% row hits", "row_hit_percent"},
                                                         {"mean ns", "mean_ns"},
                                                         {"p50 ns", "p50_ns"},
                                                         {"p95 ns", "p95_ns"},
                                                         {"p99 ns", "p99_ns"},
                                                         {"GB/s", "gb_per_second"},
                                                         {"us", "us"}};
  for (const auto& c : columns) record.columns.push_back(c.first);
  for (const auto& p : points) {
    StudyRecord::Row row{.name = p.name, .cells = {}, .metrics = {}};
    for (const auto& c : columns)
      row.cells.push_back(fmt::format("{:.1f}", p.metrics.at(c.second)));
    row.metrics.assign(p.metrics.begin(), p.metrics.end());
    record.rows.push_back(std::move(row));
  }
  if (!options.out.empty()) write_study(record, options.out);
  if (options.json) {
    std::cout << to_json(record);
    return 0;
  }
  std::cout << to_text(record);
  for (const auto& p : points)
    std::cout << fmt::format("{}: {:.3g} million 64-byte requests per CPU second\n", p.name,
                             p.requests_per_cpu_second * 1e-6);
  return 0;
}

}  // namespace daybreak::cli
