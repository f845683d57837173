// One routed expert layer's step as a workload: tokens through the router, the experts it picks, and the
// shared experts.
#pragma once
#include <cstdint>
#include <string>

#include "kernels/runtime/model/experts.hpp"

namespace daybreak::kernels {

// Where the choice of experts comes from (design.md section 5): the router's own, every expert equally
// often, drawn without replacement with weights (expert + 1)^-alpha, or a file.
enum class RoutingSource : uint8_t { computed, balanced, power_law, file };

struct ExpertWorkload {
  ExpertModel model;
  int64_t tokens = 1;
  WeightFormat format = WeightFormat::mxfp4;  // of the routed experts in memory
  RoutingSource routing = RoutingSource::computed;
  double alpha = 1.2;
  std::string routing_file;  // int32 little-endian, (tokens, topk), ascending, -1 last
  bool shared = true;        // the shared experts run too
  int64_t layers = 1;        // layers one after the other over the same workspace
  uint64_t seed = 1;
};

// computed, balanced, power-law:A or a file's name.
void set_routing(ExpertWorkload&, const std::string& word);

}  // namespace daybreak::kernels
