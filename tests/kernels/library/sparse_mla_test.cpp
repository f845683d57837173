// Sparse MLA and its combine on Host against the Eigen oracle in double.
#include "kernels/library/dsa/sparse_mla.hpp"

#include "kernels/library/dsa/mla_combine.hpp"
#include "tests/kernels/library/mla_scene.hpp"

namespace daybreak::kernels {
namespace {

const std::vector<Tuning> kTunings{
    {}, {.ring = 3, .boards = 2, .score_ahead = 576}, {.ring = 2, .boards = 1, .score_ahead = 320}};

void run(MlaScene& scene, const Tuning& tuning = {}) {
  const auto fill = [&](auto& a) { scene.attention(a); };
  if (scene.shape.fp8)
    tuning.wide ? on_host<SparseMlaWide>(scene, fill, tuning)
                : on_host<SparseMla>(scene, fill, tuning);
  else
    tuning.wide ? on_host<SparseMlaRowsWide>(scene, fill, tuning)
                : on_host<SparseMlaRows>(scene, fill, tuning);
  if (scene.shape.splits > 1)
    on_host<MlaCombine>(
        scene, [&](auto& a) { scene.results(a); }, tuning);
}

void check(MlaShape shape, const Tuning& tuning = {}) {
  SCOPED_TRACE(::testing::Message()
               << "heads " << shape.heads << " splits " << shape.splits << " page "
               << shape.page_tokens << " fp8 " << shape.fp8 << " sink " << shape.sink);
  MlaScene scene(std::move(shape));
  run(scene, tuning);
  scene.expect();
}

// Scales are arbitrary fp32 here (FlashMLA PR#184, #192; vllm PR#54563: taken for powers of two), and what no
// entry names is NaN (DeepGEMM #20; tilelang PR#811; vllm PR#30494: rows of -1 read).
TEST(SparseMla, CountsOfKeys) { check({.valid = {0, 1, 63, 64, 65, 130, 2047, 2048}, .seed = 1}); }
TEST(SparseMla, TuningsAgreeBitForBit) {
  std::vector<uint16_t> first;
  for (const Tuning& tuning : kTunings) {
    MlaScene scene({.valid = {200, 64, 0}, .heads = 64, .seed = 2});
    run(scene, tuning);
    scene.expect();
    const auto out = scene.all<uint16_t>(scene.out);
    if (first.empty()) first = out;
    EXPECT_EQ(out, first);
  }
}
TEST(SparseMla, SplitsAndCombine) {
  for (int splits : {2, 3, 8})
    for (bool sink : {false, true})
      check({.valid = {0, 1, 64, 65, 500}, .heads = 64, .splits = splits, .sink = sink, .seed = 3});
}
TEST(SparseMla, SplitOfALongestListIsEmpty) {
  check({.valid = {2048, 100}, .splits = 40, .seed = 4});
}
TEST(SparseMla, HeadsOneToOneHundredAndThirty) {
  for (int heads : {1, 2, 63, 65, 128, 130})
    for (int splits : {1, 2})
      check({.valid = {70, 3}, .heads = heads, .splits = splits, .sink = true, .seed = 5});
}
TEST(SparseMla, PagesOfEverySize) {
  for (int64_t page : {2, 16, 61, 128}) check({.valid = {100}, .page_tokens = page, .seed = 6});
}
TEST(SparseMla, PowerOfTwoScales) {
  check({.valid = {100, 7}, .scales = ref::ScaleForm::ue8m0_ceil, .seed = 7});
}
TEST(SparseMla, PlainRows) {
  check({.valid = {0, 100, 64}, .fp8 = false, .sink = true, .seed = 8});
  check({.valid = {0, 300}, .splits = 4, .fp8 = false, .seed = 9});
}
TEST(SparseMla, RowsPastThirtyTwoBitsOfBytes) {
  check({.valid = {100}, .first_page = 120'000, .seed = 10});
}
TEST(SparseMla, WideSteps) {
  const Tuning wide{.score_ahead = 576, .wide = true};
  check({.valid = {0, 1, 63, 64, 65, 127, 128, 129, 500, 2048}, .sink = true, .seed = 13}, wide);
  for (int splits : {2, 3, 16, 40})
    check({.valid = {2048, 300, 0}, .heads = 128, .splits = splits, .seed = 14}, wide);
  check({.valid = {0, 300}, .splits = 4, .fp8 = false, .seed = 15}, wide);
}
// Sharing rows moves data another way and changes no bit.
TEST(SparseMla, PairsAgreeBitForBit) {
  for (bool wide : {false, true}) {
    std::vector<uint16_t> alone;
    for (bool pair : {false, true}) {
      MlaScene scene({.valid = {200, 64, 0}, .heads = 256, .splits = 2, .seed = 16});
      run(scene, {.wide = wide, .pair = pair});
      scene.expect();
      const auto out = scene.all<uint16_t>(scene.out);
      if (alone.empty()) alone = out;
      EXPECT_EQ(out, alone);
    }
  }
}
TEST(SparseMla, NoTokens) { check({.valid = {}, .seed = 11}); }

TEST(SparseMla, TableOfAnEarlierGenerationIsRefused) {
  MlaScene scene({.valid = {100}, .seed = 12});
  scene.set<int32_t>(scene.requests, 2, 8);
  try {
    run(scene);
    FAIL() << "a stale table was used";
  } catch (const InvariantError& e) {
    EXPECT_NE(std::string(e.what()).find("stale index table"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace daybreak::kernels
