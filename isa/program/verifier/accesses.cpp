#include "isa/program/verifier/accesses.hpp"

namespace daybreak::isa::verifier {

namespace {

using Sink = std::function<void(const MemoryUse&)>;

// All rows of a tensor, from the view's column on.
MemoryUse all_rows(const TaskProgram& p, const TensorRef& view, int64_t cols, bool write) {
  return {{view.tensor, 0, view.col}, p.tensors[view.tensor].rows(), cols, write, true};
}

void uses(const Load& i, const TaskProgram&, const Sink& f) { f({i.from, i.to.rows, i.to.cols}); }
void uses(const Store& i, const TaskProgram&, const Sink& f) {
  f({i.to, i.from.rows, i.from.cols, true});
}
void uses(const Gather& i, const TaskProgram& p, const Sink& f) {
  if (!i.from.empty()) f(all_rows(p, i.from, i.to.cols, false));
  f({i.index, 1, i.rows_per_entry > 0 ? i.to.rows / i.rows_per_entry : 0});
  f({i.generation, 1, 2});
  if (!i.requests.empty()) f(all_rows(p, i.requests, 4, false));
}
void uses(const StreamMxfp4& i, const TaskProgram&, const Sink& f) {
  f({i.from, i.to.rows, i.to.cols});
  f({{i.from_scales.tensor, i.from_scales.row, i.from_scales.col + i.from.col / 32},
     i.to.rows,
     i.block_columns()});
}
void uses(const Scatter& i, const TaskProgram& p, const Sink& f) {
  if (!i.to.empty()) f(all_rows(p, i.to, i.from.cols, true));
  f({i.slots, 1, i.from.rows});
}
void uses(const Translate& i, const TaskProgram& p, const Sink& f) {
  f({i.positions, 1, i.count});
  f({{i.requests.tensor, i.requests.row + i.request, i.requests.col}, 1, 4});
  if (!i.blocks.empty())
    f({{i.blocks.tensor, i.blocks.row, 0}, 1, p.tensors[i.blocks.tensor].cols(), false, true});
  f({i.to, 1, i.count, true});
  f({i.generation, 1, 2, true});
}
void uses(const ScalarLoad& i, const TaskProgram&, const Sink& f) { f({i.from, 1, 1}); }
template <class I> void uses(const I&, const TaskProgram&, const Sink&) {}

}  // namespace

void for_each_memory_use(const Instruction& instruction, const TaskProgram& program,
                         const Sink& sink) {
  const Sink present = [&](const MemoryUse& u) {
    if (!u.view.empty()) sink(u);
  };
  std::visit([&](const auto& i) { uses(i, program, present); }, instruction);
}

Region region_of(const MemoryUse& u, const TaskProgram& p) {
  return isa::region_of(p.tensors[u.view.tensor], u.view.row, u.view.col, u.rows, u.cols);
}

}  // namespace daybreak::isa::verifier
