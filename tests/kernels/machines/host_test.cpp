// Host refuses what hardware would let pass, and names body, operation and tile.
#include "tests/kernels/machines/small_scenes.hpp"

namespace daybreak::testing {
namespace {

using Acc = Host::Acc<64, 64>;
using X = Host::Tile<float, 64, 64>;
using B = Host::Tile<Bf16, 64, 64>;

// Runs `body` on a fresh Host; the message of what it throws, "" if nothing.
template <class F> std::string refusal(F&& body) {
  isa::MemoryImage memory;
  isa::BindingTable bindings;
  Host host(memory, bindings);
  host.begin_task("kernel", 7);
  host.enter("first", 3);
  try {
    body(host);
  } catch (const InvariantError& e) { return e.what(); }
  return "";
}

void expect_words(const std::string& text, std::initializer_list<const char*> words) {
  for (const char* word : words)
    EXPECT_NE(text.find(word), std::string::npos) << word << " in: " << text;
}

TEST(Host, RefusesATileNothingHasFilled) {
  expect_words(refusal([](Host& m) {
                 X x, y;
                 m.fill(x, 1.f);
                 m.add(x, x, y);
               }),
               {"kernel task 7", "first step 3", "combine", "f32 64x64", "nothing has filled"});
}

TEST(Host, KnowsWhichPartIsFilled) {
  EXPECT_EQ(refusal([](Host& m) {
              X x, y;
              m.fill(columns<32>(x, 0), 1.f);
              m.cast(columns<32>(y, 8), columns<32>(x, 0));
              m.fill(columns<32>(x, 32), 2.f);
              m.cast(y, x);
            }),
            "");
  expect_words(refusal([](Host& m) {
                 X x, y;
                 m.fill(columns<32>(x, 0), 1.f);
                 m.cast(columns<32>(y, 0), columns<32>(x, 1));
               }),
               {"cast", "nothing has filled"});
  expect_words(refusal([](Host& m) {
                 X x, y;
                 m.fill(rows<63>(x, 0), 1.f);
                 m.cast(y, x);
               }),
               {"nothing has filled"});
}

TEST(Host, RefusesAnAccumulatorTheMatrixUnitHolds) {
  auto multiply = [](Host& m, Acc& acc, bool settle) {
    B a, b;
    m.fill(a, 1.f);
    m.fill(b, 1.f);
    m.mma_abt(acc, a, b, false);
    m.mma_abt(acc, a, b, true);  // the matrix unit itself may go on
    if (settle) m.settle();
  };
  expect_words(refusal([&](Host& m) {
                 Acc acc;
                 X x;
                 multiply(m, acc, false);
                 m.cast(x, acc);
               }),
               {"cast", "read before the matrix unit has settled"});
  expect_words(refusal([&](Host& m) {
                 Acc acc;
                 multiply(m, acc, false);
                 m.fill(acc, 0.f);
               }),
               {"fill", "written before the matrix unit has settled"});
  EXPECT_EQ(refusal([&](Host& m) {
              Acc acc;
              X x;
              multiply(m, acc, true);
              m.cast(x, acc);
            }),
            "");
}

TEST(Host, RefusesAddingToAnAccumulatorThatHoldsNothing) {
  expect_words(refusal([](Host& m) {
                 Acc acc;
                 B a;
                 m.fill(a, 1.f);
                 m.mma_abt(acc, a, a, true);
               }),
               {"mma", "nothing has filled"});
}

struct Pair {
  X x, y;
};

TEST(Host, RefusesAReleasedSlot) {
  expect_words(refusal([](Host& m) {
                 Owned<Pair, Host> slot(m, "stage");
                 EXPECT_EQ(slot.ids.size(), 2u);
                 X local;
                 m.fill(slot.value.x, 1.f);
                 m.release(slot.ids);
                 m.cast(local, slot.value.x);
               }),
               {"stage", "after its release"});
}

TEST(Host, RefusesABoardReadWhereItIsWritten) {
  expect_words(refusal([](Host& m) {
                 Owned<Pair, Host> board(m, "board");
                 m.guard_board(board.ids);
                 m.fill(board.value.x, 1.f);
                 m.enter("second", 4);
                 m.cast(board.value.y, board.value.x);  // written before: allowed
                 X local;
                 m.cast(local, board.value.y);
               }),
               {"second step 4", "board", "read in the body that writes it"});
}

TEST(Host, RefusesWaitingForLaterTasks) {
  EXPECT_EQ(refusal([](Host& m) {
              m.signal({3});
              m.signal({3});
              m.wait({3}, 2);
            }),
            "");
  expect_words(refusal([](Host& m) {
                 m.signal({3});
                 m.wait({3}, 2);
               }),
               {"counter 3", "1 of 2", "lower-numbered"});
}

TEST(Host, RefusesPagesThatDoNotFillTheTile) {
  expect_words(refusal([](Host& m) {
                 Host::Tile<E4m3, 64, 128> keys;
                 const auto pages = isa::tensor(0, Format::e4m3, {4, 48, 128});
                 const auto index = isa::tensor(0, Format::i32, {1, 4});
                 m.gather_pages(keys, pages, 0, index, 0, 0);
               }),
               {"whole pages of 48"});
}

TEST(Host, RefusesReadingOutsideATensor) {
  expect_words(refusal([](Host& m) {
                 m.read(isa::tensor(0, Format::i32, {1, 4}), 0, 4);
               }),
               {"(0, 4)", "outside the tensor"});
}

TEST(Host, TilesOfManySizesDoNotShareBytes) {
  Scene scene;
  const uint16_t out = scene.add_zeros("out", 80 * 4);
  isa::MemoryImage memory;
  scene.fill(memory);
  Host m(memory, scene.bindings());
  const auto tensor = isa::tensor(out, Format::f32, {80, 1});
  std::vector<std::unique_ptr<Host::Tile<float, 128, 512>>> large;
  std::vector<std::unique_ptr<Host::Tile<float, 1, 1>>> small;
  for (int i = 0; i < 40; ++i) {  // 10 MB: the scratch has to grow under tiles that hold values
    large.push_back(std::make_unique<Host::Tile<float, 128, 512>>());
    small.push_back(std::make_unique<Host::Tile<float, 1, 1>>());
    m.fill(*large.back(), float(i));
    m.fill(*small.back(), float(1000 + i));
  }
  for (int i = 0; i < 40; ++i) {
    m.store(tensor, 2 * i, 0, part<1, 1>(*large[i], 127, 511));
    m.store(tensor, 2 * i + 1, 0, *small[i]);
  }
  for (int i = 0; i < 40; ++i) {
    const uint64_t at = scene.bindings()[out].base.value + 8 * uint64_t(i);
    EXPECT_EQ(memory.get<float>(Address(at)), float(i));
    EXPECT_EQ(memory.get<float>(Address(at + 4)), float(1000 + i));
  }
}

}  // namespace
}  // namespace daybreak::testing
