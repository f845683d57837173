// Gives every (token, expert) a row: rows of an expert are contiguous, in token order. Writes the row table
// (token of each row), its inverse (row of each token's slots), counts per expert and the work list of the
// expert products. One task = the same block of tokens as in route_select; task 0 also writes what exists
// once.
#pragma once
#include "kernels/library/moe/forms.hpp"
#include "kernels/tile/rowwise.hpp"

namespace daybreak::kernels {

template <class M, int kExperts, int kSlots> struct RoutePlaceOf {
  using Pipeline = Rowwise;
  static constexpr const char* kName = "route_place";
  static constexpr int kTokens = moe::kTokens, kBlocks = 16;  // histograms added at a time

  template <class T, int R, int C> using Tile = typename M::template Tile<T, R, C>;
  using Tensor = typename M::Tensor;

  struct Args {
    Tensor experts;        // (tokens, kSlots) i32
    Tensor counts;         // (blocks, kExperts) i32
    Tensor token_numbers;  // (tokens, 1) i32: 0, 1, ...
    Tensor table;          // (1, capacity) i32: token of each row
    Tensor table_rows;     // the same as (capacity, 1)
    Tensor rows;           // (kSlots, tokens) i32: row of each token's slots, -1: none
    Tensor totals;         // (1, kExperts) i32
    Tensor list;           // (pieces, 4) i32
    Tensor grid;           // (1, 2) i32
    int tokens = 0, blocks = 1, topk = 0;
    int capacity = 0;                     // pieces of the list
    int piece = 16, parts = 1, most = 1;  // of the expert products
  };
  struct Stage {
    Tile<int32_t, kTokens, kSlots> experts;
    Tile<int32_t, kTokens, 1> tokens;
  };
  struct Fixed {};
  struct State {
    Tile<int32_t, 1, kExperts> totals, before, starts;
  };
  struct Result {
    Tile<int32_t, kSlots, kTokens> rows;
  };
  struct Task {
    Args a;
    int block, first, tokens, trips;
  };

  static int tasks(const Args& a) { return a.blocks; }
  static Task task(M&, const Args& a, int number) {
    const int share = int(moe::round_up(moe::ceil_div(a.tokens, a.blocks), kTokens));
    const int first = std::min(number * share, a.tokens);
    const int tokens = std::min(share, a.tokens - first);
    return {a, number, first, tokens, int(moe::ceil_div(tokens, kTokens))};
  }

  static void begin(M& m, const Task& t, State& s) {
    m.fill(s.totals, 0.f);
    m.fill(s.before, 0.f);
    for (int b = 0; b < t.a.blocks; b += kBlocks) {
      Tile<int32_t, kBlocks, kExperts> counts;
      m.load(counts, t.a.counts, b, 0);
      m.sum_columns(s.totals, counts, t.a.blocks - b);
      if (b < t.block) m.sum_columns(s.before, counts, t.block - b);
    }
    m.prefix(s.starts, s.totals, s.before, moe::kRowAlign);
    if (t.block == 0) write_list(m, t, s);
  }

  static void load(M& m, const Task& t, int step, Stage& s) {
    m.load(s.experts, t.a.experts, t.first + step * kTokens, 0);
    m.load(s.tokens, t.a.token_numbers, t.first + step * kTokens, 0);
  }

  static void compute(M& m, const Task& t, int step, Fixed&, Stage& s, State& st, Result& r) {
    const int at = t.first + step * kTokens, valid = std::min(kTokens, t.a.tokens - at);
    [&]<int... kRow>(std::integer_sequence<int, kRow...>) {
      ((valid == kRow + 1 ? place<kRow + 1>(m, t, at, s, st, r) : void()), ...);
    }(std::make_integer_sequence<int, kTokens>());
  }

 private:
  template <int R> static void place(M& m, const Task& t, int at, Stage& s, State& st, Result& r) {
    auto numbers = columns<R>(r.rows, 0);
    m.rank(numbers, st.starts, rows<R>(s.experts, 0));
    m.store(t.a.rows, 0, at, numbers);
    for (int slot = 0; slot < t.a.topk; ++slot)
      m.scatter(t.a.table_rows, 0, rows<R>(s.tokens, 0), t.a.rows, slot, at);
  }

  static void write_list(M& m, const Task& t, State& s) {
    m.store(t.a.totals, 0, 0, s.totals);
    Tile<int32_t, 1, 2> grid;
    for (int first = 0; first < t.a.capacity; first += moe::kPieces) {
      Tile<int32_t, moe::kPieces, 4> list;
      m.work_list(list, grid, s.totals,
                  {.list = {},
                   .grid = {},
                   .lengths = {},
                   .first = first,
                   .align = moe::kRowAlign,
                   .piece = t.a.piece,
                   .parts = t.a.parts,
                   .most = t.a.most});
      m.store(t.a.list, first, 0, list);
    }
    m.store(t.a.grid, 0, 0, grid);
  }
};

template <int kExperts, int kSlots> struct RoutePlace {
  template <class M> using On = RoutePlaceOf<M, kExperts, kSlots>;
};

}  // namespace daybreak::kernels
