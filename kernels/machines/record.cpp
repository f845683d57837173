#include "kernels/machines/record.hpp"

#include "kernels/machines/passes/passes.hpp"

namespace daybreak::kernels {

namespace {

// Memory of the last recording of this thread: tasks of a launch are much alike, and a list of
// millions of instructions costs more in fresh pages than in instructions.
thread_local Recording kept;

}  // namespace

thread_local Record* Record::current_ = nullptr;

Record::Record(const RecordContext& context)
    : context_(context), recording_(std::move(kept)), outer_(current_) {
  kept = {};
  recording_.clear();
  current_ = this;
}

Record::~Record() {
  current_ = outer_;
  kept = std::move(recording_);
}

Record& Record::current() {
  if (!current_) throw InvariantError("a tile is made while no Record machine is current");
  return *current_;
}

int32_t Record::read(const Tensor& t, int64_t row, int64_t col) {
  if (row < 0 || row >= t.rows() || col < 0 || col >= t.cols())
    throw InvariantError("record: task reads element (" + std::to_string(row) + ", " +
                         std::to_string(col) + "), which lies outside the tensor");
  const isa::Binding& b = context_.bindings.at(t.binding);
  if (b.phantom)
    throw InvariantError("record: task reads binding " + b.name + ", which is phantom");
  issue(isa::ScalarLoad{.from = at(t, row, col)});
  if (context_.assumed_read) return *context_.assumed_read;
  return context_.memory.get<int32_t>(Address(b.base.value + uint64_t(t.offset_of(row, col))));
}

std::vector<uint32_t> Record::end_lifetime() {
  lifetime_ = 0;
  return std::exchange(made_, {});
}

isa::TileRef Record::create(isa::TileRef shape) {
  const isa::TileRef tile = recording_.add_tile(shape, lifetime_ ? lifetime_ : body_);
  if (lifetime_) made_.push_back(tile.id);
  return tile;
}

isa::TaskProgram Record::program(const char* kernel, uint32_t task) {
  recording_.tensors = tensors();
  try {
    if (context_.workspace) workspace_in_memory(recording_, *context_.workspace, task);
    legalise(recording_, context_.capabilities);
    place(recording_);
    const auto scratch = allocate(recording_, context_.capabilities);
    const std::vector<QueueEdges> edges = order(recording_);
    const std::vector<bool> live = live_entries(recording_, context_.needed);
    isa::TaskProgram program = assemble_program(recording_, edges, live, context_.capabilities);
    program.kernel = kernel;
    program.task = task;
    program.scratch = scratch;
    return program;
  } catch (const UserError& e) {
    throw UserError(std::string("kernel ") + kernel + ": " + e.what());
  }
}

}  // namespace daybreak::kernels
