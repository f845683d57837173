#include "traces/report/roofline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "traces/report/table.hpp"

namespace daybreak::traces {

std::vector<RooflinePoint> roofline(const RunRecord& record, const RunFacts& facts) {
  std::vector<RooflinePoint> out;
  for (const KernelRow& k : record.kernels) {
    RooflinePoint p{.kernel = k.kernel};
    const double seconds = double(k.cycles) / facts.clock_hz;
    if (seconds > 0) p.flops = k.useful_flop / seconds;
    if (seconds > 0) p.bytes_per_second = double(k.useful_bytes) / seconds;
    if (k.useful_bytes > 0) p.intensity = k.useful_flop / double(k.useful_bytes);
    const double fed = k.useful_bytes > 0 ? p.intensity * facts.hbm_bytes_per_second : facts.flops;
    p.memory_bound = fed < facts.flops;
    p.roof = std::min(fed, facts.flops);
    p.share =
        k.useful_flop > 0 ? p.flops / p.roof : p.bytes_per_second / facts.hbm_bytes_per_second;
    out.push_back(p);
  }
  return out;
}

std::string roofline_text(std::span<const RooflinePoint> points, const RunFacts& facts) {
  TextTable table{.columns = {{"kernel", false},
                              {"FLOP/B"},
                              {"TFLOP/s"},
                              {"roof"},
                              {"GB/s"},
                              {"% of roof"},
                              {"roof is", false}}};
  for (const RooflinePoint& p : points)
    table.rows.push_back(
        {p.kernel, fmt::format("{:.1f}", p.intensity), fmt::format("{:.3f}", p.flops / 1e12),
         fmt::format("{:.3f}", p.roof / 1e12), fmt::format("{:.1f}", p.bytes_per_second / 1e9),
         fmt::format("{:.1f}", p.share * 100), p.memory_bound ? "HBM" : "matrix"});
  return table.text() + fmt::format("peaks: {:.1f} TFLOP/s, {:.1f} GB/s, ridge at {:.1f} FLOP/B\n",
                                    facts.flops / 1e12, facts.hbm_bytes_per_second / 1e9,
                                    facts.flops / facts.hbm_bytes_per_second);
}

nlohmann::ordered_json roofline_json(std::span<const RooflinePoint> points, const RunFacts& facts) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const RooflinePoint& p : points)
    list.push_back({{"kernel", p.kernel},
                    {"intensity", p.intensity},
                    {"flops", p.flops},
                    {"roof", p.roof},
                    {"bytes_per_second", p.bytes_per_second},
                    {"share", p.share},
                    {"memory_bound", p.memory_bound}});
  return {{"peak_flops", facts.flops},
          {"peak_bytes_per_second", facts.hbm_bytes_per_second},
          {"kernels", list}};
}

}  // namespace daybreak::traces
