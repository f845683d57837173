// What the tests of the machines share: chips as Capabilities, a memory with named bindings that
// can be made twice with the same contents, and a run of one kernel on Host and on Record with
// comparison.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "isa/program/verify.hpp"
#include "kernels/machines/host.hpp"
#include "kernels/machines/record.hpp"
#include "tests/kernels/machines/interleaver.hpp"

namespace daybreak::testing {

isa::Capabilities direct_chip();  // mx-dma: everything visible (spec/accelerator.md section 6)
isa::Capabilities split_chip();   // davinci-like-2: nothing visible, no FP8 (section 1.1)

// Bindings with contents, to be made into as many equal memories as a test needs.
class Scene {
 public:
  // Binding of `bytes`; contents from `make(byte offset)` or zeros.
  uint16_t add(const std::string& name, std::vector<std::byte> contents);
  uint16_t add_zeros(const std::string& name, int64_t bytes);
  template <class T> uint16_t add_values(const std::string& name, const std::vector<T>& values) {
    auto bytes = std::as_bytes(std::span(values));
    return add(name, {bytes.begin(), bytes.end()});
  }
  const isa::BindingTable& bindings() const { return bindings_; }
  isa::BindingTable& bindings() { return bindings_; }
  void fill(isa::MemoryImage& memory) const;
  std::vector<std::byte> bytes(const isa::MemoryImage& memory, uint16_t binding) const;
  // Names of the bindings whose bytes differ.
  std::string differences(const isa::MemoryImage& a, const isa::MemoryImage& b) const;

 private:
  isa::BindingTable bindings_;
  std::vector<std::vector<std::byte>> contents_;
  uint64_t next_ = 1 << 20;
};

std::vector<uint16_t> random_bf16(uint64_t seed, size_t count);
std::vector<uint8_t> random_e4m3(uint64_t seed, size_t count);

// Findings of verify, one a line; "" when there are none.
std::string findings(const isa::TaskProgram&, const isa::Capabilities&, const isa::BindingTable&);

// Runs K on Host, then on Record for `chip` in several random orders: programs must pass verify and
// leave the memory that Host left, bit for bit. Returns the programs. `args(M)` by machine: two
// callables.
template <template <class> class K>
std::vector<isa::TaskProgram> expect_same(const Scene& scene,
                                          const typename K<kernels::Host>::Args& host,
                                          const typename K<kernels::Record>::Args& record,
                                          const kernels::Tuning& tuning,
                                          const isa::Capabilities& chip, int orders = 3) {
  isa::MemoryImage expected;
  scene.fill(expected);
  kernels::run_on_host<K>(host, tuning, expected, scene.bindings(),
                          {.fp8_matrix = chip.fp8_matrix});
  std::vector<isa::TaskProgram> programs;
  for (int order = 0; order < orders; ++order) {
    isa::MemoryImage memory;
    scene.fill(memory);
    SharedCounters shared;
    const int tasks = int(K<kernels::Record>::tasks(record));
    for (int task = 0; task < tasks; ++task) {
      isa::TaskProgram program = kernels::record_task<K>(
          record, tuning, uint32_t(task),
          {.capabilities = chip, .memory = memory, .bindings = scene.bindings()});
      const std::string found = order == 0 ? findings(program, chip, scene.bindings()) : "";
      EXPECT_EQ(found, "");
      run_interleaved(program, chip, memory, scene.bindings(), shared,
                      {.seed = uint64_t(order * 1000 + task + 1),
                       .semaphore_max = chip.semaphore_max,
                       .queue_depth = order % 2 ? 4 : 32});
      if (order == 0) programs.push_back(std::move(program));
    }
    EXPECT_EQ(scene.differences(expected, memory), "") << "order " << order;
  }
  return programs;
}

}  // namespace daybreak::testing
