// The Machine page: everything a kernel may ask of a target. A kernel is a class template over a
// Machine M; Host, Record and (device code) Hopper are the machines.
//
// Types of M (M::template Tile<T, R, C>, ...; kernels alias the noise away)
//   Tile<T, R, C>   a tile of R x C elements; which memory holds it is the machine's affair
//   Acc<R, C>       an fp32 accumulator of the matrix unit
//   Rows<R>         one fp32 value per row: (R, 1)
//   List<K>         K records (score, position) of the sort unit, best first
//   Local<T, R, C>  a tile that one body makes for itself, from the machine: Local<T, R, C> x(m)
//   Tensor          handle of global memory: operands of movement, which bodies cannot look into
//   Order           a counter shared by the cores of a launch
// A default-constructed tile belongs to the machine that is current (the pipeline sees to that). A
// tile local to a body is scratch of that body.
//
// Views (kernels/tile/views.hpp): extent is a type, position a value.
//   columns<N>(tile, first)   rows<N>(tile, first)   part<R, C>(tile, row, col)
//   as<T, C>(tile, byte)      C elements of type T from a byte column on: fields of a raw record
// Every operation below accepts a tile, Acc, Rows or a view of one wherever shapes agree.
//
// Task
//   m.read(tensor, row, col) -> int32    a word of memory, in task() only: what control flow knows
//   m.plane(tensor, i) -> Tensor         plane i of a tensor of rank 3 or more, a tensor of its own
//
// Movement (waits for its own slot; -1 rows of a gather are zeros; what lies outside a tensor is
// zeros when loaded and left out when stored)
//   load(tile, tensor, row, col)                    a rectangle, top left at (row, col)
//   store(tensor, row, col, tile)
//   gather(tile, tensor, col, index, row, first)    tile rows named by entries first, first+1, ...
//                                                   of row `row` of the index table
//   gather_pages(tile, tensor, col, index, row, first)   an entry names a page, a plane of a
//                                                   (.., page rows, cols) tensor; whole pages
//   gather(..., stamp, requests)                    refused when the page table's generation
//                                                   is no longer the one in `stamp` (row `row`)
//   scatter(tensor, col, tile, slots, row, first)   row i to row slots[row][first + i]; < 0: none
//   translate(to, row, stamp, positions, requests, blocks, request, count, page_tokens)
//                                                   logical positions of row `row` -> physical rows
//   stream_mxfp4(codes, scales, weights, block_scales, row, col [, order, bias])   a rectangle of MXFP4
//                                                   weights as E4M3 codes and one fp32 power of two
//                                                   per row and 128 columns; col a multiple of 128
// Matrix (operands BF16 or E4M3; BF16 sums 64 products, E4M3 128, in double, rounded to fp32,
// added)
//   mma_abt(acc, a, b, add)   acc (m, n) = or += a (m, k) b (n, k)^T
//   mma_ab(acc, a, b, add)    acc (m, n) = or += a (m, k) b (k, n)
//   mma_abt(acc, a, sa, b, sb, add)   with group scales sa (m, k / 128), sb (n, k / 128): each sum of
//                             128 products, rounded, times sa * sb, added
// Rows of an accumulator or tile, fp32
//   raise_rows(max, old, x, slack)      old maximum unless x rises more than slack over; 0: exact
//   sum_rows(sum, x)    max_rows(max, x)
//   exp2_rows(y, x, max, scale)         2^((x - max) * scale)
//   scale_rows(x, factor)   divide_rows(x, divisor)   in place; x / 0 is 0 (an empty softmax row)
//   scale_columns(x, factor)            factor (1, C) or Rows<C>: broadcast down the columns
//   add_columns(x, addend)              addend (1, C): added down the columns
//   scale_add(sum, factor, addend)      sum = sum * factor + addend, rounded twice
//   keep_columns(x, count, value)       columns at and past count become value
//   log2_rows(lse, max, sum, scale)     natural log-sum-exp; sum 0 gives +inf
//   norm_rows(y, x, weight, epsilon)    RMSNorm       layer_norm_rows(y, x, weight, bias, epsilon)
// Elementwise, fp32
//   fill(x, value)   add(y, a, b)   sub(y, a, b)   mul(y, a, b)   max(y, a, b)   fma(y, a, b, c)
//   act(y, x, Function, factor)   cast(y, x)
//   glu(y, gate, up, Gating, factor, limit)   gated activations of experts (isa/instructions/glu.hpp)
//   quantise(codes, scales, x, group, power_of_two)   dequantise(y, codes, scales, group)
//   rope(y, x, angles, interleaved)   hadamard(y, x)
// Exchange
//   put(tile, x)   get(x, tile)         State <-> Board; put casts to the tile's format
// Selection (order: score descending, position ascending; NaN and -inf never; -0 is +0)
//   topk_block(list, scores, first, count)            scores[0, count): positions first, ...
//   merge_topk(list, a, b [, c, d])                   best K of up to four lists
//   topk_more(list, spare, scores, first, count)      best K of the list and the scores
//   extract(positions, count, list)                   ascending, -1 last
//   load_list(list, tensor, row, col)  store_list(tensor, row, col, list)    lists as raw records
// Routing (int32 tiles; entries of -1 do not count)
//   keep_groups(y, x, count, groups, keep)   of equal groups of the first `count` columns the best stay
//                                            (sum of the best two; ties: lower), others become -inf
//   select_rows(columns, picked, scores, values, count, k, missing)   best k columns of each row,
//                                            ascending, -1 last, and what `values` has there
//   count(counters, entries)                 counters[e] + 1 for every entry e
//   rank(numbers, counters, entries)         the same; numbers (transposed) = counters[e] before
//   sum_columns(sums, x, rows)               sums (1, C) += the first `rows` rows
//   prefix(starts, lengths, offsets, align)  exclusive sums of lengths rounded up, plus offsets
//   work_list(list, grid, lengths, how)      pieces of segments that have rows, (pieces, tasks)
// Order between the cores of a launch (what was stored before signal is seen after wait)
//   signal(order)   wait(order, count)
//
// Rules every machine keeps and Host checks: no read of a tile nothing has filled, no read of an
// accumulator in the body that hands it to the matrix unit (the pipeline settles), released slots
// are poisoned, shapes agree at compile time.
//
// For pipelines, never for kernels
//   enter(body, step)      the body that runs from here on (labels, checks)
//   settle()               accumulators handed to the matrix unit may be read again
//   release(tiles)         a ring slot's contents are dead
//   guard_board(tiles)     tiles that no body may read after it has written them
//   pair(member)           from here on gathers through a stamped index table are shared by the tasks
//                          2n (member 0) and 2n + 1 (1) of the launch, which run side by side and
//                          gather the same rows: each asks for half of them and passes them on.
//                          -1: alone. Results do not depend on it
//   begin_lifetime(name), end_lifetime() -> ids    which tiles a lifetime is made of
//   kConsumers             consumers that share the output columns
#pragma once
#include <cstdint>
#include <vector>

#include "isa/instructions/glu.hpp"
#include "isa/instructions/map.hpp"
#include "isa/instructions/work_list.hpp"
#include "kernels/tile/elements.hpp"
#include "kernels/tile/views.hpp"

namespace daybreak::kernels {

// The page as a concept, tried on one representative shape of each operation.
template <class M>
concept Machine = requires(
    M& m, typename M::template Tile<float, 64, 128>& x, typename M::template Tile<Bf16, 64, 128>& b,
    typename M::template Tile<E4m3, 64, 128>& codes, typename M::template Acc<64, 64>& acc,
    typename M::template Acc<64, 128>& out, typename M::template Rows<64>& rows,
    typename M::template Tile<float, 1, 128>& line,
    typename M::template Tile<int32_t, 1, 64>& positions,
    typename M::template Tile<int32_t, 1, 1>& count, typename M::template List<64>& list,
    typename M::template Tile<Bf16, 64, 64>& weights,
    typename M::template Tile<E4m3, 64, 256>& wide, typename M::template Tile<float, 64, 2>& groups,
    typename M::template Tile<int32_t, 64, 8>& chosen,
    typename M::template Tile<float, 64, 8>& picked,
    typename M::template Tile<int32_t, 8, 64>& numbers,
    typename M::template Tile<int32_t, 1, 128>& counters,
    typename M::template Tile<int32_t, 64, 128>& counts,
    typename M::template Tile<int32_t, 64, 4>& pieces,
    typename M::template Tile<int32_t, 1, 2>& grid, typename M::template Local<float, 64, 128>& own,
    const typename M::Tensor& t, const typename M::Order& order, const std::vector<uint32_t>& ids) {
  { m.read(t, 0, 0) } -> std::same_as<int32_t>;
  { m.plane(t, 0) } -> std::same_as<typename M::Tensor>;
  m.load(x, t, 0, 0);
  m.store(t, 0, 0, x);
  m.store(t, 0, 0, own);
  m.gather(b, t, 0, t, 0, 0);
  m.gather(b, t, 0, t, 0, 0, t, t);
  m.gather_pages(b, t, 0, t, 0, 0);
  m.scatter(t, 0, b, t, 0, 0);
  m.translate(t, 0, t, t, t, t, 0, 0, 64);
  m.mma_abt(acc, b, b, true);
  m.mma_abt(acc, codes, codes, false);
  m.mma_ab(out, weights, b, true);
  m.stream_mxfp4(wide, groups, t, t, 0, 0);
  m.mma_abt(acc, wide, groups, wide, groups, false);
  m.add_columns(x, line);
  m.glu(x, x, x, isa::Gating::silu, 1.f, 0.f);
  m.keep_groups(x, x, 128, 8, 4);
  m.select_rows(chosen, picked, x, x, 128, 8, 0.f);
  m.count(counters, chosen);
  m.rank(numbers, counters, chosen);
  m.sum_columns(counters, counts, 64);
  m.prefix(counters, counters, counters, 16);
  m.work_list(pieces, grid, counters, {});
  m.raise_rows(rows, rows, acc, 0.f);
  m.sum_rows(rows, acc);
  m.max_rows(rows, acc);
  m.exp2_rows(acc, acc, rows, 1.f);
  m.scale_rows(out, rows);
  m.divide_rows(out, rows);
  m.scale_columns(x, line);
  m.scale_add(rows, rows, rows);
  m.keep_columns(acc, 1, 0.f);
  m.log2_rows(rows, rows, rows, 1.f);
  m.norm_rows(b, x, line, 1e-6f);
  m.layer_norm_rows(b, x, line, line, 1e-6f);
  m.fill(x, 0.f);
  m.add(x, x, x);
  m.sub(x, x, x);
  m.mul(x, x, x);
  m.max(x, x, x);
  m.fma(x, x, x, x);
  m.act(x, x, isa::Function::relu, 1.f);
  m.cast(b, x);
  m.quantise(codes, rows, x, 128, true);
  m.dequantise(b, codes, rows, 128);
  m.rope(b, x, line, true);
  m.hadamard(b, x);
  m.put(b, x);
  m.get(x, b);
  m.topk_block(list, line, 0, 128);
  m.merge_topk(list, list, list);
  m.merge_topk(list, list, list, list);
  m.merge_topk(list, list, list, list, list);
  m.topk_more(list, list, line, 0, 128);
  m.extract(positions, count, list);
  m.load_list(list, t, 0, 0);
  m.store_list(t, 0, 0, list);
  m.signal(order);
  m.wait(order, 1);
  m.enter("body", 0);
  m.settle();
  m.release(ids);
  m.guard_board(ids);
  m.pair(0);
  m.begin_lifetime("stage");
  { m.end_lifetime() } -> std::same_as<std::vector<uint32_t>>;
  { M::kConsumers } -> std::convertible_to<int>;
};

}  // namespace daybreak::kernels
