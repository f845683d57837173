// What the instructions of experts and routing ask for, counted by hand.
#include "tests/isa/instructions/bench.hpp"

namespace daybreak::isa::test {

TileRef shape(Space space, Format format, uint32_t rows, uint32_t cols) {
  return {.id = 1,
          .space = space,
          .format = format,
          .pitch = uint32_t(bytes_of(format, cols)),
          .rows = rows,
          .cols = cols};
}
using Classes = std::array<int64_t, kVectorClasses>;  // simple, special, reduce, cast, dequantise

TEST(Work, stream_mxfp4) {
  const Work w = StreamMxfp4{.to = shape(Space::operand, Format::e4m3, 16, 7168)}.work();
  EXPECT_EQ(w.read_bytes, 16 * (3584 + 224));
  EXPECT_EQ(w.converted, 16 * 7168);
  EXPECT_EQ(w.block_scale_bytes, 16 * 224);
}
TEST(Work, unpack_mxfp4) {
  EXPECT_EQ((UnpackMxfp4{.to = shape(Space::vector, Format::e4m3, 16, 128)}.work().elements),
            (Classes{2048, 0, 0, 2048, 0}));
}
TEST(Work, glu) {
  const TileRef t = shape(Space::vector, Format::f32, 4, 100),
                acc = shape(Space::accumulator, Format::f32, 4, 100);
  EXPECT_EQ((Glu{.to = t, .gate = t, .up = t}.work().elements), (Classes{800, 400, 0, 0, 0}));
  EXPECT_EQ((Glu{.to = t, .gate = t, .up = t, .form = Gating::swiglu, .limit = 7}.work().elements),
            (Classes{2800, 400, 0, 0, 0}));
  const Work w = Glu{.to = t, .gate = acc, .up = acc, .form = Gating::situ}.work();
  EXPECT_EQ(w.elements, (Classes{2800, 1200, 0, 0, 0}));
  EXPECT_EQ(w.accumulator_bytes, 2 * 1600);
}
TEST(Work, keep_groups) {
  const TileRef t = shape(Space::vector, Format::f32, 4, 100);
  EXPECT_EQ((KeepGroups{.to = t, .from = t}.work().elements), (Classes{400, 0, 800, 0, 0}));
}
TEST(Work, sum_columns) {
  const TileRef t = shape(Space::vector, Format::i32, 4, 100);
  EXPECT_EQ((SumColumns{.from = t, .rows = 3}.work().elements), (Classes{300, 0, 0, 0, 0}));
}
TEST(Work, prefix) {
  const TileRef t = shape(Space::vector, Format::i32, 1, 256);
  EXPECT_EQ((Prefix{.to = t}.work().elements), (Classes{9 * 256, 0, 0, 0, 0}));
}
TEST(Work, work_list) {
  EXPECT_EQ((WorkList{.list = shape(Space::vector, Format::i32, 64, 4),
                      .lengths = shape(Space::vector, Format::i32, 1, 256)}
                 .work()
                 .elements),
            (Classes{512, 0, 0, 0, 0}));
}
// 8 of 256: sorted in 32s, merged 8 -> 2 -> 1 lists that never keep more than 8 records each, then the
// eight in order.
TEST(Work, select_rows) {
  const Work w =
      SelectRows{.scores = shape(Space::vector, Format::f32, 4, 256), .count = 256, .k = 8}.work();
  EXPECT_EQ(w.sort32_records, 4 * (256 + 8));
  EXPECT_EQ(w.merge_records, 4 * (2 * 8 + 8));
  EXPECT_EQ(w.extract_records, 4 * 8);
  EXPECT_EQ(w.sort_passes, 3 + 2);
}
TEST(Work, rank) {
  const Work w = Rank{.entries = shape(Space::vector, Format::i32, 64, 8)}.work();
  EXPECT_EQ(w.merge_records, 512);
  EXPECT_EQ(w.sort_passes, 1);
}
TEST(Work, ScaledProductsReadTheirScales) {
  const TileRef a = shape(Space::operand, Format::e4m3, 16, 256),
                s = shape(Space::operand, Format::f32, 16, 2);
  EXPECT_EQ(
      (Mma{.a = a, .b = a, .a_scales = s, .b_scales = s, .b_transposed = 1}.work().scale_bytes),
      2 * 16 * 2 * 4);
}

}  // namespace daybreak::isa::test
