// What Record collects and the passes rewrite: a list of instructions in program order over virtual
// tiles. A TileRef's offset counts from its tile's start until `allocate` has run.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "isa/instructions/list.hpp"
#include "isa/program/program.hpp"

namespace daybreak::kernels {

struct VirtualTile {
  isa::Space space = isa::Space::vector;
  Format format = Format::f32;
  uint32_t pitch = 0, rows = 0, cols = 0;
  uint16_t lifetime = 0;        // name of the lifetime or body that made it, in Recording::names
  uint32_t offset = kUnplaced;  // in its scratchpad, once allocated

  static constexpr uint32_t kUnplaced = ~0u;

  uint32_t bytes() const { return rows * pitch; }
  isa::TileRef whole(uint32_t id) const {
    return {.id = id,
            .space = space,
            .format = format,
            .offset = 0,
            .pitch = pitch,
            .rows = rows,
            .cols = cols};
  }
};

struct Recorded {
  isa::Instruction instruction;
  uint16_t body = 0;  // in Recording::names
  int32_t step = 0;
  bool fence = false;
};

struct Recording {
  std::vector<Recorded> code;
  std::vector<Recorded> spare;     // memory for the next rewrite, contents dead
  std::vector<VirtualTile> tiles;  // index = TileRef::id
  std::vector<isa::TensorDesc> tensors;
  std::vector<std::string> names{""};

  // An empty list for the rewritten code; replace() puts it in place and keeps the old one's
  // memory.
  std::vector<Recorded> rewritten() {
    spare.clear();
    spare.reserve(code.size() + code.size() / 4);
    return std::move(spare);
  }
  void replace(std::vector<Recorded>&& with) {
    spare = std::move(code);
    code = std::move(with);
  }
  void clear() { code.clear(), spare.clear(), tiles.clear(), tensors.clear(), names.assign(1, ""); }

  uint16_t body(const char* name) {
    for (size_t i = 0; i < names.size(); ++i)
      if (names[i] == name) return uint16_t(i);
    names.emplace_back(name);
    return uint16_t(names.size() - 1);
  }
  // A new tile of the given shape; `offset` and `id` of the shape are ignored.
  isa::TileRef add_tile(const isa::TileRef& shape, uint16_t lifetime) {
    tiles.push_back({shape.space, shape.format, shape.pitch, shape.rows, shape.cols, lifetime,
                     VirtualTile::kUnplaced});
    return tiles.back().whole(uint32_t(tiles.size() - 1));
  }
  // "kv of stage": what messages call a tile.
  std::string describe(uint32_t id) const {
    const VirtualTile& t = tiles[id];
    return "tile " + std::to_string(id) + " (" + std::string(name_of(t.format)) + " " +
           std::to_string(t.rows) + "x" + std::to_string(t.cols) + ", " + names[t.lifetime] + ")";
  }
};

}  // namespace daybreak::kernels
