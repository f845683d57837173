#include "kernels/machines/legalise/rules.hpp"

namespace daybreak::kernels {

void convert_on_vector(Recording& r, const isa::Capabilities& chip) {
  if (chip.converting_dma) return;
  std::vector<Recorded> out = r.rewritten();
  for (Recorded& c : r.code) {
    const auto* stream = std::get_if<isa::StreamMxfp4>(&c.instruction);
    if (!stream) {
      out.push_back(std::move(c));
      continue;
    }
    const isa::StreamMxfp4 s = *stream;
    const uint16_t lifetime = r.tiles[s.to.id].lifetime;
    const auto tile = [&](Format format, uint32_t cols) {
      return r.add_tile({.space = isa::Space::vector,
                         .format = format,
                         .pitch = uint32_t(bytes_of(format, cols)),
                         .rows = s.to.rows,
                         .cols = cols},
                        lifetime);
    };
    const isa::TileRef codes = tile(Format::e2m1, s.to.cols);
    const isa::TileRef blocks = tile(Format::e8m0, uint32_t(s.block_columns()));
    const isa::TensorRef scales{s.from_scales.tensor, s.from_scales.row,
                                s.from_scales.col + s.from.col / 32};
    out.push_back({isa::Load{.to = blocks, .from = scales}, c.body, c.step});
    out.push_back({isa::Load{.to = codes, .from = s.from}, c.body, c.step});
    out.push_back({isa::UnpackMxfp4{.to = s.to,
                                    .scales = s.scales,
                                    .from = codes,
                                    .blocks = blocks,
                                    .order = s.order,
                                    .bias = s.bias},
                   c.body, c.step});
  }
  r.replace(std::move(out));
}

}  // namespace daybreak::kernels
