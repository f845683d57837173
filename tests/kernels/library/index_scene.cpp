#include "tests/kernels/library/index_scene.hpp"

#include <algorithm>

namespace daybreak::kernels {

IndexScene::IndexScene(std::vector<int32_t> context_lengths, int queries_, int heads_, int tile_,
                       bool quantised_, uint64_t seed, int64_t first_page)
    : contexts(std::move(context_lengths)),
      queries(queries_),
      heads(heads_),
      tile(tile_),
      quantised(quantised_),
      random(seed),
      pages(random, contexts, dsa::kIndexPage, first_page) {
  const int64_t rows = tokens() * tile;
  std::vector<uint8_t> codes(size_t(rows * dsa::kKey));
  std::vector<uint16_t> bits(codes.size());
  std::vector<float> folded(static_cast<size_t>(rows));
  for (int64_t r = 0; r < rows; ++r) {
    if (r % tile >= heads) continue;
    folded[size_t(r)] = random.normal(0.1f);
    for (int64_t c = 0; c < dsa::kKey; ++c) {
      codes[size_t(r * dsa::kKey + c)] = random.e4m3s(1)[0];
      bits[size_t(r * dsa::kKey + c)] = random.bf16();
    }
  }
  q = quantised ? put("q", codes) : put("q", bits);
  weights = put("weights", folded);
  requests = put("requests", pages.requests);
  blocks = put("blocks", pages.blocks);
  lengths = put("contexts", contexts);
  const auto longest = contexts.empty() ? 0 : *std::max_element(contexts.begin(), contexts.end());
  positions = dsa::padded_context(longest);
  scores = garbage<float>("scores", std::max<int64_t>(tokens() * positions, 1));
  fill_keys();
}

void IndexScene::fill_keys() {
  const int64_t page_bytes = quantised ? dsa::kIndexPageBytes : dsa::kIndexPage * dsa::kKey * 2;
  keys = room("keys", pages.pages * page_bytes);
  const uint64_t base = bindings[keys].base.value;
  for (int32_t page : pages.blocks) {
    if (page >= pages.pages) continue;
    const std::vector<std::byte> poison(size_t(page_bytes), std::byte{0xFF});
    memory.write(Address(base + uint64_t(page) * uint64_t(page_bytes)), poison);
  }
  for (size_t r = 0; r < contexts.size(); ++r)
    for (int32_t p = 0; p < contexts[r]; ++p) {
      const uint64_t row = uint64_t(pages.row(int64_t(r), p)), page = row / 64, at = row % 64;
      const uint64_t start = base + page * uint64_t(page_bytes);
      if (quantised) {
        const auto codes = random.e4m3s(dsa::kKey);
        memory.write(Address(start + at * dsa::kKey), std::as_bytes(std::span(codes)));
        set_scale(int64_t(r), p, random.uniform(0.001f, 0.1f));
      } else {
        const auto values = random.bf16s(dsa::kKey);
        memory.write(Address(start + at * dsa::kKey * 2), std::as_bytes(std::span(values)));
      }
    }
}

void IndexScene::set_scale(int64_t request, int64_t position, float scale) {
  const uint64_t row = uint64_t(pages.row(request, position));
  memory.put(Address(bindings[keys].base.value + row / 64 * dsa::kIndexPageBytes +
                     dsa::kIndexPage * dsa::kKey + row % 64 * 4),
             scale);
}

std::vector<float> IndexScene::oracle(int64_t token) const {
  const int64_t request = token / queries, elements = int64_t(heads) * dsa::kKey;
  const auto codes =
      quantised ? get<uint8_t>(q, elements, token * tile * dsa::kKey) : std::vector<uint8_t>{};
  const auto bits =
      quantised ? std::vector<uint16_t>{} : get<uint16_t>(q, elements, token * tile * dsa::kKey);
  const auto folded = get<float>(weights, heads, token * tile);
  const std::vector<int32_t> valid{seen(token)};
  const ref::IndexerQuery query{
      .tokens = 1, .heads = heads, .e4m3 = codes, .bf16 = bits, .weights = folded, .valid = valid};
  const auto entry = size_t(pages.requests[size_t(request) * 4]);
  const std::span<const int32_t> own(pages.blocks.data() + entry,
                                     size_t(pages.requests[size_t(request) * 4 + 1]));
  if (quantised) {
    const auto cache = source(keys);
    return ref::indexer_scores(query,
                               ref::PagedKeys{.keys = seen(token), .cache = cache, .blocks = own});
  }
  std::vector<uint16_t> plain;
  for (int64_t p = 0; p < seen(token); ++p) {
    const auto row = get<uint16_t>(keys, dsa::kKey, pages.row(request, p) * dsa::kKey);
    plain.insert(plain.end(), row.begin(), row.end());
  }
  const std::vector<float> ones(size_t(seen(token)), 1.0f);
  return ref::indexer_scores(
      query, ref::PlainKeys{.keys = seen(token), .e4m3 = {}, .bf16 = plain, .scales = ones});
}

}  // namespace daybreak::kernels
