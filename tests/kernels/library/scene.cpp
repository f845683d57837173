#include "tests/kernels/library/scene.hpp"

#include <algorithm>
#include <numeric>

#include "ref/ops/formats.hpp"

namespace daybreak::kernels {

ref::ByteSource Scene::source(uint16_t id) const {
  return ref::ByteSource(uint64_t(bindings[id].bytes.value), [this, id](uint64_t at, auto to) {
    memory.read(Address(bindings[id].base.value + at), std::as_writable_bytes(to));
  });
}

void Scene::copy_to(Scene& other) const {
  for (size_t id = 0; id < bindings.size(); ++id)
    other.put(bindings[id].name, all<uint8_t>(uint16_t(id)));
}

float Random::normal(float deviation) {
  return std::normal_distribution<float>(0, deviation)(engine);
}
float Random::uniform(float low, float high) {
  return std::uniform_real_distribution<float>(low, high)(engine);
}
uint16_t Random::bf16(float deviation) { return ref::nearest_bf16(normal(deviation)); }
std::vector<uint16_t> Random::bf16s(int64_t n, float deviation) {
  std::vector<uint16_t> v(static_cast<size_t>(n));
  for (auto& x : v) x = bf16(deviation);
  return v;
}
std::vector<float> Random::normals(int64_t n, float deviation) {
  std::vector<float> v(static_cast<size_t>(n));
  for (auto& x : v) x = normal(deviation);
  return v;
}
std::vector<uint8_t> Random::e4m3s(int64_t n) {
  std::vector<uint8_t> v(static_cast<size_t>(n));
  for (auto& x : v) do
      x = uint8_t(below(256));
    while ((x & 0x7F) == 0x7F);
  return v;
}

Pages::Pages(Random& random, const std::vector<int32_t>& contexts, int64_t tokens,
             int64_t first_page)
    : page_tokens(tokens) {
  constexpr int32_t kPoison = 2147480000;
  std::vector<int64_t> own;
  for (int32_t c : contexts) own.push_back((c + tokens - 1) / tokens);
  const int64_t used = std::accumulate(own.begin(), own.end(), int64_t{0});
  pages = first_page + 2 * used + 1;
  std::vector<int32_t> free(static_cast<size_t>(pages - first_page));
  std::iota(free.begin(), free.end(), int32_t(first_page));
  std::shuffle(free.begin(), free.end(), random.engine);
  for (size_t r = 0; r < contexts.size(); ++r) {
    blocks.insert(blocks.end(), size_t(random.below(3)), kPoison);
    requests.insert(requests.end(), {int32_t(blocks.size()), int32_t(own[r]), int32_t(7 + r), 0});
    for (int64_t b = 0; b < own[r]; ++b) {
      blocks.push_back(free.back());
      free.pop_back();
    }
  }
  blocks.push_back(kPoison);
}

::testing::AssertionResult passes(const ref::Verdict& v) {
  if (v.pass) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << v.name << ": " << v.finding << " (worst " << v.worst << ": got " << v.got << ", want "
         << v.want << "; " << v.tolerance << ")";
}

}  // namespace daybreak::kernels
