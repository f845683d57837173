// From router logits to each token's experts and weights (operators.md section 5), and how often each
// block of tokens names each expert. Resets the row table beside it. One task = a block of tokens, 16 at a
// step.
#pragma once
#include "kernels/library/moe/forms.hpp"
#include "kernels/tile/rowwise.hpp"

namespace daybreak::kernels {

// kExperts, kSlots: experts and experts per token, padded to what is compiled.
template <class M, int kExperts, int kSlots> struct RouteSelectOf {
  using Pipeline = Rowwise;
  static constexpr const char* kName = "route_select";
  static constexpr int kTokens = moe::kTokens;
  static constexpr float kNoLogit = -1e30f;  // weighs nothing under softmax
  static constexpr float kLog2e = 1.44269504f;

  template <class T, int R, int C> using Tile = typename M::template Tile<T, R, C>;
  using Tensor = typename M::Tensor;

  struct Args {
    Tensor logits;   // (tokens, experts) f32
    Tensor bias;     // (1, experts) f32, of the choice; sigmoid
    Tensor experts;  // (tokens, kSlots) i32 ascending, -1 last
    Tensor weights;  // (tokens, kSlots) f32
    Tensor counts;   // (blocks, kExperts) i32
    Tensor table;    // (1, capacity) i32
    int tokens = 0, blocks = 1, count = 0, topk = 0, groups = 1, keep = 1;
    int capacity = 0;
    bool softmax = false, normalise = true;
    float scale = 1;
  };
  struct Stage {
    Tile<float, kTokens, kExperts> logits;
  };
  struct Fixed {
    Tile<float, 1, kExperts> bias;
  };
  struct State {
    Tile<int32_t, 1, kExperts> counts;
  };
  struct Result {
    Tile<int32_t, kTokens, kSlots> experts;
    Tile<float, kTokens, kSlots> weights;
  };
  struct Task {
    Args a;
    int block, first, tokens;  // tokens of the block
    int trips;
  };

  static int tasks(const Args& a) { return a.blocks; }
  static Task task(M&, const Args& a, int number) {
    const int share = int(moe::round_up(moe::ceil_div(a.tokens, a.blocks), kTokens));
    const int first = std::min(number * share, a.tokens);
    const int tokens = std::min(share, a.tokens - first);
    return {a, number, first, tokens, int(moe::ceil_div(tokens, kTokens))};
  }

  static void prepare(M& m, const Task& t, Fixed& f) {
    if (!t.a.softmax && t.trips > 0) m.load(f.bias, t.a.bias, 0, 0);
  }
  static void begin(M& m, const Task&, State& s) { m.fill(s.counts, 0.f); }
  static void load(M& m, const Task& t, int step, Stage& s) {
    m.load(s.logits, t.a.logits, t.first + step * kTokens, 0);
  }

  static void compute(M& m, const Task& t, int step, Fixed& f, Stage& s, State& st, Result& r) {
    typename M::template Rows<kTokens> sum;
    if (t.a.softmax) {
      typename M::template Rows<kTokens> max;
      m.select_rows(r.experts, r.weights, s.logits, s.logits, t.a.count, t.a.topk, kNoLogit);
      m.max_rows(max, r.weights);
      m.exp2_rows(r.weights, r.weights, max, kLog2e);
    } else {
      Tile<float, kTokens, kExperts> choice;
      m.act(s.logits, s.logits, isa::Function::sigmoid);
      m.cast(choice, s.logits);
      m.add_columns(choice, f.bias);
      if (t.a.groups > 1) m.keep_groups(choice, choice, t.a.count, t.a.groups, t.a.keep);
      m.select_rows(r.experts, r.weights, choice, s.logits, t.a.count, t.a.topk, 0.f);
    }
    if (t.a.normalise || t.a.softmax) {
      m.sum_rows(sum, r.weights);
      m.divide_rows(r.weights, sum);
    }
    if (t.a.scale != 1) m.act(r.weights, r.weights, isa::Function::copy, t.a.scale);
    count_valid(m, t, step, st, r);
  }

  static void store(M& m, const Task& t, int step, Result& r) {
    m.store(t.a.experts, t.first + step * kTokens, 0, r.experts);
    m.store(t.a.weights, t.first + step * kTokens, 0, r.weights);
  }

  static void finish(M& m, const Task& t, State& s) {
    m.store(t.a.counts, t.block, 0, s.counts);
    Tile<int32_t, 1, moe::kFillRows> padding;
    m.fill(padding, -1.f);
    const int pieces = t.a.capacity / moe::kFillRows;
    for (int p = t.block; p < pieces; p += t.a.blocks)
      m.store(t.a.table, 0, p * moe::kFillRows, padding);
  }

 private:
  // Rows past the last token do not count.
  static void count_valid(M& m, const Task& t, int step, State& s, Result& r) {
    const int valid = std::min(kTokens, t.tokens - step * kTokens);
    [&]<int... kRow>(std::integer_sequence<int, kRow...>) {
      ((valid == kRow + 1 ? m.count(s.counts, rows<kRow + 1>(r.experts, 0)) : void()), ...);
    }(std::make_integer_sequence<int, kTokens>());
  }
};

template <int kExperts, int kSlots> struct RouteSelect {
  template <class M> using On = RouteSelectOf<M, kExperts, kSlots>;
};

}  // namespace daybreak::kernels
