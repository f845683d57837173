// The DSA kernels as device code: the sources of kernels/library/dsa on the machines of
// kernels/machines/hopper, with the tuning of this target. One function each puts a kernel on a
// stream; all of them may be captured into a graph.
#pragma once
#include <cuda_runtime.h>

#include "kernels/library/dsa/index_table.hpp"
#include "kernels/library/dsa/indexer.hpp"
#include "kernels/library/dsa/indexer_prepare.hpp"
#include "kernels/library/dsa/latent_append.hpp"
#include "kernels/library/dsa/mla_combine.hpp"
#include "kernels/library/dsa/query_prepare.hpp"
#include "kernels/library/dsa/sparse_mla.hpp"
#include "kernels/library/dsa/topk_merge.hpp"
#include "kernels/library/dsa/topk_partial.hpp"
#include "kernels/machines/hopper/block_machine.cuh"
#include "kernels/machines/hopper/matrix_machine.cuh"
#include "kernels/machines/hopper/tuning.cuh"

namespace daybreak::kernels::device {

using hopper::AttentionTuning;
using hopper::BlockMachine;
using hopper::BlockTuning;
using hopper::Context;
using hopper::MatrixMachine;
using hopper::ScoringTuning;

// A kernel bound to its machine and its tuning.
struct SparseMlaRecords {
  using Machine = MatrixMachine<2, 1, true>;
  template <class M> using Kernel = SparseMlaOf<M, dsa::Fp8>;
  static constexpr AttentionTuning kTuning{.dma_registers = 120, .consumer_registers = 192};
};
struct SparseMlaPlain {
  using Machine = MatrixMachine<2, 1, false>;
  template <class M> using Kernel = SparseMlaOf<M, dsa::Plain>;
  static constexpr AttentionTuning kTuning{};
};
// One query token a request, and two that share every key.
struct IndexerOne {
  using Machine = MatrixMachine<1, 4, false>;
  template <class M> using Kernel = IndexerOf<M, 64, 1, dsa::Fp8, 4>;
  static constexpr ScoringTuning kTuning{.ring = 5};
};
struct IndexerTwo {
  using Machine = MatrixMachine<1, 4, false>;
  template <class M> using Kernel = IndexerOf<M, 64, 2, dsa::Fp8, 4>;
  static constexpr ScoringTuning kTuning{.ring = 4};
};
// Ranges of up to 8192 scores, of which few are selected alone and many side by side; of up to 16384;
// and longer ones in steps.
template <int kThreads, int kRange, int kFold, BlockTuning kHow> struct TopkOfRange {
  using Machine = BlockMachine<kThreads>;
  template <class M> using Kernel = TopkPartialOf<M, kRange, kFold>;
  static constexpr BlockTuning kTuning = kHow;
};
using TopkFew = TopkOfRange<1024, 8192, 0, BlockTuning{.blocks = 1, .ring = 1, .scratch = 8256}>;
using TopkMany = TopkOfRange<512, 8192, 0, BlockTuning{.blocks = 3, .ring = 1, .scratch = 8256}>;
using TopkFirst = TopkOfRange<1024, 16384, 0, BlockTuning{.blocks = 1, .ring = 1, .scratch = 8256}>;
using TopkLong = TopkOfRange<1024, 32768, 1, BlockTuning{.blocks = 1, .ring = 1, .scratch = 8256}>;
struct TopkSecond {
  using Machine = BlockMachine<512>;
  template <class M> using Kernel = TopkMerge<M>;
  static constexpr BlockTuning kTuning{.blocks = 1, .ring = 2, .scratch = 8256};
};
struct TableBuild {
  using Machine = BlockMachine<256>;
  template <class M> using Kernel = IndexTable<M>;
  static constexpr BlockTuning kTuning{.blocks = 4};
};
struct LatentStore {
  using Machine = BlockMachine<128>;
  template <class M> using Kernel = LatentAppendOf<M, dsa::Fp8>;
  static constexpr BlockTuning kTuning{.blocks = 4, .scratch = 1024};
};
struct IndexStore {
  using Machine = BlockMachine<256>;
  template <class M> using Kernel = IndexerPrepareOf<M, 64, dsa::Fp8>;
  static constexpr BlockTuning kTuning{.blocks = 2, .scratch = 33536};
};
struct QueryRotate {
  using Machine = BlockMachine<256>;
  template <class M> using Kernel = QueryPrepare<M>;
  static constexpr BlockTuning kTuning{.blocks = 1};
};
struct Combine {
  using Machine = BlockMachine<128>;
  template <class M> using Kernel = MlaCombineOf<M, 1>;
  static constexpr BlockTuning kTuning{.blocks = 8, .ring = 4, .scratch = 1152};
};

template <class Bound>
using ArgsOf = typename Bound::template Kernel<typename Bound::Machine>::Args;

// Where a launch goes. Throws InvariantError when the runtime refuses it.
struct Place {
  Context context;
  cudaStream_t stream = nullptr;
  int multiprocessors = 132;
};
void launch(const ArgsOf<SparseMlaRecords>&, const Place&);
void launch(const ArgsOf<SparseMlaPlain>&, const Place&);
void launch(const ArgsOf<IndexerOne>&, const Place&);
void launch(const ArgsOf<IndexerTwo>&, const Place&);
void launch(const ArgsOf<TopkFew>&, const Place&);
void launch(const ArgsOf<TopkMany>&, const Place&);
void launch(const ArgsOf<TopkLong>&, const Place&);
// Or one of the other three, by the length and the number of the ranges.
void launch(const ArgsOf<TopkFirst>&, const Place&);
void launch(const ArgsOf<TopkSecond>&, const Place&);
void launch(const ArgsOf<TableBuild>&, const Place&);
void launch(const ArgsOf<LatentStore>&, const Place&);
void launch(const ArgsOf<IndexStore>&, const Place&);
void launch(const ArgsOf<QueryRotate>&, const Place&);
void launch(const ArgsOf<Combine>&, const Place&);

}  // namespace daybreak::kernels::device
