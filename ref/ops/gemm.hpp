// What every Eigen product of the oracles shares.
#pragma once
#include <Eigen/Core>

namespace daybreak::ref {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Eigen sizes its blocks by the caches it finds, and block sizes order the sums: fixed sizes make
// the bits the same on every machine. Call before the first product.
inline void fix_blocking() {
  static const bool once = (Eigen::setCpuCacheSizes(32 << 10, 512 << 10, 4 << 20), true);
  static_cast<void>(once);
}

}  // namespace daybreak::ref
