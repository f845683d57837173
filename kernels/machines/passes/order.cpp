#include <algorithm>
#include <array>

#include "kernels/machines/passes/access_log.hpp"
#include "kernels/machines/passes/accesses.hpp"
#include "kernels/machines/passes/passes.hpp"
#include "kernels/machines/passes/scratch_blocks.hpp"

namespace daybreak::kernels {

namespace {

using isa::kQueues;
using isa::Queue;

// Per queue, how many of its entries are known to have retired (queues retire in order).
using Clock = std::array<uint32_t, kQueues>;

void join(Clock& into, const Clock& other) {
  for (int q = 0; q < kQueues; ++q) into[q] = std::max(into[q], other[q]);
}
bool overlaps_itself(Queue q) { return q == Queue::dma_in || q == Queue::dma_out; }

// The order a chip keeps by itself is that of isa/program/verify.hpp. What is left becomes edges;
// one that another edge implies is dropped, by vector clocks.
class Order {
 public:
  explicit Order(Recording& r) : r_(r), memory_(r.tensors), blocks_(r.tiles.size()) {
    pairs_.resize(kQueues * kQueues);
    for (int a = 0; a < kQueues; ++a)
      for (int b = 0; b < kQueues; ++b) pairs_[a * kQueues + b] = {Queue(a), Queue(b), {}};
    find_written_bindings();
  }

  std::vector<QueueEdges> run() {
    for (uint32_t i = 0; i < r_.code.size(); ++i) visit(i);
    std::erase_if(pairs_, [](const QueueEdges& p) { return p.edges.empty(); });
    return std::move(pairs_);
  }

 private:
  void find_written_bindings() {
    for (const isa::TensorDesc& t : r_.tensors)
      if (t.binding >= written_.size()) written_.resize(t.binding + 1, false);
    logs_.resize(written_.size());
    for (const Recorded& c : r_.code)
      memory_.visit(c.instruction, [&](const MemoryAccess& m) {
        if (isa::writes(m.access)) written_[m.binding] = true;
      });
  }

  void visit(uint32_t i) {
    Recorded& c = r_.code[i];
    const Queue queue = isa::queue_of(c.instruction);
    const int q = int(queue);
    const uint32_t position = uint32_t(index_[q].size()) + 1;
    need_ = {};
    need_scratch(c.instruction, queue, position);
    need_memory(c.instruction, queue, position);
    need_other_cores(c.instruction, queue, position);

    Clock& known = known_[q];
    if (overlaps_itself(queue) && need_[q] > known[q]) c.fence = true;
    need_[q] = 0;
    if (c.fence) join(known, retired_clock(q, position - 1));
    add_edges(i, q);
    finish(i, queue, position);
  }

  void need_scratch(isa::Instruction& instruction, Queue queue, uint32_t position) {
    int count = 0;
    visit_tiles(instruction, [&](const isa::TileRef& t, isa::Access access, bool) {
      Pending& p = pending_[count++];
      p.tile = &t;
      p.touch = {isa::region_of(t), position, queue, isa::writes(access), false};
    });
    for (int k = 0; k < count; ++k)
      log_of(*pending_[k].tile).follow(pending_[k].touch, [&](const Touch& old) { need(old); });
    for (int k = 0; k < count; ++k) log_of(*pending_[k].tile).add(pending_[k].touch);
  }
  AccessLog& log_of(const isa::TileRef& t) {
    const VirtualTile& tile = r_.tiles[t.id];
    return blocks_.log(t.id, t.space, tile.offset, int64_t(tile.offset) + tile.bytes());
  }

  void need_memory(const isa::Instruction& instruction, Queue queue, uint32_t position) {
    int count = 0;
    bool touches = false;
    memory_.visit(instruction, [&](const MemoryAccess& m) {
      touches = true;
      if (isa::writes(m.access)) last_write_[int(queue)] = position;
      if (!written_[m.binding] || m.bytes.empty()) return;
      parts_[count] = m;
      ++count;
    });
    for (int k = 0; k < count; ++k) {
      const MemoryAccess& m = parts_[k];
      const Touch touch{m.bytes, position, queue, isa::writes(m.access), m.indexed};
      logs_[m.binding].follow(touch, [&](const Touch& old) {
        if (old.position != position || old.queue != queue) need(old);
      });
      logs_[m.binding].add(touch);
    }
    // What another core signalled may be read only after the wait.
    if (touches && last_wait_.position > 0) need(last_wait_);
  }

  // A signal follows every store of the task; a wait is followed by every later access to memory.
  void need_other_cores(const isa::Instruction& instruction, Queue queue, uint32_t position) {
    if (std::holds_alternative<isa::Signal>(instruction))
      for (int q = 0; q < kQueues; ++q) need_[q] = std::max(need_[q], last_write_[q]);
    if (std::holds_alternative<isa::Wait>(instruction)) {
      last_wait_.queue = queue;
      last_wait_.position = position;
    }
  }

  void need(const Touch& old) {
    uint32_t& n = need_[int(old.queue)];
    n = std::max(n, old.position);
  }

  void add_edges(uint32_t i, int q) {
    Clock& known = known_[q];
    for (int a = 0; a < kQueues; ++a)
      if (a != q && need_[a] <= known[a]) need_[a] = 0;
    for (int a = 0; a < kQueues; ++a) {
      if (need_[a] == 0) continue;
      bool implied = false;
      for (int b = 0; b < kQueues && !implied; ++b)
        implied = b != a && need_[b] > 0 && clocks_[b][need_[b] - 1][a] >= need_[a];
      if (implied) continue;
      pairs_[a * kQueues + q].edges.push_back({index_[a][need_[a] - 1], i});
    }
    for (int a = 0; a < kQueues; ++a)
      if (need_[a] > 0) join(known, clocks_[a][need_[a] - 1]);
  }

  Clock retired_clock(int q, uint32_t position) const {
    return position == 0 ? Clock{} : clocks_[q][position - 1];
  }

  void finish(uint32_t i, Queue queue, uint32_t position) {
    const int q = int(queue);
    index_[q].push_back(i);
    Clock done = known_[q];
    join(done, retired_clock(q, position - 1));
    done[q] = position;
    clocks_[q].push_back(done);
    if (!overlaps_itself(queue)) known_[q] = done;
    if (queue == Queue::control)  // nothing behind it is issued before it has retired
      for (Clock& known : known_) join(known, done);
  }

  Recording& r_;
  MemoryVisitor memory_;
  ScratchBlocks blocks_;
  std::vector<bool> written_;                       // bindings that this program writes
  std::vector<AccessLog> logs_;                     // by binding
  std::array<Clock, kQueues> known_{};              // when the next entry of a queue starts
  std::array<std::vector<Clock>, kQueues> clocks_;  // when each entry has retired
  std::array<std::vector<uint32_t>, kQueues> index_;
  std::array<uint32_t, kQueues> need_{}, last_write_{};
  Touch last_wait_;
  struct Pending {
    const isa::TileRef* tile = nullptr;
    Touch touch;
  };
  std::array<Pending, 8> pending_;
  std::array<MemoryAccess, 8> parts_;
  std::vector<QueueEdges> pairs_;
};

}  // namespace

std::vector<QueueEdges> order(Recording& r) { return Order(r).run(); }

}  // namespace daybreak::kernels
