// y[token] = sum over its slots, ascending, of weight * expert output, in fp32, plus the shared expert's
// output, rounded to BF16 once (operators.md section 5). One task = 512 columns of a range of tokens,
// 16 tokens and one slot a step.
#pragma once
#include "kernels/library/moe/layouts.hpp"
#include "kernels/tile/machine.hpp"
#include "kernels/tile/rowwise.hpp"

namespace daybreak::kernels {

template <class M> struct ExpertCombine {
  using Pipeline = Rowwise;
  static constexpr const char* kName = "expert_combine";
  static constexpr int kTokens = moe::kTokens, kCols = 512;

  template <class T, int R, int C> using Tile = typename M::template Tile<T, R, C>;
  using Tensor = typename M::Tensor;

  struct Args {
    Tensor outputs;                                  // (rows, cols) bf16
    Tensor rows;                                     // (slots, tokens) i32, -1: none
    Tensor weights;                                  // (tokens, slots) f32
    Tensor shared;                                   // (tokens, cols) bf16; read if has_shared
    Tensor y;                                        // (tokens, cols) bf16
    int tokens = 0, cols = 0, topk = 0, blocks = 1;  // blocks: ranges of tokens
    bool has_shared = false;
  };
  struct Stage {
    Tile<Bf16, kTokens, kCols> output;
    Tile<float, kTokens, 1> weight;
  };
  struct Fixed {};
  struct State {
    Tile<float, kTokens, kCols> sum;
  };
  struct Result {
    Tile<Bf16, kTokens, kCols> y;
  };
  struct Task {
    Args a;
    int first, col, steps,
        trips;  // steps of one block of 16 tokens: its slots, then the shared expert
  };

  static int slices(const Args& a) { return int(moe::ceil_div(a.cols, kCols)); }
  static int tasks(const Args& a) { return a.blocks * slices(a); }
  static Task task(M&, const Args& a, int number) {
    const int share = int(moe::round_up(moe::ceil_div(a.tokens, a.blocks), kTokens));
    const int first = std::min(number / slices(a) * share, a.tokens);
    const int tokens = std::min(share, a.tokens - first);
    const int steps = a.topk + (a.has_shared ? 1 : 0);
    return {a, first, number % slices(a) * kCols, steps,
            int(moe::ceil_div(tokens, kTokens)) * steps};
  }

  static void load(M& m, const Task& t, int step, Stage& s) {
    const int at = t.first + step / t.steps * kTokens, slot = step % t.steps;
    if (slot < t.a.topk) {
      m.gather(s.output, t.a.outputs, t.col, t.a.rows, slot, at);
      m.load(s.weight, t.a.weights, at, slot);
    } else {
      m.load(s.output, t.a.shared, at, t.col);
    }
  }

  static void compute(M& m, const Task& t, int step, Fixed&, Stage& s, State& st, Result& r) {
    const int slot = step % t.steps;
    if (slot == t.a.topk) {
      m.add(st.sum, st.sum, s.output);
    } else {
      Tile<float, kTokens, kCols> term;
      m.cast(term, s.output);
      m.scale_rows(term, s.weight);
      if (slot == 0)
        m.cast(st.sum, term);
      else
        m.add(st.sum, st.sum, term);
    }
    if (slot + 1 == t.steps) m.cast(r.y, st.sum);
  }

  static void store(M& m, const Task& t, int step, Result& r) {
    if ((step + 1) % t.steps == 0) m.store(t.a.y, t.first + step / t.steps * kTokens, t.col, r.y);
  }
};

}  // namespace daybreak::kernels
