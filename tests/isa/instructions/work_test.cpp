// What instructions ask for, against counts worked out by hand.
#include "tests/isa/instructions/bench.hpp"

namespace daybreak::isa::test {

TileRef tile(Space space, Format format, uint32_t rows, uint32_t cols) {
  return {.id = 1,
          .space = space,
          .format = format,
          .pitch = uint32_t(bytes_of(format, cols)),
          .rows = rows,
          .cols = cols};
}
TileRef vector_tile(uint32_t rows, uint32_t cols) {
  return tile(Space::vector, Format::f32, rows, cols);
}

using Counts = std::array<int64_t, kVectorClasses>;  // simple, special, reduce, cast, dequantise
const TileRef kTile = vector_tile(4, 100), kColumn = vector_tile(4, 1), kRow = vector_tile(1, 100);
const TileRef kBf16 = tile(Space::vector, Format::bf16, 4, 100);
const TileRef kAcc = tile(Space::accumulator, Format::f32, 4, 100);

TEST(Work, load) { EXPECT_EQ(Load{.to = kBf16}.work().read_bytes, 800); }
TEST(Work, store) { EXPECT_EQ(Store{.from = kBf16}.work().write_bytes, 800); }
TEST(Work, gather) {
  const Work w = Gather{.to = kBf16, .rows_per_entry = 2}.work();
  EXPECT_EQ(w.read_bytes, 800 + 2 * 4);
  EXPECT_EQ(w.index_entries, 2);
  EXPECT_EQ(w.scalar_loads, 0);
  const Work s = Gather{.to = kBf16, .software = 1}.work();
  EXPECT_EQ(s.index_entries, 0);
  EXPECT_EQ(s.scalar_loads, 4);
}
TEST(Work, scatter) {
  const Work w = Scatter{.from = kBf16}.work();
  EXPECT_EQ(w.read_bytes, 16);
  EXPECT_EQ(w.write_bytes, 800);
  EXPECT_EQ(w.index_entries, 4);
}
TEST(Work, translate) {
  const Work w = Translate{.generation = {0, 0, 0}, .count = 2048}.work();
  EXPECT_EQ(w.read_bytes, 8192);
  EXPECT_EQ(w.write_bytes, 8200);
  EXPECT_EQ(w.translations, 2048);
  EXPECT_EQ(w.scalar_loads, 0);
  const Translate control{.count = 10, .on_control = 1};
  EXPECT_EQ(control.work().scalar_loads, 21);
  EXPECT_EQ(control.work().scalar_ops, 40);
  EXPECT_EQ(control.queue(), Queue::control);
}
TEST(Work, mma) {
  const TileRef a = tile(Space::operand, Format::e4m3, 64, 128),
                b = tile(Space::operand, Format::e4m3, 32, 128);
  const Work w =
      Mma{.acc = tile(Space::accumulator, Format::f32, 64, 32), .a = a, .b = b, .b_transposed = 1}
          .work();
  EXPECT_EQ(std::tuple(w.m, w.n, w.k), std::tuple(64, 32, 128));
  EXPECT_EQ(w.mac_format, Format::e4m3);
  EXPECT_EQ(w.operand_bytes, 64 * 128 + 32 * 128);
  const TileRef wide = tile(Space::operand, Format::bf16, 128, 16);
  const Work mixed = Mma{.a = a, .b = wide}.work();
  EXPECT_EQ(std::tuple(mixed.m, mixed.n, mixed.k), std::tuple(64, 16, 128));
  EXPECT_EQ(mixed.mac_format, Format::bf16);
}
TEST(Work, drain) { EXPECT_EQ((Drain{.to = kBf16, .from = kAcc}.work().drain_elements), 400); }
TEST(Work, move) { EXPECT_EQ((Move{.to = kBf16, .from = kBf16}.work().accumulator_bytes), 800); }

TEST(Work, fill) {
  EXPECT_EQ((Fill{.to = kTile}.work().elements), (Counts{400, 0, 0, 0, 0}));
  EXPECT_EQ(Fill{.to = kBf16}.work().elements, (Counts{400, 0, 0, 400, 0}));
  EXPECT_EQ(Fill{.to = kAcc}.work().accumulator_bytes, 1600);
}
TEST(Work, map) {
  EXPECT_EQ((Map{.to = kTile, .from = kTile, .function = Function::relu}.work().elements),
            (Counts{400, 0, 0, 0, 0}));
  EXPECT_EQ((Map{.to = kTile, .from = kBf16, .function = Function::silu}.work().elements),
            (Counts{0, 400, 0, 400, 0}));
}
TEST(Work, combine) {
  EXPECT_EQ((Combine{.to = kTile, .a = kTile, .b = kTile}.work().elements),
            (Counts{400, 0, 0, 0, 0}));
  EXPECT_EQ((Combine{.to = kTile, .a = kTile, .b = kTile, .function = Arithmetic::divide}
                 .work()
                 .elements),
            (Counts{0, 400, 0, 0, 0}));
}
TEST(Work, fma) {
  EXPECT_EQ((Fma{.to = kTile, .a = kTile, .b = kTile, .c = kTile}.work().elements),
            (Counts{800, 0, 0, 0, 0}));
}
TEST(Work, cast) {
  EXPECT_EQ((Cast{.to = kBf16, .from = kTile}.work().elements), (Counts{0, 0, 0, 400, 0}));
}
TEST(Work, row_reduce) {
  const Work w = RowReduce{.to = kColumn, .from = kAcc}.work();
  EXPECT_EQ(w.elements, (Counts{0, 0, 400, 0, 0}));
  EXPECT_EQ(w.accumulator_bytes, 1600);
}
TEST(Work, row_apply) {
  EXPECT_EQ((RowApply{.to = kTile, .from = kTile, .rows = kColumn}.work().elements),
            (Counts{400, 0, 0, 0, 0}));
  EXPECT_EQ((RowApply{.to = kAcc, .from = kAcc, .rows = kColumn}.work().accumulator_bytes), 3200);
}
TEST(Work, column_apply) {
  EXPECT_EQ((ColumnApply{.to = kTile, .from = kTile, .columns = kRow}.work().elements),
            (Counts{400, 0, 0, 0, 0}));
}
TEST(Work, raise_rows) {
  EXPECT_EQ((RaiseRows{.to = kColumn, .old = kColumn, .from = kTile}.work().elements),
            (Counts{4, 0, 400, 0, 0}));
}
TEST(Work, exp2_rows) {
  EXPECT_EQ((Exp2Rows{.to = kBf16, .from = kTile, .max = kColumn}.work().elements),
            (Counts{400, 400, 0, 400, 0}));
}
TEST(Work, scale_add) {
  EXPECT_EQ((ScaleAdd{.to = kColumn, .factor = kColumn, .addend = kColumn}.work().elements),
            (Counts{8, 0, 0, 0, 0}));
}
TEST(Work, keep_columns) {
  EXPECT_EQ((KeepColumns{.tile = kTile, .count = 90}.work().elements), (Counts{40, 0, 0, 0, 0}));
  EXPECT_EQ((KeepColumns{.tile = kTile, .count = 100}.work().elements), (Counts{}));
}
TEST(Work, log2_rows) {
  EXPECT_EQ((Log2Rows{.to = kColumn, .max = kColumn, .sum = kColumn}.work().elements),
            (Counts{8, 4, 0, 0, 0}));
}
TEST(Work, norm_rows) {
  EXPECT_EQ((NormRows{.to = kTile, .from = kTile, .weight = kRow}.work().elements),
            (Counts{800, 4, 400, 0, 0}));
  EXPECT_EQ((NormRows{.to = kTile, .from = kTile, .weight = kRow, .bias = kRow, .centre = 1}
                 .work()
                 .elements),
            (Counts{1600, 4, 800, 0, 0}));
}
TEST(Work, rope) {
  EXPECT_EQ((Rope{.to = kTile, .from = kTile, .angles = kRow}.work().elements),
            (Counts{1200, 0, 0, 0, 0}));
}
TEST(Work, hadamard) {
  const TileRef t = vector_tile(4, 128);
  EXPECT_EQ((Hadamard{.to = t, .from = t}.work().elements), (Counts{8 * 512, 0, 0, 0, 0}));
}
TEST(Work, quantise) {
  const TileRef x = tile(Space::vector, Format::bf16, 4, 256),
                codes = tile(Space::vector, Format::e4m3, 4, 256);
  EXPECT_EQ((Quantise{.to = codes, .scales = vector_tile(4, 2), .from = x}.work().elements),
            (Counts{1024, 8, 1024, 1024, 0}));
}
TEST(Work, dequantise) {
  const TileRef y = tile(Space::operand, Format::bf16, 4, 256),
                codes = tile(Space::vector, Format::e4m3, 4, 256);
  EXPECT_EQ((Dequantise{.to = y, .from = codes, .scales = vector_tile(4, 2)}.work().elements),
            (Counts{0, 0, 0, 0, 1024}));
}
// 2048 scores: 64 runs of 32, then 16, 4 and 1 lists; with k = 64 the lists stop growing at 64 records.
TEST(Work, topk_block) {
  const Work w = TopkBlock{.count = 2048, .k = 2048}.work();
  EXPECT_EQ(w.sort32_records, 2048);
  EXPECT_EQ(w.merge_records, 3 * 2048);
  EXPECT_EQ(w.sort_passes, 4);
  EXPECT_EQ((TopkBlock{.count = 2048, .k = 64}.work().merge_records), 16 * 64 + 4 * 64 + 64);
  EXPECT_EQ((TopkBlock{.count = 32, .k = 64}.work().sort_passes), 1);
}
TEST(Work, merge_topk) {
  const TileRef list = tile(Space::vector, Format::record, 1, 100);
  EXPECT_EQ((MergeTopk{.a = list, .b = list, .k = 150}.work().merge_records), 150);
  EXPECT_EQ((MergeTopk{.a = list, .k = 150}.work().merge_records), 100);
  EXPECT_EQ((MergeTopk{.a = list, .k = 150}.work().sort_passes), 1);
}
TEST(Work, extract) {
  const Work w = Extract{.from = tile(Space::vector, Format::record, 1, 2048)}.work();
  EXPECT_EQ(w.extract_records, 2048);
  EXPECT_EQ(w.sort32_records, 2048);
  EXPECT_EQ(w.merge_records, 3 * 2048);
  EXPECT_EQ(w.sort_passes, 5);
}
TEST(Work, signal) {
  EXPECT_EQ(Signal{}.work().elements, Counts{});
  EXPECT_EQ((Signal{.in_queue = Queue::sort}.queue()), Queue::sort);
}
TEST(Work, wait) {
  EXPECT_EQ(Wait{}.work().read_bytes, 0);
  EXPECT_EQ((Wait{.in_queue = Queue::vector}.queue()), Queue::vector);
}
TEST(Work, scalar_work) { EXPECT_EQ(ScalarWork{.operations = 7}.work().scalar_ops, 7); }
TEST(Work, scalar_load) {
  EXPECT_EQ(ScalarLoad{}.work().scalar_loads, 1);
  EXPECT_EQ(ScalarLoad{}.work().read_bytes, 4);
}

}  // namespace daybreak::isa::test
