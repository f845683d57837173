// The list: everything that must know every instruction iterates over this variant.
#pragma once
#include <variant>

#include "isa/instructions/cast.hpp"
#include "isa/instructions/column_apply.hpp"
#include "isa/instructions/combine.hpp"
#include "isa/instructions/dequantise.hpp"
#include "isa/instructions/drain.hpp"
#include "isa/instructions/exp2_rows.hpp"
#include "isa/instructions/extract.hpp"
#include "isa/instructions/fill.hpp"
#include "isa/instructions/fma.hpp"
#include "isa/instructions/gather.hpp"
#include "isa/instructions/glu.hpp"
#include "isa/instructions/hadamard.hpp"
#include "isa/instructions/keep_columns.hpp"
#include "isa/instructions/keep_groups.hpp"
#include "isa/instructions/load.hpp"
#include "isa/instructions/log2_rows.hpp"
#include "isa/instructions/map.hpp"
#include "isa/instructions/merge_topk.hpp"
#include "isa/instructions/mma.hpp"
#include "isa/instructions/move.hpp"
#include "isa/instructions/norm_rows.hpp"
#include "isa/instructions/operands.hpp"
#include "isa/instructions/prefix.hpp"
#include "isa/instructions/quantise.hpp"
#include "isa/instructions/raise_rows.hpp"
#include "isa/instructions/rank.hpp"
#include "isa/instructions/rope.hpp"
#include "isa/instructions/row_apply.hpp"
#include "isa/instructions/row_reduce.hpp"
#include "isa/instructions/scalar_load.hpp"
#include "isa/instructions/scalar_work.hpp"
#include "isa/instructions/scale_add.hpp"
#include "isa/instructions/scatter.hpp"
#include "isa/instructions/select_rows.hpp"
#include "isa/instructions/signal.hpp"
#include "isa/instructions/store.hpp"
#include "isa/instructions/stream_mxfp4.hpp"
#include "isa/instructions/sum_columns.hpp"
#include "isa/instructions/topk_block.hpp"
#include "isa/instructions/translate.hpp"
#include "isa/instructions/unpack_mxfp4.hpp"
#include "isa/instructions/wait.hpp"
#include "isa/instructions/work_list.hpp"

namespace daybreak::isa {

using Instruction =
    std::variant<Load, Store, Gather, Scatter, Translate, Mma, Drain, Fill, Map, Combine, Fma, Cast,
                 RowReduce, RowApply, ColumnApply, RaiseRows, Exp2Rows, ScaleAdd, KeepColumns,
                 Log2Rows, NormRows, Rope, Hadamard, Quantise, Dequantise, Move, TopkBlock,
                 MergeTopk, Extract, Signal, Wait, ScalarWork, ScalarLoad, StreamMxfp4, Glu,
                 KeepGroups, SumColumns, Prefix, WorkList, SelectRows, Rank, UnpackMxfp4>;

Queue queue_of(const Instruction&);
Work work_of(const Instruction&);
std::string_view name_of(const Instruction&);
Opcode opcode_of(const Instruction&);
void execute(const Instruction&, Context&);
// Contiguous pieces of memory it moves, in issue order; nothing for instructions of other units.
void for_each_segment(const Instruction&, const Context&, const SegmentSink&);

}  // namespace daybreak::isa
