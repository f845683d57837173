#include "tests/device/scenes.cuh"

#include <atomic>
#include <numeric>
#include <thread>

namespace daybreak::device {

namespace dsa = kernels::dsa;

Pages::Pages(std::vector<int32_t> lengths, Random& random, int tokens, int spare)
    : contexts(std::move(lengths)), page_tokens(tokens) {
  int64_t needed = 0;
  for (const int32_t c : contexts) needed += (c + tokens - 1) / tokens;
  count = needed + spare;
  std::vector<int32_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[random.bits() % (i + 1)]);
  for (const int32_t c : contexts) {
    const int32_t entries = (c + tokens - 1) / tokens, first = int32_t(blocks.size());
    for (int32_t e = 0; e < entries; ++e) {
      blocks.push_back(order.back());
      order.pop_back();
    }
    requests.insert(requests.end(), {first, entries, 7 + random.below(1000), 0});
  }
  blocks.push_back(2147480000);  // past every request's entries: never looked at
}

int32_t Pages::row(int request, int32_t position) const {
  const int32_t page = blocks[size_t(requests[size_t(request) * 4] + position / page_tokens)];
  return page * page_tokens + position % page_tokens;
}

std::vector<int> sample(int all, int count, Random& random) {
  std::vector<int> list(static_cast<size_t>(all));
  std::iota(list.begin(), list.end(), 0);
  if (count <= 0 || count >= all) return list;
  std::vector<int> chosen{0, all - 1};
  while (int(chosen.size()) < count) {
    const int x = random.below(all);
    if (std::find(chosen.begin(), chosen.end(), x) == chosen.end()) chosen.push_back(x);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

void in_parallel(int count, const std::function<void(int)>& f) {
  std::atomic<int> next{0};
  std::vector<std::jthread> workers;
  const unsigned most = std::max(1u, std::thread::hardware_concurrency());
  for (unsigned w = 0; w < std::min<unsigned>(most, unsigned(count)); ++w)
    workers.emplace_back([&] {
      for (int i = next++; i < count; i = next++) f(i);
    });
}

namespace {

constexpr int kMultiprocessors = 132;

int clamped(int splits, int most) { return std::clamp(splits, 1, std::max(most, 1)); }

}  // namespace

// 32 steps of 64 keys at most.
int attention_splits(int tokens, int heads) {
  return clamped(kMultiprocessors / std::max(tokens * heads / 64, 1), 16);
}
// Eight steps of 256 keys, fewer where that would leave multiprocessors idle.
int indexer_splits(int requests, int context) {
  const int steps = (context + 255) / 256;
  return clamped(std::max(kMultiprocessors / std::max(requests, 1), steps / 8), steps);
}
// A block takes 32768 scores at once; longer rows are shared where there are few of them.
int topk_splits(int rows, int columns) {
  const int blocks = (columns + 32767) / 32768;
  return rows * blocks <= kMultiprocessors ? clamped(blocks, 4) : 1;
}

}  // namespace daybreak::device
