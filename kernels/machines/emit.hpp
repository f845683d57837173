// The one front-end of Host and Record: each operation of the Machine page
// (kernels/tile/machine.hpp) becomes one isa::Instruction over TileRefs, handed to Machine::issue.
// Shapes are checked at compile time; a view of a const tile (a Board that is only read) cannot be
// written.
#pragma once
#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "configs/reader/errors.hpp"
#include "isa/instructions/list.hpp"
#include "kernels/machines/tiles.hpp"

namespace daybreak::kernels {

// A counter shared by the cores of a launch: its number among Launch::shared_semaphores.
struct SharedCounter {
  int32_t number = 0;
};

// Tensor descriptors of a program, each once, in order of first use.
class TensorTable {
 public:
  uint16_t number_of(const isa::TensorDesc& t) {
    Recent& recent = recent_[(reinterpret_cast<uintptr_t>(&t) >> 3) % recent_.size()];
    if (recent.from == &t && list_[recent.number] == t) return recent.number;
    size_t i = std::find(list_.begin(), list_.end(), t) - list_.begin();
    if (i == list_.size()) {
      if (i >= isa::TensorRef::kNone) throw InvariantError("a program names 65535 tensors at most");
      list_.push_back(t);
    }
    recent = {&t, uint16_t(i)};
    return uint16_t(i);
  }
  const std::vector<isa::TensorDesc>& list() const { return list_; }

 private:
  struct Recent {
    const isa::TensorDesc* from = nullptr;
    uint16_t number = 0;
  };
  std::vector<isa::TensorDesc> list_;
  std::array<Recent, 32> recent_{};
};

template <class X> inline constexpr bool kWritable = !std::is_const_v<std::remove_reference_t<X>>;
template <class B, class T, int R, int C>
inline constexpr bool kWritable<View<B, T, R, C>> = !std::is_const_v<B>;
template <class B, class T, int R, int C>
inline constexpr bool kWritable<View<B, T, R, C>&> = !std::is_const_v<B>;
template <class B, class T, int R, int C>
inline constexpr bool kWritable<const View<B, T, R, C>> = !std::is_const_v<B>;
template <class B, class T, int R, int C>
inline constexpr bool kWritable<const View<B, T, R, C>&> = !std::is_const_v<B>;

// What an operation writes: a tile that is not const, or a view of one.
template <class X>
concept Output = Shaped<X> && kWritable<X>;
template <class A, class B>
concept SameShape = kRowsOf<A> == kRowsOf<B> && kColsOf<A> == kColsOf<B>;
// (rows of X, 1): one fp32 per row.
template <class V, class X>
concept ColumnOf = Shaped<V> && kRowsOf<V> == kRowsOf<X> && kColsOf<V> == 1;

template <class Machine> class Emit {
 public:
  template <class T, int R, int C> using Tile = MachineTile<Machine, T, R, C, TileKind::tile>;
  template <int R, int C> using Acc = MachineTile<Machine, float, R, C, TileKind::accumulator>;
  template <int R> using Rows = Tile<float, R, 1>;
  template <int K> using List = Tile<Ranked, 1, K>;
  template <class T, int R, int C> using Local = Tile<T, R, C>;
  using Tensor = isa::TensorDesc;
  using Order = SharedCounter;
  static constexpr int kConsumers = 1;

  // ---- movement ---------------------------------------------------------------------------------
  template <Output X> void load(X&& to, const Tensor& from, int64_t row, int64_t col) {
    issue(isa::Load{.to = ref(to), .from = at(from, row, col)});
  }
  template <Output Y, Output S>
    requires(kRowsOf<S> == kRowsOf<Y> && kColsOf<S> == (kColsOf<Y> + 127) / 128)
  void stream_mxfp4(Y&& codes, S&& scales, const Tensor& weights, const Tensor& block_scales,
                    int64_t row, int64_t col, isa::NibbleOrder order = isa::NibbleOrder::low_first,
                    int bias = 127) {
    issue(isa::StreamMxfp4{.to = ref(codes),
                           .scales = ref(scales),
                           .from = at(weights, row, col),
                           .from_scales = at(block_scales, row, 0),
                           .order = order,
                           .bias = bias});
  }
  template <Shaped X> void store(const Tensor& to, int64_t row, int64_t col, const X& from) {
    issue(isa::Store{.to = at(to, row, col), .from = ref(from)});
  }
  template <Output X>
  void gather(X&& to, const Tensor& from, int64_t col, const Tensor& index, int64_t row,
              int64_t first) {
    issue(isa::Gather{.to = ref(to),
                      .from = at(from, 0, col),
                      .index = at(index, row, first),
                      .generation = {},
                      .requests = {}});
  }
  template <Output X>
  void gather(X&& to, const Tensor& from, int64_t col, const Tensor& index, int64_t row,
              int64_t first, const Tensor& stamp, const Tensor& requests) {
    const auto part = [&](isa::TileRef rows, int64_t from_entry, isa::Sharing sharing) {
      issue(isa::Gather{.to = rows,
                        .from = at(from, 0, col),
                        .index = at(index, row, from_entry),
                        .generation = at(stamp, row, 0),
                        .requests = at(requests, 0, 0),
                        .sharing = int32_t(sharing)});
    };
    constexpr int kHalf = kRowsOf<X> / 2;
    if (pair_member_ < 0 || kRowsOf<X> % 2 != 0) return part(ref(to), first, isa::Sharing::alone);
    for (int half = 0; half < 2; ++half)
      part(ref(rows<kHalf>(to, half * kHalf)), first + half * kHalf,
           half == pair_member_ ? isa::Sharing::delivers : isa::Sharing::receives);
  }
  template <Output X>
  void gather_pages(X&& to, const Tensor& from, int64_t col, const Tensor& index, int64_t row,
                    int64_t first) {
    const int64_t page = from.rank > 1 ? from.dims[from.rank - 2] : 1;
    if (page < 1 || kRowsOf<X> % page != 0)
      throw InvariantError("gather_pages: a tile of " + std::to_string(kRowsOf<X>) +
                           " rows does not hold whole pages of " + std::to_string(page));
    issue(isa::Gather{.to = ref(to),
                      .from = at(from, 0, col),
                      .index = at(index, row, first),
                      .rows_per_entry = int32_t(page),
                      .generation = {},
                      .requests = {}});
  }
  template <Shaped X>
  void scatter(const Tensor& to, int64_t col, const X& from, const Tensor& slots, int64_t row,
               int64_t first) {
    issue(isa::Scatter{.to = at(to, 0, col), .from = ref(from), .slots = at(slots, row, first)});
  }
  void translate(const Tensor& to, int64_t row, const Tensor& stamp, const Tensor& positions,
                 const Tensor& requests, const Tensor& blocks, int64_t request, int64_t count,
                 int64_t page_tokens) {
    issue(isa::Translate{.to = at(to, row, 0),
                         .generation = at(stamp, row, 0),
                         .positions = at(positions, row, 0),
                         .requests = at(requests, 0, 0),
                         .blocks = at(blocks, 0, 0),
                         .request = int32_t(request),
                         .count = int32_t(count),
                         .page_tokens = int32_t(page_tokens)});
  }

  // ---- matrix -----------------------------------------------------------------------------------
  template <Output D, Shaped A, Shaped B> void mma_abt(D&& acc, const A& a, const B& b, bool add) {
    static_assert(kRowsOf<D> == kRowsOf<A> && kColsOf<D> == kRowsOf<B> && kColsOf<A> == kColsOf<B>);
    issue(isa::Mma{.acc = accumulator(acc),
                   .a = ref(a),
                   .b = ref(b),
                   .a_scales = {},
                   .b_scales = {},
                   .b_transposed = 1,
                   .accumulate = add});
  }
  template <Output D, Shaped A, Shaped B, Shaped SA, Shaped SB>
  void mma_abt(D&& acc, const A& a, const SA& a_scales, const B& b, const SB& b_scales, bool add) {
    static_assert(kRowsOf<D> == kRowsOf<A> && kColsOf<D> == kRowsOf<B> && kColsOf<A> == kColsOf<B>);
    static_assert(kRowsOf<SA> == kRowsOf<A> && kRowsOf<SB> == kRowsOf<B> &&
                  kColsOf<SA> == (kColsOf<A> + 127) / 128 && kColsOf<SB> == kColsOf<SA>);
    issue(isa::Mma{.acc = accumulator(acc),
                   .a = ref(a),
                   .b = ref(b),
                   .a_scales = ref(a_scales),
                   .b_scales = ref(b_scales),
                   .b_transposed = 1,
                   .accumulate = add});
  }
  template <Output D, Shaped A, Shaped B> void mma_ab(D&& acc, const A& a, const B& b, bool add) {
    static_assert(kRowsOf<D> == kRowsOf<A> && kColsOf<D> == kColsOf<B> && kColsOf<A> == kRowsOf<B>);
    issue(isa::Mma{.acc = accumulator(acc),
                   .a = ref(a),
                   .b = ref(b),
                   .a_scales = {},
                   .b_scales = {},
                   .accumulate = add});
  }

  // ---- rows -------------------------------------------------------------------------------------
  template <Output V, Shaped O, Shaped X>
    requires ColumnOf<V, X> && ColumnOf<O, X>
  void raise_rows(V&& max, const O& old, const X& x, float slack) {
    issue(isa::RaiseRows{.to = ref(max), .old = ref(old), .from = ref(x), .slack = slack});
  }
  template <Output V, Shaped X>
    requires ColumnOf<V, X>
  void sum_rows(V&& sum, const X& x) {
    issue(isa::RowReduce{.to = ref(sum), .from = ref(x), .function = isa::Reduction::sum});
  }
  template <Output V, Shaped X>
    requires ColumnOf<V, X>
  void max_rows(V&& max, const X& x) {
    issue(isa::RowReduce{.to = ref(max), .from = ref(x), .function = isa::Reduction::maximum});
  }
  template <Output Y, Shaped X, Shaped V>
    requires SameShape<Y, X> && ColumnOf<V, X>
  void exp2_rows(Y&& y, const X& x, const V& max, float scale) {
    issue(isa::Exp2Rows{.to = ref(y), .from = ref(x), .max = ref(max), .scale = scale});
  }
  template <Output X, Shaped V>
    requires ColumnOf<V, X>
  void scale_rows(X&& x, const V& factor) {
    row_apply(ref(x), ref(factor), isa::Arithmetic::multiply);
  }
  template <Output X, Shaped V>
    requires ColumnOf<V, X>
  void divide_rows(X&& x, const V& divisor) {
    row_apply(ref(x), ref(divisor), isa::Arithmetic::divide);
  }
  template <Output X, Shaped V>
    requires((kRowsOf<V> == 1 && kColsOf<V> == kColsOf<X>) ||
             (kColsOf<V> == 1 && kRowsOf<V> == kColsOf<X>))
  void scale_columns(X&& x, const V& factor) {
    issue(isa::ColumnApply{.to = ref(x), .from = ref(x), .columns = ref(factor)});
  }
  template <Output X, Shaped V>
    requires((kRowsOf<V> == 1 && kColsOf<V> == kColsOf<X>) ||
             (kColsOf<V> == 1 && kRowsOf<V> == kColsOf<X>))
  void add_columns(X&& x, const V& addend) {
    issue(isa::ColumnApply{
        .to = ref(x), .from = ref(x), .columns = ref(addend), .function = isa::Arithmetic::add});
  }
  template <Output X, Shaped F, Shaped A>
    requires SameShape<X, F> && SameShape<X, A>
  void scale_add(X&& sum, const F& factor, const A& addend) {
    issue(isa::ScaleAdd{.to = ref(sum), .factor = ref(factor), .addend = ref(addend)});
  }
  template <Output X> void keep_columns(X&& x, int64_t count, float value) {
    if (count >= kColsOf<X>) return;  // nothing to overwrite
    issue(isa::KeepColumns{
        .tile = ref(x), .count = int32_t(std::max<int64_t>(count, 0)), .value = value});
  }
  template <Output V, Shaped A, Shaped B>
    requires SameShape<V, A> && SameShape<V, B>
  void log2_rows(V&& lse, const A& max, const B& sum, float scale) {
    issue(isa::Log2Rows{.to = ref(lse), .max = ref(max), .sum = ref(sum), .scale = scale});
  }
  template <Output Y, Shaped X, Shaped W>
    requires SameShape<Y, X> && (kColsOf<W> == kColsOf<X>)
  void norm_rows(Y&& y, const X& x, const W& weight, float epsilon) {
    issue(isa::NormRows{
        .to = ref(y), .from = ref(x), .weight = ref(weight), .bias = {}, .epsilon = epsilon});
  }
  template <Output Y, Shaped X, Shaped W, Shaped B>
    requires SameShape<Y, X> && SameShape<W, B> && (kColsOf<W> == kColsOf<X>)
  void layer_norm_rows(Y&& y, const X& x, const W& weight, const B& bias, float epsilon) {
    issue(isa::NormRows{.to = ref(y),
                        .from = ref(x),
                        .weight = ref(weight),
                        .bias = ref(bias),
                        .epsilon = epsilon,
                        .centre = 1});
  }

  // ---- elementwise ------------------------------------------------------------------------------
  template <Output X> void fill(X&& x, float value) {
    issue(isa::Fill{.to = ref(x), .value = value});
  }
  template <Output Y, Shaped A, Shaped B> void add(Y&& y, const A& a, const B& b) {
    combine<Y, A, B>(ref(y), ref(a), ref(b), isa::Arithmetic::add);
  }
  template <Output Y, Shaped A, Shaped B> void sub(Y&& y, const A& a, const B& b) {
    combine<Y, A, B>(ref(y), ref(a), ref(b), isa::Arithmetic::subtract);
  }
  template <Output Y, Shaped A, Shaped B> void mul(Y&& y, const A& a, const B& b) {
    combine<Y, A, B>(ref(y), ref(a), ref(b), isa::Arithmetic::multiply);
  }
  template <Output Y, Shaped A, Shaped B> void max(Y&& y, const A& a, const B& b) {
    combine<Y, A, B>(ref(y), ref(a), ref(b), isa::Arithmetic::maximum);
  }
  template <Output Y, Shaped A, Shaped B, Shaped C>
    requires SameShape<Y, A> && SameShape<Y, B> && SameShape<Y, C>
  void fma(Y&& y, const A& a, const B& b, const C& c) {
    issue(isa::Fma{.to = ref(y), .a = ref(a), .b = ref(b), .c = ref(c)});
  }
  template <Output Y, Shaped X>
    requires SameShape<Y, X>
  void act(Y&& y, const X& x, isa::Function function, float factor = 1) {
    issue(isa::Map{.to = ref(y), .from = ref(x), .function = function, .factor = factor});
  }
  template <Output Y, Shaped G, Shaped U>
    requires SameShape<Y, G> && SameShape<Y, U>
  void glu(Y&& y, const G& gate, const U& up, isa::Gating form, float factor, float limit) {
    issue(isa::Glu{.to = ref(y),
                   .gate = ref(gate),
                   .up = ref(up),
                   .form = form,
                   .factor = factor,
                   .limit = limit});
  }
  template <Output Y, Shaped X>
    requires SameShape<Y, X>
  void cast(Y&& y, const X& x) {
    issue(isa::Cast{.to = ref(y), .from = ref(x)});
  }
  template <Output Y, Output S, Shaped X>
    requires SameShape<Y, X> && (kRowsOf<S> == kRowsOf<X>)
  void quantise(Y&& codes, S&& scales, const X& x, int group, bool power_of_two) {
    issue(isa::Quantise{.to = ref(codes),
                        .scales = ref(scales),
                        .from = ref(x),
                        .group = group,
                        .power_of_two = power_of_two});
  }
  template <Output Y, Shaped X, Shaped S>
    requires SameShape<Y, X> && (kRowsOf<S> == kRowsOf<X>)
  void dequantise(Y&& y, const X& codes, const S& scales, int group) {
    issue(isa::Dequantise{.to = ref(y), .from = ref(codes), .scales = ref(scales), .group = group});
  }
  template <Output Y, Shaped X, Shaped A>
    requires SameShape<Y, X> && (kColsOf<A> == kColsOf<X>)
  void rope(Y&& y, const X& x, const A& angles, bool interleaved) {
    issue(
        isa::Rope{.to = ref(y), .from = ref(x), .angles = ref(angles), .interleaved = interleaved});
  }
  template <Output Y, Shaped X>
    requires SameShape<Y, X>
  void hadamard(Y&& y, const X& x) {
    issue(isa::Hadamard{.to = ref(y), .from = ref(x)});
  }

  // ---- exchange ---------------------------------------------------------------------------------
  template <Output Y, Shaped X> void put(Y&& tile, const X& x) { cast(tile, x); }
  template <Output Y, Shaped X> void get(Y&& x, const X& tile) { cast(x, tile); }

  // ---- selection --------------------------------------------------------------------------------
  template <Output L, Shaped X>
    requires(kRowsOf<L> == 1 && kRowsOf<X> * kColsOf<X> > 0)
  void topk_block(L&& list, const X& scores, int64_t first, int64_t count) {
    issue(isa::TopkBlock{.to = ref(list),
                         .scores = ref(scores),
                         .first = int32_t(first),
                         .count = int32_t(std::clamp<int64_t>(count, 0, kRowsOf<X> * kColsOf<X>)),
                         .k = kColsOf<L>});
  }
  template <Output L, Shaped A, Shaped B> void merge_topk(L&& list, const A& a, const B& b) {
    issue(isa::MergeTopk{
        .to = ref(list), .a = ref(a), .b = ref(b), .c = {}, .d = {}, .k = kColsOf<L>});
  }
  template <Output L, Shaped A, Shaped B, Shaped C>
  void merge_topk(L&& list, const A& a, const B& b, const C& c) {
    issue(isa::MergeTopk{
        .to = ref(list), .a = ref(a), .b = ref(b), .c = ref(c), .d = {}, .k = kColsOf<L>});
  }
  template <Output L, Shaped A, Shaped B, Shaped C, Shaped D>
  void merge_topk(L&& list, const A& a, const B& b, const C& c, const D& d) {
    issue(isa::MergeTopk{
        .to = ref(list), .a = ref(a), .b = ref(b), .c = ref(c), .d = ref(d), .k = kColsOf<L>});
  }
  template <Output L, Output S, Shaped X>
  void topk_more(L&& list, S&& spare, const X& scores, int64_t first, int64_t count) {
    topk_block(spare, scores, first, count);
    merge_topk(list, list, spare);
  }
  template <Output P, Output N, Shaped L>
    requires(kColsOf<P> == kColsOf<L> && kRowsOf<N> == 1 && kColsOf<N> == 1)
  void extract(P&& positions, N&& count, const L& list) {
    issue(isa::Extract{.positions = ref(positions), .count = ref(count), .from = ref(list)});
  }
  template <Output L> void load_list(L&& list, const Tensor& from, int64_t row, int64_t col) {
    load(list, from, row, col);
  }
  template <Shaped L> void store_list(const Tensor& to, int64_t row, int64_t col, const L& list) {
    store(to, row, col, list);
  }

  // ---- routing ----------------------------------------------------------------------------------
  template <Output Y, Shaped X>
    requires SameShape<Y, X>
  void keep_groups(Y&& y, const X& x, int64_t count, int64_t groups, int64_t keep) {
    issue(isa::KeepGroups{.to = ref(y),
                          .from = ref(x),
                          .count = int32_t(count),
                          .groups = int32_t(groups),
                          .keep = int32_t(keep)});
  }
  template <Output C, Output P, Shaped X, Shaped V>
    requires SameShape<C, P> && SameShape<X, V> && (kRowsOf<C> == kRowsOf<X>)
  void select_rows(C&& columns, P&& picked, const X& scores, const V& values, int64_t count,
                   int64_t k, float missing) {
    issue(isa::SelectRows{.columns = ref(columns),
                          .picked = ref(picked),
                          .scores = ref(scores),
                          .values = ref(values),
                          .count = int32_t(count),
                          .k = int32_t(k),
                          .missing = missing});
  }
  template <Output C, Shaped E> void count(C&& counters, const E& entries) {
    issue(isa::Rank{.to = {}, .counters = ref(counters), .entries = ref(entries)});
  }
  template <Output R, Output C, Shaped E>
    requires(kRowsOf<R> == kColsOf<E> && kColsOf<R> == kRowsOf<E>)
  void rank(R&& numbers, C&& counters, const E& entries) {
    issue(isa::Rank{.to = ref(numbers), .counters = ref(counters), .entries = ref(entries)});
  }
  template <Output S, Shaped X>
    requires(kRowsOf<S> == 1 && kColsOf<S> == kColsOf<X>)
  void sum_columns(S&& sums, const X& x, int64_t rows) {
    issue(isa::SumColumns{.sums = ref(sums),
                          .from = ref(x),
                          .rows = int32_t(std::clamp<int64_t>(rows, 0, kRowsOf<X>))});
  }
  template <Output Y, Shaped L, Shaped O>
    requires SameShape<Y, L> && SameShape<Y, O> && (kRowsOf<Y> == 1)
  void prefix(Y&& starts, const L& lengths, const O& offsets, int64_t align) {
    issue(isa::Prefix{.to = ref(starts),
                      .lengths = ref(lengths),
                      .offsets = ref(offsets),
                      .align = int32_t(align)});
  }
  template <Output W, Output G, Shaped L>
    requires(kColsOf<W> == 4 && kRowsOf<G> == 1 && kColsOf<G> == 2)
  void work_list(W&& list, G&& grid, const L& lengths, const isa::WorkList& how) {
    isa::WorkList i = how;
    i.list = ref(list), i.grid = ref(grid), i.lengths = ref(lengths);
    issue(i);
  }

  // ---- for pipelines ----------------------------------------------------------------------------
  void pair(int member) { pair_member_ = member; }

  // ---- order between cores ----------------------------------------------------------------------
  void signal(const Order& order) { issue(isa::Signal{.semaphore = order.number}); }
  void wait(const Order& order, int64_t count) {
    issue(isa::Wait{.semaphore = order.number, .count = int32_t(count)});
  }

  Tensor plane(const Tensor& t, int64_t i) const {
    if (t.rank < 3 || i < 0 || i >= t.dims[0])
      throw InvariantError("plane " + std::to_string(i) + " of a tensor of rank " +
                           std::to_string(t.rank) + " with " + std::to_string(t.dims[0]));
    Tensor p = t;
    p.rank = uint8_t(t.rank - 1);
    p.offset += i * t.strides[0];
    p.dims = p.strides = {};
    std::copy_n(t.dims.begin() + 1, p.rank, p.dims.begin());
    std::copy_n(t.strides.begin() + 1, p.rank, p.strides.begin());
    return p;
  }

  const std::vector<isa::TensorDesc>& tensors() const { return tensors_.list(); }

 protected:
  isa::TensorRef at(const Tensor& t, int64_t row, int64_t col) {
    return {.tensor = tensors_.number_of(t), .row = row, .col = col};
  }

 private:
  template <class X> static isa::TileRef ref(const X& x) { return ref_of(x); }
  template <class X> static isa::TileRef accumulator(const X& x) {
    const isa::TileRef r = ref_of(x);
    if (r.space != isa::Space::accumulator)
      throw InvariantError("the matrix unit writes accumulators (Acc) only");
    return r;
  }
  template <class Y, class A, class B>
  void combine(isa::TileRef y, isa::TileRef a, isa::TileRef b, isa::Arithmetic function) {
    static_assert(SameShape<Y, A> && SameShape<Y, B>);
    issue(isa::Combine{.to = y, .a = a, .b = b, .function = function});
  }
  void row_apply(isa::TileRef x, isa::TileRef rows, isa::Arithmetic function) {
    issue(isa::RowApply{.to = x, .from = x, .rows = rows, .function = function});
  }
  template <class I> void issue(I&& instruction) {
    static_cast<Machine*>(this)->issue(std::forward<I>(instruction));
  }

  TensorTable tensors_;
  int pair_member_ = -1;
};

}  // namespace daybreak::kernels
