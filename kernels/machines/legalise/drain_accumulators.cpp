#include <algorithm>

#include "kernels/machines/legalise/products.hpp"
#include "kernels/machines/legalise/rules.hpp"
#include "kernels/machines/legalise/uses.hpp"

namespace daybreak::kernels {

namespace {

constexpr uint32_t kBlock = 128;   // columns drained and added at a time: bounds the vector scratch it takes

// Where an accumulator's value is.
enum class Home : uint8_t { accumulator, vector, both };

class Drainer {
 public:
  explicit Drainer(Recording& r) : r_(r) {}

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
    out_.reserve(r_.code.size() * 2);
    for (Recorded& c : r_.code) {
      like_ = {isa::Instruction(), c.body, c.step};
      if (auto* product = std::get_if<isa::Mma>(&c.instruction)) multiply(*product);
      else touch(c);
    }
    r_.code = std::move(out_);
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

  void multiply(const isa::Mma& p) {
    const uint32_t id = p.acc.id;
    if (held_[id] == kNone) return emit(p);
    if (!p.accumulate && whole(p.acc)) home_[id] = Home::accumulator;
    if (home_[id] == Home::both && p.accumulate) home_[id] = Home::accumulator;
    if (home_[id] == Home::accumulator) return emit(p);
    if (!p.accumulate) {   // part of a tile whose other parts are in the vector tile
      home_[id] = Home::vector;
      emit(p);
      return emit(isa::Drain{.to = held(p.acc), .from = p.acc});
    }
    const uint32_t k = p.a.cols, chunk = chunk_of(p);
    for (uint32_t from = 0; from < k; from += chunk) {
      isa::Mma part = slice_reduction(p, from, std::min(chunk, k - from));
      part.accumulate = 0;
      emit(part);
      add_drained(p.acc);
    }
  }

  // vector tile += accumulator, block by block; a block drains while the one before is added.
  void add_drained(const isa::TileRef& acc) {
    isa::TileRef sum, addend;
    for (uint32_t from = 0; from < acc.cols; from += kBlock) {
      isa::TileRef block = acc;
      block.offset = skip(acc, 0, from), block.cols = std::min(kBlock, acc.cols - from);
      isa::TileRef to = r_.add_tile({.space = isa::Space::vector, .format = Format::f32,
                                     .pitch = block.cols * 4, .rows = block.rows, .cols = block.cols},
                                    r_.tiles[acc.id].lifetime);
      emit(isa::Drain{.to = to, .from = block});
      if (from > 0) emit(isa::Combine{.to = sum, .a = sum, .b = addend});
      sum = held(block), addend = to;
    }
    emit(isa::Combine{.to = sum, .a = sum, .b = addend});
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
  std::vector<Recorded> out_;
  Recorded like_;
  std::vector<uint32_t> held_;    // by accumulator tile: the vector tile that can hold its value
  std::vector<Home> home_;
};

}  // namespace

void drain_accumulators(Recording& r, const isa::Capabilities& chip) {
  if (chip.accumulator_visible) return;
  Drainer drainer(r);
  if (drainer.find_tiles()) drainer.run();
}

}  // namespace daybreak::kernels
