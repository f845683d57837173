#include "ref/ops/topk.hpp"
#include "tests/device/fill.cuh"
#include "tests/device/scenes.cuh"

namespace daybreak::device {

namespace dsa = kernels::dsa;

TopkScene::TopkScene(const TopkShape& s, uint64_t seed,
                     const std::function<float(int, int, Random&)>& value)
    : shape(s), pitch_(dsa::padded_context(s.columns)) {
  Random random{seed};
  scores_ = memory.room(s.rows * pitch_ * 4);
  if (value) {
    std::vector<float> scores(size_t(s.rows * pitch_));
    for (int r = 0; r < s.rows; ++r)
      for (int c = 0; c < pitch_; ++c) scores[size_t(r * pitch_ + c)] = value(r, c, random);
    check(cudaMemcpy(memory.base(scores_), scores.data(), scores.size() * 4, cudaMemcpyDefault),
          "copy in");
  } else {
    fill_f32(memory.base(scores_), s.rows * pitch_, seed, 1);
  }
  std::vector<int32_t> counts;
  for (int r = 0; r < s.rows; ++r) counts.push_back(count(r));
  const uint16_t contexts = memory.put(counts);
  lists_ = memory.room(int64_t(s.rows) * s.splits * dsa::kTopk * 8);
  positions_ = memory.room(int64_t(s.rows) * dsa::kTopk * 4);
  valid_ = memory.room(s.rows * 4);
  first_.scores = memory.tensor(dsa::score_rows(scores_, s.rows, pitch_));
  first_.contexts = memory.tensor(dsa::row(contexts, Format::i32, s.rows));
  first_.lists = memory.tensor(dsa::lists(lists_, int64_t(s.rows) * s.splits));
  first_.tokens = s.rows, first_.splits = s.splits;
  second_.lists = first_.lists;
  second_.positions = memory.tensor(dsa::positions(positions_, s.rows));
  second_.valid = memory.tensor(dsa::row(valid_, Format::i32, s.rows));
  second_.tokens = s.rows, second_.splits = s.splits;
  first_.positions = second_.positions, first_.valid = second_.valid;
  first_.alone = s.splits == 1;
}

int32_t TopkScene::count(int row) const {
  return shape.counts.empty() ? shape.columns : shape.counts[size_t(row) % shape.counts.size()];
}

void TopkScene::launch(cudaStream_t stream) {
  kernels::device::launch(first_, memory.place(stream));
  if (!first_.alone) kernels::device::launch(second_, memory.place(stream));
}

void TopkScene::verify(Report& report, const std::string& name, int rows) {
  launch();
  const std::string faults = memory.faults();
  if (!faults.empty()) return report.add(name, false, faults);
  Random random{7};
  const std::vector<int> list = sample(shape.rows, rows, random);
  std::vector<std::vector<int32_t>> got(list.size()), want(list.size());
  std::vector<std::vector<float>> scores(list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    const int r = list[i];
    scores[i] = memory.get<float>(scores_, r * pitch_, count(r));
    got[i] = memory.get<int32_t>(positions_, int64_t(r) * dsa::kTopk, dsa::kTopk);
    got[i].push_back(memory.get<int32_t>(valid_, r, 1)[0]);
  }
  in_parallel(int(list.size()), [&](int i) {
    auto& w = want[size_t(i)];
    w = ref::topk(scores[size_t(i)], dsa::kTopk);
    w.push_back(int32_t(std::count_if(w.begin(), w.end(), [](int32_t p) { return p >= 0; })));
  });
  std::vector<int32_t> all, wanted;
  for (size_t i = 0; i < list.size(); ++i) {
    all.insert(all.end(), got[i].begin(), got[i].end());
    wanted.insert(wanted.end(), want[i].begin(), want[i].end());
  }
  report.add(
      ref::compare_exact(name, std::span<const int32_t>(all), std::span<const int32_t>(wanted)));
}

void TopkScene::verify_repeats(Report& report, const std::string& name, int times) {
  launch();
  const auto first = memory.all<uint8_t>(positions_);
  int different = 0;
  for (int i = 1; i < times; ++i) {
    memory.poison(positions_);
    launch();
    different += memory.all<uint8_t>(positions_) != first;
  }
  report.add(name + ", " + std::to_string(times) + " runs", different == 0,
             different ? std::to_string(different) + " differ from the first" : "same bytes");
}

}  // namespace daybreak::device
