// Sparse MLA decode. One task = one query token, 64 of its heads and a contiguous split of the rows
// that the token's row of the aggregated index table names; the tasks of one token and split follow
// each other, so that two can share what they gather. The latent part of a key is also its
// value. (spec/operators.md section 4)
//
// One split: BF16 outputs and log-sum-exp, the sink applied. More: every split leaves its
// normalised fp32 output and its log-sum-exp (-1e30 where it had no key) to mla_combine.
#pragma once
#include <limits>

#include "kernels/library/dsa/forms.hpp"
#include "kernels/tile/gathered_attention.hpp"

namespace daybreak::kernels {

template <class M, class Form, int kKeys = 64> struct SparseMlaOf {
  using Pipeline = GatheredAttention;
  static constexpr const char* kName = Form::kAttention;
  static constexpr int kHeads = dsa::kHeadTile, kDim = dsa::kDim;
  static constexpr int kShare = dsa::kLatent / M::kConsumers;  // output columns of one consumer
  static constexpr int kBlock = 64;       // splits begin at multiples of it, however long the steps
  static constexpr int kPart = 128;       // output columns that leave at a time
  static constexpr float kNone = -1e30f;  // a score that does not count

  template <class T, int R, int C> using Tile = typename M::template Tile<T, R, C>;
  template <int R, int C> using Acc = typename M::template Acc<R, C>;
  using Rows = typename M::template Rows<kHeads>;
  using LocalRows = typename M::template Local<float, kHeads, 1>;
  using Tensor = typename M::Tensor;

  struct Args {
    Tensor q;         // (tokens * heads, 576) bf16
    Tensor cache;     // (pages, page tokens, 656) u8 records or (.., 576) bf16 rows
    Tensor rows;      // (tokens, 2048) i32 physical rows, -1 last: the aggregated index table
    Tensor stamps;    // (tokens, 2) i32, what the table was translated under
    Tensor requests;  // (requests, 4) i32, page table
    Tensor valid;     // (1, tokens) i32: entries of a table row that are not -1
    Tensor sinks;     // (heads, 1) f32; read if has_sink
    Tensor out;       // (tokens * heads, 512) bf16; one split
    Tensor lse;       // (tokens * heads, 1) f32, natural logarithm; +inf without a key; one split
    Tensor partial_out;                          // (splits * tokens * heads, 512) f32; more splits
    Tensor partial_lse;                          // (splits * tokens * heads, 1) f32; more splits
    int tokens = 0, heads = kHeads, splits = 1;  // heads: padded, a multiple of 64
    bool has_sink = false;
    float scale = 1;  // softmax scale * log2(e)
    float slack = 0;  // how far scores may rise over the maximum before it follows them
  };
  using Stage = typename Form::template Rows<M, kKeys>;
  struct Fixed {
    Tile<Bf16, kHeads, kDim> q;
  };
  struct Scores {
    Acc<kHeads, kKeys> dots;
  };
  struct Board {
    Tile<Bf16, kHeads, kKeys> weights;
    Tile<float, kHeads, 1> max, fade, mass;
  };
  struct State {
    Acc<kHeads, kShare> out;
    Rows sum;
  };

  struct Task {
    Args a;
    int token, row, head;  // row: of q and out
    int first, keys;       // entries of the table row: where they start, how many
    int partial;           // row of the partial results
    int trips;
  };

  static DAYBREAK_BOTH int tasks(const Args& a) { return a.tokens * (a.heads / kHeads) * a.splits; }
  static DAYBREAK_BOTH bool pairs(const Args& a) { return a.heads / kHeads % 2 == 0; }
  static DAYBREAK_DEVICE Task task(M& m, const Args& a, int number) {
    const int groups = a.heads / kHeads, group = number % groups, list = number / groups;
    const int split = list % a.splits, token = list / a.splits,
              row = (token * groups + group) * kHeads;
    const int valid = m.read(a.valid, 0, token), blocks = (valid + kBlock - 1) / kBlock;
    const int share = (blocks + a.splits - 1) / a.splits * kBlock;
    const int first = least(split * share, dsa::kTopk - kBlock);
    const int keys = within(valid - split * share, 0, share);
    return {a,
            token,
            row,
            group * kHeads,
            first,
            keys,
            split * a.tokens * a.heads + row,
            most((keys + kKeys - 1) / kKeys, 1)};  // no key: one step whose keys weigh nothing
  }

  static DAYBREAK_DEVICE void prepare(M& m, const Task& t, Fixed& f) {
    m.load(f.q, t.a.q, t.row, 0);
  }

  static DAYBREAK_DEVICE void load(M& m, const Task& t, int step, Stage& s) {
    m.gather(Form::landing(s), t.a.cache, 0, t.a.rows, t.token, t.first + step * kKeys, t.a.stamps,
             t.a.requests);
  }

  static DAYBREAK_DEVICE void convert(M& m, const Task&, int, Stage& s) { Form::convert(m, s); }

  static DAYBREAK_DEVICE void begin(M&, const Task&, State&) {
  }  // the first step writes the outputs

  // Columns [kFrom, kTo) of the dot products: the pipeline may start on what has arrived.
  template <int kFrom, int kTo>
  static DAYBREAK_DEVICE void score(M& m, const Task&, Fixed& f, Stage& s, Scores& sc) {
    m.mma_abt(sc.dots, columns<kTo - kFrom>(f.q, kFrom), columns<kTo - kFrom>(s.kv, kFrom),
              kFrom > 0);  // (heads, keys)
  }

  static DAYBREAK_DEVICE void weigh(M& m, const Task& t, int step, Scores& sc, const Board& before,
                                    Board& b) {
    LocalRows max(m), fade(m), mass(m);
    if (step == 0)
      m.fill(fade, kNone);
    else
      m.get(fade, before.max);
    m.keep_columns(sc.dots, t.keys - step * kKeys, kNone);
    m.raise_rows(max, fade, sc.dots, t.a.slack);
    if (step > 0) {
      m.exp2_rows(fade, fade, max, t.a.scale);  // 2^(scale * (old max - max))
      m.put(b.fade, fade);
    }
    m.exp2_rows(sc.dots, sc.dots, max, t.a.scale);
    m.sum_rows(mass, sc.dots);
    if (t.keys == 0) m.fill(mass, 0.f);
    m.put(b.max, max);
    m.put(b.mass, mass);
    m.put(b.weights, sc.dots);  // (heads, keys)
  }

  static DAYBREAK_DEVICE void accumulate(M& m, const Task&, int step, int share, Stage& s, Board& b,
                                         State& st) {
    if (step == 0) {
      m.get(st.sum, b.mass);
    } else {
      LocalRows fade(m), mass(m);
      m.get(fade, b.fade);
      m.get(mass, b.mass);
      m.scale_rows(st.out, fade);
      m.scale_add(st.sum, fade, mass);  // sum * fade + mass
    }
    m.mma_ab(st.out, b.weights, columns<kShare>(s.kv, share * kShare), step > 0);
  }

  static DAYBREAK_DEVICE void finish(M& m, const Task& t, int share, Board& last, State& st) {
    const bool whole = t.a.splits == 1;
    if (share == 0) store_lse(m, t, last, st);
    if (whole && t.a.has_sink && t.keys > 0) {
      LocalRows sink(m), max(m);
      m.get(max, last.max);
      m.load(sink, t.a.sinks, t.head, 0);
      m.act(sink, sink, isa::Function::copy, dsa::kLog2e / t.a.scale);
      m.exp2_rows(sink, sink, max, t.a.scale);  // one more column of the softmax, without a value
      m.add(st.sum, st.sum, sink);
    }
    m.divide_rows(st.out, st.sum);
    repeat<kShare / kPart>([&](auto part) {
      if (whole)
        store_part<Bf16>(m, t.a.out, t.row, share, part * kPart, st);
      else
        store_part<float>(m, t.a.partial_out, t.partial, share, part * kPart, st);
    });
  }

 private:
  template <class T>
  static DAYBREAK_DEVICE void store_part(M& m, const Tensor& to, int row, int share, int first,
                                         State& st) {
    typename M::template Local<T, kHeads, kPart> part(m);
    m.put(part, columns<kPart>(st.out, first));
    m.store(to, row, share * kShare + first, part);
  }
  static DAYBREAK_DEVICE void store_lse(M& m, const Task& t, Board& last, State& st) {
    const bool whole = t.a.splits == 1;
    LocalRows lse(m);
    if (t.keys > 0) {
      LocalRows max(m);
      m.get(max, last.max);
      m.log2_rows(lse, max, st.sum, t.a.scale);
    } else {
      m.fill(lse, whole ? std::numeric_limits<float>::infinity() : kNone);
    }
    if (whole)
      m.store(t.a.lse, t.row, 0, lse);
    else
      m.store(t.a.partial_lse, t.partial, 0, lse);
  }
};

// Wide steps rescale the outputs half as often and want twice the room.
template <class M> using SparseMla = SparseMlaOf<M, dsa::Fp8>;
template <class M> using SparseMlaWide = SparseMlaOf<M, dsa::Fp8, 128>;
template <class M> using SparseMlaRows = SparseMlaOf<M, dsa::Plain>;
template <class M> using SparseMlaRowsWide = SparseMlaOf<M, dsa::Plain, 128>;

}  // namespace daybreak::kernels
