// What the tests of the kernel library share: a memory with bindings, seeded data, paged caches
// whose unused rows and table entries are garbage, and ways to run a kernel.
#pragma once
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "kernels/library/dsa/layouts.hpp"
#include "kernels/machines/host.hpp"
#include "ref/compare/verdict.hpp"
#include "ref/ops/bytes.hpp"

namespace daybreak::kernels {

struct Scene {
  isa::MemoryImage memory;
  isa::BindingTable bindings;

  // A binding of `count` elements, all bytes 0xFF: NaN in every float format, -1 as an integer.
  template <class T> uint16_t garbage(const std::string& name, int64_t count) {
    return put(name, std::vector<uint8_t>(size_t(count) * sizeof(T), 0xFF));
  }
  template <class T> uint16_t put(const std::string& name, const std::vector<T>& values) {
    const uint16_t id = room(name, int64_t(std::max<size_t>(values.size(), 1) * sizeof(T)));
    if (!values.empty()) memory.write(bindings[id].base, std::as_bytes(std::span(values)));
    return id;
  }
  // A binding that reads as zeros.
  uint16_t room(const std::string& name, int64_t bytes) {
    bindings.push_back(
        {.name = name, .base = memory.reserve(name, Bytes(bytes)), .bytes = Bytes(bytes)});
    return uint16_t(bindings.size() - 1);
  }
  template <class T> std::vector<T> get(uint16_t id, int64_t count, int64_t first = 0) const {
    std::vector<T> out(static_cast<size_t>(count));
    memory.read(Address(bindings[id].base.value + uint64_t(first) * sizeof(T)),
                std::as_writable_bytes(std::span(out)));
    return out;
  }
  template <class T> std::vector<T> all(uint16_t id) const {
    return get<T>(id, bindings[id].bytes.value / int64_t(sizeof(T)));
  }
  template <class T> void set(uint16_t id, int64_t at, const T& value) {
    memory.put(Address(bindings[id].base.value + uint64_t(at) * sizeof(T)), value);
  }
  // The bytes of a binding as an oracle reads them.
  ref::ByteSource source(uint16_t id) const;
  // The same bindings with the same bytes.
  void copy_to(Scene& other) const;
};

// Seeded values.
struct Random {
  std::mt19937_64 engine;
  explicit Random(uint64_t seed) : engine(seed) {}
  int64_t below(int64_t n) { return int64_t(engine() % uint64_t(n)); }
  float normal(float deviation = 1);
  float uniform(float low, float high);
  uint16_t bf16(float deviation = 1);
  std::vector<uint16_t> bf16s(int64_t n, float deviation = 1);
  std::vector<float> normals(int64_t n, float deviation = 1);
  std::vector<uint8_t> e4m3s(int64_t n);  // any code that is not NaN
};

// The pages of some requests: physical pages in a random order with unused ones between, block
// entries past a request's own are 2147480000.
struct Pages {
  int64_t page_tokens = 64, pages = 0;
  std::vector<int32_t> requests;  // (n, 4): first block entry, entries, generation, 0
  std::vector<int32_t> blocks;

  Pages(Random&, const std::vector<int32_t>& contexts, int64_t page_tokens, int64_t first_page = 0);
  // Physical row of a position.
  int64_t row(int64_t request, int64_t position) const {
    return int64_t(blocks[size_t(requests[size_t(request) * 4] + position / page_tokens)]) *
               page_tokens +
           position % page_tokens;
  }
};

template <template <class> class K, class Fill>
void on_host(Scene& scene, const Fill& fill, const Tuning& tuning = {}) {
  typename K<Host>::Args args{};
  fill(args);
  run_on_host<K>(args, tuning, scene.memory, scene.bindings);
}

::testing::AssertionResult passes(const ref::Verdict& verdict);

}  // namespace daybreak::kernels
