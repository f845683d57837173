// Where each kernel stands under the chip's roof: useful FLOP per useful byte against useful
// FLOP/s. The roof is the lower of the matrix units' peak and what HBM could feed at that
// intensity. A kernel without useful FLOP is held against HBM alone.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "traces/event/event_file.hpp"
#include "traces/report/record.hpp"

namespace daybreak::traces {

struct RooflinePoint {
  std::string kernel;
  double intensity = 0;         // useful FLOP per byte; 0 without useful FLOP
  double flops = 0, roof = 0;   // useful FLOP/s: achieved, and possible at this intensity
  double bytes_per_second = 0;  // useful bytes / time
  double share = 0;             // of the roof (of HBM's peak without FLOP), 0 to 1
  bool memory_bound = false;    // HBM limits the roof
};

std::vector<RooflinePoint> roofline(const RunRecord&, const RunFacts&);
std::string roofline_text(std::span<const RooflinePoint>, const RunFacts&);
nlohmann::ordered_json roofline_json(std::span<const RooflinePoint>, const RunFacts&);

}  // namespace daybreak::traces
