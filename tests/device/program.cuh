// What `daybreak-cuda` does.
#pragma once
#include "tests/device/rig.cuh"

namespace daybreak::device {

// sizes: small (for compute-sanitizer) or all. vectors: folder of the number-format tables.
void verify(Report&, const std::string& sizes, const std::string& vectors);
// peers: a table of other kernels' times, or empty. Writes `out`/h200.csv.
void bench(Report&, const std::string& peers, const std::string& out);

}  // namespace daybreak::device
