#include <algorithm>

#include "kernels/machines/legalise/products.hpp"
#include "kernels/machines/legalise/rules.hpp"
#include "kernels/machines/legalise/uses.hpp"

namespace daybreak::kernels {

namespace {

constexpr uint32_t kBlock =
    128;  // columns multiplied, drained and added at a time: bounds the scratch

// Where an accumulator's value is.
enum class Home : uint8_t { accumulator, vector, both };

class Drainer {
 public:
  Drainer(Recording& r, Bytes accumulators) : r_(r), accumulators_(accumulators) {}

  bool find_tiles() {
    const std::vector<TileUse> uses = uses_of(r_);
    held_.assign(uses.size(), kNone);
    home_.assign(uses.size(), Home::accumulator);
    bool any = false;
    for (uint32_t id = 0; id < uses.size(); ++id) {
      const bool acc = r_.tiles[id].space == isa::Space::accumulator;
      if (!acc || !(uses[id].vector || uses[id].stored)) continue;
      isa::TileRef shape = r_.tiles[id].whole(id);
      shape.space = isa::Space::vector;
      held_[id] = r_.add_tile(shape, r_.tiles[id].lifetime).id;
      if (!uses[id].product) home_[id] = Home::vector;
      any = true;
    }
    return any;
  }

  void run() {
    out_ = r_.rewritten();
    for (Recorded& c : r_.code) {
      like_ = {isa::Instruction(), c.body, c.step};
      if (auto* product = std::get_if<isa::Mma>(&c.instruction))
        multiply(*product);
      else
        touch(c);
    }
    r_.replace(std::move(out_));
  }

 private:
  static constexpr uint32_t kNone = ~0u;

  bool whole(const isa::TileRef& t) const {
    const VirtualTile& tile = r_.tiles[t.id];
    return t.rows == tile.rows && t.row_bytes() == tile.pitch;
  }
  isa::TileRef held(isa::TileRef t) const {
    t.id = held_[t.id];
    return t;
  }
  void emit(isa::Instruction i) {
    out_.push_back(like_);
    out_.back().instruction = std::move(i);
  }
  void drain_all(uint32_t id) {
    const isa::TileRef acc = r_.tiles[id].whole(id);
    emit(isa::Drain{.to = held(acc), .from = acc});
  }

  // Accumulators that take more than half of their scratch would leave no room for a product beside
  // them.
  bool large(uint32_t id) const {
    return accumulators_.value > 0 && 2 * int64_t(r_.tiles[id].bytes()) > accumulators_.value;
  }
  isa::TileRef block_tile(const isa::TileRef& like, isa::Space space) {
    return r_.add_tile({.space = space,
                        .format = Format::f32,
                        .pitch = like.cols * 4,
                        .rows = like.rows,
                        .cols = like.cols},
                       r_.tiles[like.id].lifetime);
  }

  void multiply(const isa::Mma& p) {
    const uint32_t id = p.acc.id;
    if (held_[id] == kNone) return emit(p);
    if (!p.accumulate && whole(p.acc)) home_[id] = large(id) ? Home::vector : Home::accumulator;
    if (home_[id] == Home::both && p.accumulate) home_[id] = Home::accumulator;
    if (home_[id] == Home::accumulator) return emit(p);
    home_[id] = Home::vector;
    const uint32_t k = p.a.cols, chunk = chunk_of(p);
    for (uint32_t from = 0; from < k; from += chunk) {
      isa::Mma part = slice_reduction(p, from, std::min(chunk, k - from));
      part.accumulate = p.accumulate || from > 0;
      multiply_blocks(part);
    }
  }

  // vector tile = or += product, block by block; a block is multiplied and drained while the one
  // before is added.
  void multiply_blocks(const isa::Mma& p) {
    isa::TileRef sum, addend;
    for (uint32_t from = 0; from < p.acc.cols; from += kBlock) {
      isa::Mma block = slice_columns(p, from, std::min(kBlock, p.acc.cols - from));
      const isa::TileRef value = held(block.acc);
      block.acc = block_tile(block.acc, isa::Space::accumulator);
      block.accumulate = 0;
      emit(block);
      if (!p.accumulate) {
        emit(isa::Drain{.to = value, .from = block.acc});
        continue;
      }
      const isa::TileRef to = block_tile(block.acc, isa::Space::vector);
      emit(isa::Drain{.to = to, .from = block.acc});
      if (from > 0) emit(isa::Combine{.to = sum, .a = sum, .b = addend});
      sum = value, addend = to;
    }
    if (p.accumulate) emit(isa::Combine{.to = sum, .a = sum, .b = addend});
  }

  void touch(Recorded& c) {
    bool any = false;
    visit_tiles(c.instruction, [&](const isa::TileRef& t, isa::Access access, bool) {
      if (held_[t.id] == kNone) return;
      any = true;
      const bool needs = isa::reads(access) || !whole(t);
      if (needs && home_[t.id] == Home::accumulator) drain_all(t.id), home_[t.id] = Home::both;
    });
    if (any)
      visit_tiles(c.instruction, [&](isa::TileRef& t, isa::Access access, bool) {
        if (held_[t.id] == kNone) return;
        if (isa::writes(access)) home_[t.id] = Home::vector;
        t = held(t);
      });
    out_.push_back(std::move(c));
  }

  Recording& r_;
  Bytes accumulators_;  // size of their scratchpad, 0 = no limit
  std::vector<Recorded> out_;
  Recorded like_;
  std::vector<uint32_t> held_;  // by accumulator tile: the vector tile that can hold its value
  std::vector<Home> home_;
};

}  // namespace

void drain_accumulators(Recording& r, const isa::Capabilities& chip) {
  if (chip.accumulator_visible) return;
  Drainer drainer(r, chip.scratch[int(isa::Space::accumulator)]);
  if (drainer.find_tiles()) drainer.run();
}

}  // namespace daybreak::kernels
