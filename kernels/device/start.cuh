// Puts a persistent kernel on a stream: as many blocks as the multiprocessors hold, or as there are
// tasks.
#pragma once
#include <algorithm>
#include <string>

#include "configs/reader/errors.hpp"
#include "kernels/device/kernels.cuh"

namespace daybreak::kernels::device {

inline void check(cudaError_t e, const char* what) {
  if (e != cudaSuccess)
    throw InvariantError(std::string("device: ") + what + ": " + cudaGetErrorString(e));
}

template <class Bound, class Pipeline, class Args>
void start(void (*kernel)(Args, Context), const Args& args, const Place& place, int threads,
           int blocks) {
  using Kernel = typename Bound::template Kernel<typename Bound::Machine>;
  const int tasks = Kernel::tasks(args);
  if (tasks == 0) return;
  static const cudaError_t once = cudaFuncSetAttribute(
      kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Pipeline::kSharedBytes);
  check(once, Kernel::kName);
  cudaLaunchAttribute early{};  // see follow_previous()
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = std::min(tasks, place.multiprocessors * blocks);
  config.blockDim = threads;
  config.dynamicSmemBytes = Pipeline::kSharedBytes;
  config.stream = place.stream;
  config.attrs = &early;
  config.numAttrs = 1;
  check(cudaLaunchKernelEx(&config, kernel, args, place.context), Kernel::kName);
}

}  // namespace daybreak::kernels::device
