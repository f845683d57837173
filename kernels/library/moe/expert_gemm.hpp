// Grouped product of an expert layer: rows of each expert times its weights (spec/operators.md sections 5
// and 9). One item = up to kM rows of one expert times kColumns columns: gates and ups side by side where the
// sums go through a gated activation, else one matrix. An indirect launch: the task reads its share of
// the items from the work list, which only names experts that have rows; items of one expert follow each
// other, all pieces of rows for the same 128 columns together, so that weights are met again in the L2.
//
// Weights stream through slots of (kN, kK); the slots are the workspace of the converted weights and
// serve one expert after the other. Dense products are one segment whose rows are known beforehand.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/library/moe/forms.hpp"
#include "kernels/tile/grouped_gemm.hpp"

namespace daybreak::kernels {

// kM: rows of an item; kN: weight rows of a slot; kK: columns of a slot, a multiple of 128; kColumns:
// result columns of an item (128 where codes leave, which share a scale).
template <int kMRows, int kNRows, int kKCols, int kItemColumns = moe::kGroup> struct GemmShape {
  static constexpr int kM = kMRows, kN = kNRows, kK = kKCols, kColumns = kItemColumns;
  static_assert(kM % moe::kRowAlign == 0 && kColumns % kN == 0 && kK % moe::kGroup == 0);
};

template <class M, class Shape, class Form, moe::Leaves kLeaves> struct ExpertGemmOf {
  using Pipeline = GroupedGemm;
  static constexpr const char* kName = "expert_gemm";
  static constexpr int kM = Shape::kM, kN = Shape::kN, kK = Shape::kK, kColumns = Shape::kColumns;
  static constexpr bool kGated = moe::gated(kLeaves);
  static constexpr int kHalves = kGated ? 2 : 1, kGroups = kK / moe::kGroup;

  static_assert(kLeaves != moe::Leaves::gated_codes || kColumns == moe::kGroup);

  template <class T, int R, int C> using Tile = typename M::template Tile<T, R, C>;
  using Tensor = typename M::Tensor;

  struct Args {
    Tensor x;         // (rows, K) e4m3 or bf16
    Tensor x_scales;  // (rows, groups of K) f32; FP8 forms
    Tensor table;     // (1, capacity) i32: row of x of each row, -1: padding; read if `gathered`
    moe::Weights<Tensor> first, second;  // gates and ups, or the one matrix
    Tensor first_bias, second_bias;      // (experts, columns, 1) f32; read if `biased`
    Tensor out;                          // (rows, columns) e4m3, bf16 or f32
    Tensor out_scales;                   // (rows, groups of columns) f32; gated codes
    Tensor addend;                       // (rows, columns) bf16; read if `added`
    Tensor list;                         // (n, 4) i32 work list
    Tensor grid;                         // (1, 2) i32: pieces, tasks
    int rows = -1;            // >= 0: a dense product of that many rows, without work list
    int k = 0, columns = 0;   // reduction length, result columns
    int most = 1, parts = 1;  // tasks at most, parts of a piece they were counted with
    bool gathered = false, biased = false, added = false, power_of_two = true;
    isa::Gating gating = isa::Gating::silu;
    float factor = 1, limit = 0;
  };
  struct Left {
    Tile<typename Form::Left, kM, kK> x;
    Tile<float, kM, kGroups> scales;
  };
  struct Right {
    typename Form::template Slot<M, kN, kK> w;
  };
  struct Acc {
    typename M::template Acc<kM, kColumns> half[kHalves];
  };
  struct Result {
    Tile<Bf16, kM, kColumns> values;
    Tile<E4m3, kM, kColumns> codes;
    Tile<float, kM, 1> scales;
    Tile<float, kM, kColumns> sums;
  };

  struct Item {
    int segment, row, rows, column;  // rows: valid ones of the piece that starts at `row`
  };
  struct Task {
    Args a;
    std::vector<Item> work;
    int items, panels, tiles;
  };

  static int tasks(const Args& a) { return a.most; }
  static Task task(M& m, const Args& a, int number) {
    Task t{a, {}, 0, int(moe::ceil_div(a.k, kK)), kHalves * kColumns / kN};
    const int slices = int(moe::ceil_div(a.columns, kColumns));
    const int pieces = a.rows >= 0 ? int(moe::ceil_div(a.rows, kM)) : m.read(a.grid, 0, 0);
    const int64_t all = int64_t(pieces) * slices;
    const int64_t used = std::min<int64_t>(a.most, int64_t(pieces) * a.parts);
    if (number < used) share(m, t, number, slices, all * number / used, all * (number + 1) / used);
    t.items = int(t.work.size());
    return t;
  }

  static bool same_left(const Task& t, int item) {
    return t.panels == 1 && t.work[size_t(item)].row == t.work[size_t(item - 1)].row;
  }

  static void load_left(M& m, const Task& t, int item, int panel, Left& l) {
    const Item& i = t.work[size_t(item)];
    moe::with_rows<kM>(i.rows, [&]<int R>() {
      auto x = rows<R>(l.x, 0);
      auto scales = rows<R>(l.scales, 0);
      if (t.a.gathered) {
        m.gather(x, t.a.x, panel * kK, t.a.table, 0, i.row);
        if constexpr (Form::kScaled)
          m.gather(scales, t.a.x_scales, panel * kGroups, t.a.table, 0, i.row);
      } else {
        m.load(x, valid(t.a.x, i), i.row, panel * kK);
        if constexpr (Form::kScaled) m.load(scales, valid(t.a.x_scales, i), i.row, panel * kGroups);
      }
    });
  }

  // Gates and ups of the same columns alternate.
  static void load_right(M& m, const Task& t, int item, int panel, int tile, Right& r) {
    const Item& i = t.work[size_t(item)];
    Form::load(m, r.w, tile % kHalves == 0 ? t.a.first : t.a.second, i.segment,
               i.column + tile / kHalves * kN, panel * kK);
  }

  static void multiply(M& m, const Task& t, int item, int panel, int tile, Left& l, Right& r,
                       Acc& acc) {
    moe::with_rows<kM>(t.work[size_t(item)].rows, [&]<int R>() {
      auto sums = part<R, kN>(acc.half[tile % kHalves], 0, tile / kHalves * kN);
      if constexpr (Form::kScaled)
        m.mma_abt(sums, rows<R>(l.x, 0), rows<R>(l.scales, 0), r.w.values, r.w.scales, panel > 0);
      else
        m.mma_abt(sums, rows<R>(l.x, 0), r.w.values, panel > 0);  // (rows, kN)
    });
  }

  static void finish(M& m, const Task& t, int item, Acc& acc, Result& r) {
    const Item& i = t.work[size_t(item)];
    moe::with_rows<kM>(i.rows, [&]<int R>() {
      if (t.a.biased) {
        add_bias(m, t.a.first_bias, i, rows<R>(acc.half[0], 0));
        if constexpr (kGated) add_bias(m, t.a.second_bias, i, rows<R>(acc.half[1], 0));
      }
      auto values = rows<R>(r.values, 0);
      if constexpr (kGated) {
        m.glu(values, rows<R>(acc.half[0], 0), rows<R>(acc.half[1], 0), t.a.gating, t.a.factor,
              t.a.limit);
      } else if constexpr (kLeaves == moe::Leaves::values) {
        if (t.a.added) {
          auto sums = rows<R>(r.sums, 0);
          m.load(values, t.a.addend, i.row, i.column);
          m.add(sums, rows<R>(acc.half[0], 0), values);
          m.cast(values, sums);
        } else {
          m.cast(values, rows<R>(acc.half[0], 0));
        }
      }
      if constexpr (kLeaves == moe::Leaves::gated_codes) {
        m.quantise(rows<R>(r.codes, 0), rows<R>(r.scales, 0), values, moe::kGroup,
                   t.a.power_of_two);
        m.store(valid(t.a.out, i), i.row, i.column, rows<R>(r.codes, 0));
        m.store(valid(t.a.out_scales, i), i.row, i.column / moe::kGroup, rows<R>(r.scales, 0));
      } else if constexpr (kLeaves == moe::Leaves::sums) {
        m.get(rows<R>(r.sums, 0), rows<R>(acc.half[0], 0));
        m.store(valid(t.a.out, i), i.row, i.column, rows<R>(r.sums, 0));
      } else {
        m.store(valid(t.a.out, i), i.row, i.column, values);
      }
    });
  }

 private:
  // Rows of padding stay where they are.
  static Tensor valid(const Tensor& t, const Item& i) { return moe::first_rows(t, i.row + i.rows); }

  // Items [from, to) of all, counted expert by expert, 128 columns by 128 columns, piece by piece. Within an
  // expert tasks begin at different columns: experts lie at round addresses, and tasks that read them in step
  // would open rows of the same bank of HBM.
  static void share(M& m, Task& t, int task_number, int slices, int64_t from, int64_t to) {
    for (int64_t at = from; at < to;) {
      const int entry = int(at / slices);
      int segment = 0, first = 0, count = t.a.rows, number = entry;
      if (t.a.rows < 0) {
        segment = m.read(t.a.list, entry, 0), first = m.read(t.a.list, entry, 1);
        count = m.read(t.a.list, entry, 2), number = m.read(t.a.list, entry, 3);
      }
      const int pieces = int(moe::ceil_div(count, kM));
      const int64_t begin = int64_t(entry - number) * slices,
                    end = begin + int64_t(pieces) * slices;
      const auto first_of_expert = int64_t(t.work.size());
      for (; at < std::min(to, end); ++at) {
        const int slice = int((at - begin) / pieces), piece = int((at - begin) % pieces);
        t.work.push_back(
            {segment, first + piece * kM, std::min(kM, count - piece * kM), slice * kColumns});
      }
      const auto run = t.work.begin() + first_of_expert;
      std::rotate(run, run + int64_t(task_number) * pieces % (t.work.end() - run), t.work.end());
    }
  }

  template <class A> static void add_bias(M& m, const Tensor& bias, const Item& i, A&& sums) {
    Tile<float, kColumns, 1> column;
    m.load(column, m.plane(bias, i.segment), i.column, 0);
    m.add_columns(sums, column);
  }
};

template <class Shape, class Form, moe::Leaves kLeaves> struct ExpertGemm {
  template <class M> using On = ExpertGemmOf<M, Shape, Form, kLeaves>;
};

}  // namespace daybreak::kernels
