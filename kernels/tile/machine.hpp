// The Machine page: everything a kernel may ask of a target. A kernel is a class template over a
// Machine M; Host, Record and (device code) Hopper are the machines.
//
// Types of M
//   Tile<T, R, C>   a tile of R x C elements; which memory holds it is the machine's affair
//   Acc<R, C>       an fp32 accumulator of the matrix unit
//   Rows<R>         one fp32 value per row: (R, 1)
//   List<K>         K records (score, position) of the sort unit, best first
//   Tensor          handle of global memory: movement operations accept it, bodies cannot look into it
//   Order           a counter shared by the cores of a launch
// A default-constructed tile belongs to the machine that is current (the pipeline sees to that). A tile
// local to a body is scratch of that body.
//
// Views (kernels/tile/views.hpp): extent is a type, position a value.
//   columns<N>(tile, first)   rows<N>(tile, first)   part<R, C>(tile, row, col)
//   as<T, C>(tile, byte)      the C elements of type T from a byte column on: fields of a raw record
// Every operation below accepts a tile, Acc, Rows or a view of one wherever shapes agree.
//
// Task
//   m.read(tensor, row, col) -> int32    one word of memory, in task() only: what control flow may know
//
// Movement (waits for its own slot; -1 rows of a gather are zeros; what lies outside a tensor is zeros
// when loaded and left out when stored)
//   load(tile, tensor, row, col)                    a rectangle, top left at (row, col)
//   store(tensor, row, col, tile)
//   gather(tile, tensor, col, index, row, first)    tile rows named by entries first, first + 1, ... of
//                                                   row `row` of the index table; tile rows / entries =
//                                                   consecutive tensor rows per entry (pages)
//   gather(..., stamp, requests)                    the same, refused when the page table's generation
//                                                   is no longer the one in `stamp` (row `row`)
//   scatter(tensor, col, tile, slots, row, first)   tile rows to tensor rows slots[row][first + i]; < 0: none
//   translate(to, row, stamp, positions, requests, blocks, request, count, page_tokens)
//                                                   logical positions of row `row` -> physical rows
// Matrix (operands BF16 or E4M3; BF16 sums 64 products, E4M3 128, in double, rounded to fp32, added)
//   mma_abt(acc, a, b, add)   acc (m, n) = or += a (m, k) b (n, k)^T
//   mma_ab(acc, a, b, add)    acc (m, n) = or += a (m, k) b (k, n)
// Rows of an accumulator or tile, fp32
//   raise_rows(max, old, x, slack)      old maximum unless the row rises more than slack above it; 0 is exact
//   sum_rows(sum, x)    max_rows(max, x)
//   exp2_rows(y, x, max, scale)         2^((x - max) * scale)
//   scale_rows(x, factor)   divide_rows(x, divisor)   in place; x / 0 gives 0 (an empty softmax row)
//   scale_columns(x, factor)            factor (1, C) or Rows<C>: broadcast down the columns
//   scale_add(sum, factor, addend)      sum = sum * factor + addend, rounded twice
//   keep_columns(x, count, value)       columns at and past count become value
//   log2_rows(lse, max, sum, scale)     natural log-sum-exp; sum 0 gives +inf
//   norm_rows(y, x, weight, epsilon)    RMSNorm       layer_norm_rows(y, x, weight, bias, epsilon)
// Elementwise, fp32
//   fill(x, value)   add(y, a, b)   sub(y, a, b)   mul(y, a, b)   max(y, a, b)   fma(y, a, b, c)
//   act(y, x, Function, factor)   cast(y, x)
//   quantise(codes, scales, x, group, power_of_two)   dequantise(y, codes, scales, group)
//   rope(y, x, angles, interleaved)   hadamard(y, x)
// Exchange
//   put(tile, x)   get(x, tile)         State <-> Board; put casts to the tile's format
// Selection (order: score descending, position ascending; NaN and -inf never; -0 is +0)
//   topk_block(list, scores, first, count)            scores[0, count) stand for positions first, ...
//   merge_topk(list, a, b [, c, d])                   best K of up to four lists
//   extract(positions, count, list)                   ascending, -1 last
//   load_list(list, tensor, row, col)  store_list(tensor, row, col, list)    lists as raw records
// Order between the cores of a launch (what was stored before signal is seen after wait)
//   signal(order)   wait(order, count)
//
// Rules every machine keeps and Host checks: no read of a tile nothing has filled, no read of an
// accumulator in the body that hands it to the matrix unit (the pipeline settles), released slots are
// poisoned, shapes agree at compile time.
#pragma once
#include "kernels/tile/elements.hpp"
#include "kernels/tile/views.hpp"
