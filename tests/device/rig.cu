#include "tests/device/rig.cuh"

#include <cuda.h>

#include <cmath>
#include <cstdio>

#include "configs/reader/errors.hpp"
#include "ref/numeric/random.hpp"

namespace daybreak::device {

void check(cudaError_t e, const char* what) {
  if (e != cudaSuccess)
    throw InvariantError(std::string("device: ") + what + ": " + cudaGetErrorString(e));
}

Memory::Memory() {
  check(cudaMalloc(&faults_, 256), "fault word");
  check(cudaMemset(faults_, 0, 256), "fault word");
}
Memory::~Memory() {
  for (const Block& b : blocks_) cudaFree(b.data);
  cudaFree(faults_);
}

uint16_t Memory::room(int64_t bytes) {
  Block b{nullptr, bytes};
  check(cudaMalloc(&b.data, size_t(std::max<int64_t>(bytes, 16))), "memory");
  blocks_.push_back(b);
  poison(uint16_t(blocks_.size() - 1));
  return uint16_t(blocks_.size() - 1);
}

void Memory::poison(uint16_t binding) {
  check(cudaMemset(base(binding), 0xFF, size_t(bytes(binding))), "poison");
}

namespace {

using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                            const cuuint64_t*, const cuuint32_t*, const cuuint32_t*,
                            CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                            CUtensorMapFloatOOBfill);

Encode encoder() {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault,
                                         &found),
        "tensor maps");
  return reinterpret_cast<Encode>(entry);
}

// Boxes of 64 rows x 128 bytes of a (pages, page rows, 128) tensor of bytes, 128-byte swizzle.
CUtensorMap boxes(uint8_t* data, int64_t rows, int64_t pitch, int64_t pages, int64_t page_pitch) {
  static const Encode encode = encoder();
  CUtensorMap map;
  const cuuint64_t dims[] = {128, cuuint64_t(rows), cuuint64_t(pages)};
  const cuuint64_t strides[] = {cuuint64_t(pitch), cuuint64_t(page_pitch)};
  const cuuint32_t box[] = {128, 64, 1}, steps[] = {1, 1, 1};
  const CUresult r = encode(&map, CU_TENSOR_MAP_DATA_TYPE_UINT8, 3, data, dims, strides, box, steps,
                            CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                            CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (r != CUDA_SUCCESS) throw InvariantError("device: a tensor map was refused");
  return map;
}

}  // namespace

Tensor Memory::tensor(const isa::TensorDesc& d) {
  Tensor t;
  t.data = base(d.binding) + d.offset;
  t.rows = d.rows();
  t.cols = int32_t(d.cols());
  t.pitch = d.rank > 1 ? d.strides[size_t(d.rank - 2)] : 0;
  int64_t pages = 1, page_pitch = t.rows * t.pitch;
  if (d.rank == 3) {
    pages = d.dims[0];
    page_pitch = d.strides[0];
    if (page_pitch != d.dims[1] * t.pitch) {
      t.page_rows = int32_t(d.dims[1]);
      t.page_pitch = page_pitch;
    }
  }
  if (d.rank == 3 && t.page_rows == 0 && d.dims[1] > 0 && d.format == Format::e4m3)
    t.page_rows = int32_t(d.dims[1]), t.page_pitch = page_pitch;
  if (d.format == Format::e4m3 && d.cols() == 128 && t.rows > 0) {
    const CUtensorMap map =
        boxes(t.data, d.rank == 3 ? d.dims[1] : t.rows, t.pitch, pages, page_pitch);
    std::vector<uint8_t> bytes(reinterpret_cast<const uint8_t*>(&map),
                               reinterpret_cast<const uint8_t*>(&map) + sizeof map);
    t.map = base(put(bytes));
  }
  return t;
}

kernels::device::Place Memory::place(cudaStream_t stream) const {
  static const int multiprocessors = [] {
    int n = 0;
    check(cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, 0), "device");
    return n;
  }();
  return {.context = {.faults = faults_, .indirect = tasks_},
          .stream = stream,
          .multiprocessors = multiprocessors};
}

void Memory::limit_tasks(int32_t tasks) {
  tasks_ = reinterpret_cast<const int32_t*>(base(put(std::vector<int32_t>{tasks})));
}

std::string Memory::faults() {
  uint32_t word = 0;
  check(cudaDeviceSynchronize(), "run");
  check(cudaMemcpy(&word, faults_, 4, cudaMemcpyDefault), "fault word");
  check(cudaMemset(faults_, 0, 4), "fault word");
  std::string text;
  const auto add = [&](uint32_t bit, const char* what) {
    if (word & bit) text += std::string(text.empty() ? "" : ", ") + what;
  };
  add(kernels::hopper::kStaleTable, "index table of an old generation");
  add(kernels::hopper::kOutsideRow, "index outside its tensor");
  add(kernels::hopper::kUnmappedPage, "position without a page");
  add(kernels::hopper::kScratchFull, "scratch of a body is full");
  return text;
}

void Report::add(const ref::Verdict& v) {
  std::string metrics;
  for (const ref::Metric& m : v.metrics) {
    char text[64];
    snprintf(text, sizeof text, " %s %.3g", m.name.c_str(), m.value);
    metrics += text;
  }
  (v.pass ? passed : failed)++;
  printf("%s  %s:%s (%lld elements)%s%s\n", v.pass ? "pass" : "FAIL", v.name.c_str(),
         metrics.c_str(), static_cast<long long>(v.elements), v.pass ? "" : " ", v.finding.c_str());
  fflush(stdout);
}
void Report::add(const std::string& name, bool pass, const std::string& finding) {
  (pass ? passed : failed)++;
  printf("%s  %s%s%s\n", pass ? "pass" : "FAIL", name.c_str(), finding.empty() ? "" : ": ",
         finding.c_str());
  fflush(stdout);
}
void Report::add(const Timing& t) {
  timings.push_back(t);
  printf("time  %-16s %-44s %-10s %9.2f us (%.2f..%.2f) %7.1f TFLOP/s %6.2f TB/s\n",
         t.kernel.c_str(), t.shape.c_str(), t.method.c_str(), t.us, t.least, t.most,
         t.flops / t.us * 1e-6, t.bytes / t.us * 1e-6);
  fflush(stdout);
}

namespace {

Timing median(std::vector<float> us) {
  std::sort(us.begin(), us.end());
  return {.us = us[us.size() / 2], .least = us.front(), .most = us.back()};
}

struct Events {
  cudaEvent_t from, to;
  Events() {
    check(cudaEventCreate(&from), "event");
    check(cudaEventCreate(&to), "event");
  }
  ~Events() { cudaEventDestroy(from), cudaEventDestroy(to); }
  float us() {
    check(cudaEventSynchronize(to), "run");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, from, to), "event");
    return ms * 1000;
  }
};

}  // namespace

Timing time_cold(const Work& work, int repeats) {
  constexpr size_t kFlush = 256 << 20;
  static uint8_t* flush = [] {
    uint8_t* p = nullptr;
    check(cudaMalloc(&p, kFlush), "flush buffer");
    return p;
  }();
  Events e;
  std::vector<float> us;
  for (int i = 0; i <= repeats; ++i) {
    check(cudaMemsetAsync(flush, i, kFlush, nullptr), "flush");
    check(cudaEventRecord(e.from, nullptr), "event");
    work(nullptr);
    check(cudaEventRecord(e.to, nullptr), "event");
    const float t = e.us();
    if (i > 0) us.push_back(t);  // the first loads code
  }
  Timing t = median(us);
  t.method = "event_cold";
  return t;
}

Timing time_graph(const Work& work, int calls, int repeats) {
  cudaStream_t stream;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
  for (int i = 0; i < calls; ++i) work(stream);
  check(cudaStreamEndCapture(stream, &graph), "capture");
  check(cudaGraphInstantiate(&ready, graph, 0), "graph");
  Events e;
  std::vector<float> us;
  for (int i = 0; i <= repeats; ++i) {
    check(cudaEventRecord(e.from, stream), "event");
    check(cudaGraphLaunch(ready, stream), "graph");
    check(cudaEventRecord(e.to, stream), "event");
    const float t = e.us() / float(calls);
    if (i > 0) us.push_back(t);
  }
  check(cudaGraphExecDestroy(ready), "graph");
  check(cudaGraphDestroy(graph), "graph");
  check(cudaStreamDestroy(stream), "stream");
  Timing t = median(us);
  t.method = "graph";
  return t;
}

uint64_t Random::bits() { return numeric::mix(seed, 0x5eed, next++); }
float Random::normal() {
  const double u = (double(bits() >> 11) + 0.5) * 0x1p-53, v = double(bits() >> 11) * 0x1p-53;
  return float(std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * v));
}

}  // namespace daybreak::device
