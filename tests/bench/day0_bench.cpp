// The main job as a whole, and the matrix instruction alone: rates, ratios and peak memory.
//   day0/full        context 32768, batch 1, 128 heads, every value computed and checked (both chains)
//   day0/steering    context 131072, batch 16, scores computed and checked, latents phantom (both chains)
//   mma/bf16, fp8    multiply-adds of one core of the machine that runs the simulator
#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "isa/instructions/mma.hpp"
#include "ref/numeric/random.hpp"

namespace {

using daybreak::Bytes;
using daybreak::Format;
namespace isa = daybreak::isa;

// One run of the program in a process of its own; peak resident memory in GiB.
void day0(benchmark::State& state, std::vector<std::string> words) {
  double peak = 0;
  for (auto _ : state) {
    const pid_t child = fork();
    if (child == 0) {
      if (!freopen("/dev/null", "w", stdout)) _exit(126);
      std::vector<char*> arguments{const_cast<char*>("daybreak")};
      for (auto& w : words) arguments.push_back(w.data());
      arguments.push_back(nullptr);
      execv(DAYBREAK_PROGRAM, arguments.data());
      _exit(127);
    }
    int status = 0;
    rusage usage{};
    wait4(child, &status, 0, &usage);
    if (status != 0) state.SkipWithError("the run failed");
    peak = double(usage.ru_maxrss) / (1 << 20);
  }
  state.counters["peak_GiB"] = peak;
}

const std::string kModel = DAYBREAK_SOURCE "/configs/models/deepseek-v3.2.json";

void day0_full(benchmark::State& state) {
  day0(state, {"day0", "--model", kModel, "--context", "32768"});
}
void day0_steering(benchmark::State& state) {
  day0(state,
       {"day0", "--model", kModel, "--context", "131072", "--batch", "16", "--values", "steering"});
}
BENCHMARK(day0_full)->Name("day0/full")->Unit(benchmark::kSecond)->UseRealTime();
BENCHMARK(day0_steering)
    ->Name("day0/steering")
    ->Unit(benchmark::kSecond)
    ->UseRealTime()
    ->Iterations(1);

void mma(benchmark::State& state, Format format, uint32_t m, uint32_t n, uint32_t k) {
  const uint32_t size = uint32_t(daybreak::bytes_of(format, 1));
  isa::Scratch scratch({Bytes(int64_t(m + n) * k * size), Bytes(64), Bytes(int64_t(m) * n * 4)});
  auto bytes = scratch.bytes(isa::Space::operand);
  for (size_t i = 0; i < bytes.size(); ++i)  // finite values of either format
    bytes[i] = std::byte(daybreak::numeric::mix(1, 2, i) & 0x3F);
  isa::MemoryImage memory;
  isa::Context context{scratch, memory, {}, {}};
  const isa::Mma instruction{.acc = {.space = isa::Space::accumulator,
                                     .format = Format::f32,
                                     .pitch = n * 4,
                                     .rows = m,
                                     .cols = n},
                             .a = {.space = isa::Space::operand,
                                   .format = format,
                                   .pitch = k * size,
                                   .rows = m,
                                   .cols = k},
                             .b = {.space = isa::Space::operand,
                                   .format = format,
                                   .offset = m * k * size,
                                   .pitch = k * size,
                                   .rows = n,
                                   .cols = k},
                             .b_transposed = 1};
  for (auto _ : state) instruction.execute(context);
  state.counters["GFLOP/s"] = benchmark::Counter(2e-9 * m * n * k * double(state.iterations()),
                                                 benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(mma, bf16, Format::bf16, 64, 64, 576);
BENCHMARK_CAPTURE(mma, fp8, Format::e4m3, 256, 64, 128);

}  // namespace

BENCHMARK_MAIN();
