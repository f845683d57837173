// What device cases stand on: memory with poisoned outputs, descriptors bound to it, the fault word,
// timing, and the list of verdicts.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "isa/memory/tensor.hpp"
#include "kernels/device/kernels.cuh"
#include "ref/compare/verdict.hpp"

namespace daybreak::device {

using kernels::hopper::Tensor;

void check(cudaError_t e, const char* what);

// Device memory as numbered bindings. Not copied; freed at the end.
class Memory {
 public:
  Memory();
  ~Memory();
  Memory(const Memory&) = delete;

  uint16_t room(int64_t bytes);  // every byte 0xFF: NaN, or -1
  template <class T> uint16_t put(const std::vector<T>& values) {
    const uint16_t binding = room(int64_t(values.size() * sizeof(T)));
    check(cudaMemcpy(base(binding), values.data(), values.size() * sizeof(T), cudaMemcpyDefault),
          "copy in");
    return binding;
  }
  template <class T> std::vector<T> get(uint16_t binding, int64_t first, int64_t count) const {
    std::vector<T> values(static_cast<size_t>(count));
    check(cudaMemcpy(values.data(), base(binding) + first * int64_t(sizeof(T)),
                     values.size() * sizeof(T), cudaMemcpyDefault),
          "copy out");
    return values;
  }
  template <class T> std::vector<T> all(uint16_t binding) const {
    return get<T>(binding, 0, bytes(binding) / int64_t(sizeof(T)));
  }
  void poison(uint16_t binding);
  uint8_t* base(uint16_t binding) const { return blocks_[binding].data; }
  int64_t bytes(uint16_t binding) const { return blocks_[binding].bytes; }

  // What a descriptor names, on the device. E4M3 tensors also get a map for boxes.
  Tensor tensor(const isa::TensorDesc&);
  kernels::device::Place place(cudaStream_t stream = nullptr) const;
  // Launches from now on are indirect: `tasks` of them, read from memory by the kernels.
  void limit_tasks(int32_t tasks);
  // The faults since the last call, in words; empty if none.
  std::string faults();

 private:
  struct Block {
    uint8_t* data;
    int64_t bytes;
  };
  std::vector<Block> blocks_;
  uint32_t* faults_ = nullptr;
  const int32_t* tasks_ = nullptr;
};

// Results of a run of the program: verdicts, and one line of the table per benchmark.
enum class Ceiling : uint8_t { copy, bf16, e4m3 };  // what bounds a kernel, for normalised ratios
struct Timing {
  std::string kernel, shape, method;  // shape and method (event_cold, graph) in the peers' words
  std::string tuning;                 // splits
  double us = 0, least = 0, most = 0;
  double flops = 0, bytes = 0;  // useful operations, compulsory bytes
  std::string peer;             // the peer's name in the peers' table; empty: none
  Ceiling bound = Ceiling::copy;
};
struct Report {
  std::vector<Timing> timings;
  int passed = 0, failed = 0;
  uint64_t seed = 1;
  std::string only;  // part of the names of the cases that run; empty: all

  bool wants(const std::string& name) const { return name.find(only) != std::string::npos; }
  void add(const ref::Verdict&);
  // A condition with its finding.
  void add(const std::string& name, bool pass, const std::string& finding);
  void add(const Timing&);
};

using Work = std::function<void(cudaStream_t)>;
// An event pair round one call, L2 cold and dirty before each; median, least and most of `repeats`.
Timing time_cold(const Work& work, int repeats);
// Calls back to back in one graph; per call.
Timing time_graph(const Work& work, int calls, int repeats);

struct Random {  // counter-based: independent of the order of calls elsewhere
  uint64_t seed, next = 0;
  uint64_t bits();
  int below(int bound) { return int(bits() % uint64_t(bound)); }
  float normal();
};

}  // namespace daybreak::device
