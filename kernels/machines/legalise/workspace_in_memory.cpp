#include <map>
#include <optional>

#include "configs/reader/errors.hpp"
#include "kernels/machines/legalise/rules.hpp"
#include "kernels/machines/passes/accesses.hpp"

namespace daybreak::kernels {
namespace {

constexpr int64_t kLine = 512;  // slots start at a line of the L2

class ToMemory {
 public:
  ToMemory(Recording& r, const MemoryWorkspace& w, uint32_t task)
      : r_(r), w_(w), base_(int64_t(task) * w.share) {
    if (int64_t(task) >= w.tasks)
      throw InvariantError("task " + std::to_string(task) + " has no part of a workspace for " +
                           std::to_string(w.tasks) + " tasks");
  }

  void run() {
    out_ = r_.rewritten();
    for (Recorded& c : r_.code) {
      const auto* stream = std::get_if<isa::StreamMxfp4>(&c.instruction);
      if (waiting_ && uses(c.instruction)) fetch();
      if (stream)
        convert(isa::StreamMxfp4(*stream), c);
      else
        out_.push_back(std::move(c));
    }
    fetch();
    r_.replace(std::move(out_));
  }

 private:
  struct Waiting {
    isa::TileRef codes, scales;
    isa::TensorRef from, from_scales;
    uint16_t body;
    int32_t step;
  };

  // Weights go through a staging tile to their slot in memory; the slot is read one conversion later, so
  // that neither way waits for the other.
  void convert(const isa::StreamMxfp4& s, const Recorded& c) {
    const uint16_t lifetime = r_.tiles[s.to.id].lifetime;
    auto& staging = staging_[{s.to.rows, s.to.cols}][turn_++ % 2];
    if (!staging) staging = {tile(s.to, lifetime), tile(s.scales, lifetime)};
    const Waiting next{s.to, s.scales, home(s.to), home(s.scales), c.body, c.step};
    isa::StreamMxfp4 stream = s;
    stream.to = staging->first, stream.scales = staging->second;
    out_.push_back({stream, c.body, c.step});
    out_.push_back({isa::Store{.to = next.from, .from = stream.to}, c.body, c.step});
    out_.push_back({isa::Store{.to = next.from_scales, .from = stream.scales}, c.body, c.step});
    fetch();
    waiting_ = next;
  }

  void fetch() {
    if (!waiting_) return;
    const Waiting& w = *waiting_;
    out_.push_back({isa::Load{.to = w.scales, .from = w.from_scales}, w.body, w.step});
    out_.push_back({isa::Load{.to = w.codes, .from = w.from}, w.body, w.step});
    waiting_.reset();
  }

  bool uses(isa::Instruction& i) const {
    bool found = false;
    visit_tiles(i, [&](const isa::TileRef& t, isa::Access, bool) {
      found |= t.id == waiting_->codes.id || t.id == waiting_->scales.id;
    });
    return found;
  }

  isa::TileRef tile(const isa::TileRef& like, uint16_t lifetime) {
    isa::TileRef shape = like;
    shape.space = isa::Space::vector;
    shape.pitch = uint32_t(bytes_of(like.format, like.cols));
    return r_.add_tile(shape, lifetime);
  }

  // Where a slot lies in the task's part of the workspace.
  isa::TensorRef home(const isa::TileRef& t) {
    const auto [it, fresh] = homes_.try_emplace(t.id, used_);
    if (fresh) used_ += (int64_t(r_.tiles[t.id].bytes()) + kLine - 1) / kLine * kLine;
    if (used_ > w_.share)
      throw UserError("the workspace of " + std::to_string(w_.share) +
                      " bytes a core does not hold " + r_.describe(t.id));
    const isa::TensorDesc desc{.binding = w_.binding,
                               .format = t.format,
                               .rank = 2,
                               .offset = base_ + it->second + int64_t(t.offset),
                               .dims = {int64_t(t.rows), int64_t(t.cols)},
                               .strides = {int64_t(t.pitch), bytes_of(t.format, 1)}};
    size_t n = size_t(std::find(r_.tensors.begin(), r_.tensors.end(), desc) - r_.tensors.begin());
    if (n == r_.tensors.size()) r_.tensors.push_back(desc);
    return {.tensor = uint16_t(n), .row = 0, .col = 0};
  }

  using Staging = std::optional<std::pair<isa::TileRef, isa::TileRef>>;
  Recording& r_;
  const MemoryWorkspace& w_;
  int64_t base_, used_ = 0;
  std::vector<Recorded> out_;
  std::map<uint32_t, int64_t> homes_;  // by tile
  std::map<std::pair<uint32_t, uint32_t>, std::array<Staging, 2>> staging_;
  std::optional<Waiting> waiting_;  // converted, not yet fetched
  size_t turn_ = 0;
};

}  // namespace

void workspace_in_memory(Recording& r, const MemoryWorkspace& w, uint32_t task) {
  ToMemory(r, w, task).run();
}

}  // namespace daybreak::kernels
