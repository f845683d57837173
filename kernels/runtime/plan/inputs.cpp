#include "kernels/runtime/plan/inputs.hpp"

#include <fstream>

#include "configs/reader/errors.hpp"

namespace daybreak::kernels {
namespace {

// (tokens * tile, row_bytes) rows whose first `heads` of each token are a row of `inner`'s packed
// (rows * heads, row_bytes); `row_of` says which row a token is. The rest is zeros.
isa::Generator padded(isa::Generator inner, int64_t heads, int64_t tile, int64_t row_bytes,
                      std::function<int64_t(int64_t)> row_of) {
  if (heads == tile && !row_of) return inner;
  return [=](uint64_t offset, std::span<std::byte> to) {
    for (size_t done = 0; done < to.size();) {
      const int64_t at = int64_t(offset + done), row = at / row_bytes, within = at % row_bytes;
      const size_t count = std::min(size_t(row_bytes - within), to.size() - done);
      const int64_t token = row / tile, head = row % tile, from = row_of ? row_of(token) : token;
      if (head < heads && from >= 0)
        inner(uint64_t((from * heads + head) * row_bytes + within), to.subspan(done, count));
      else
        std::fill_n(to.data() + done, count, std::byte{0});
      done += count;
    }
  };
}

void check(const Workload& w) {
  auto refuse = [](const std::string& what) { throw UserError("workload: " + what); };
  if (w.queries < 1 || w.queries > 8)
    refuse("queries must be 1 to 8, not " + std::to_string(w.queries));
  if (w.index_heads < 1 || w.index_heads > 64)
    refuse("index heads must be 1 to 64, not " + std::to_string(w.index_heads));
  if (w.heads < 1 || w.heads > 1024)
    refuse("heads must be 1 to 1024, not " + std::to_string(w.heads));
  if (w.topk != dsa::kTopk)
    refuse("the selection kernels keep 2048 positions, not " + std::to_string(w.topk));
  if (w.index_page != dsa::kIndexPage)
    refuse("index-key pages hold 64 tokens, not " + std::to_string(w.index_page));
  for (int64_t r = 0; r < w.batch; ++r)
    if (w.context_of(r) < 0 || w.context_of(r) > (int64_t{1} << 30))
      refuse("a context must be 0 to 1073741824 positions, not " + std::to_string(w.context_of(r)));
}

int64_t key_bytes(const Workload& w) {
  return w.index_form == CacheForm::fp8 ? dsa::kKey + 4 : dsa::kKey * 2;
}
int64_t latent_bytes(const Workload& w) {
  return w.latent_form == CacheForm::fp8 ? dsa::kRecordBytes : dsa::kDim * 2;
}

}  // namespace

DecodeInputs::DecodeInputs(const Workload& w, isa::MemoryImage& image, isa::BindingTable& bindings)
    : DecodeInputs(
          w, image, bindings,
          std::make_shared<PagePlacement>(place_pages(w, w.index_page, uint64_t(Stream::pages))),
          std::make_shared<PagePlacement>(
              place_pages(w, w.latent_page, uint64_t(Stream::pages) + 1))) {}

DecodeInputs::DecodeInputs(const Workload& w, isa::MemoryImage& image, isa::BindingTable& bindings,
                           std::shared_ptr<const PagePlacement> index,
                           std::shared_ptr<const PagePlacement> latent)
    : workload(w),
      index_pages(std::move(index)),
      latent_pages(std::move(latent)),
      image_(image),
      bindings_(bindings) {
  check(w);
  index_head_tile = w.index_heads <= 32 && w.index_form == CacheForm::fp8 ? 32 : 64;
  padded_heads = dsa::padded_heads(w.heads);
  rope = std::make_shared<RopeTable>(w.rope, dsa::kRope, w.rope_magnitude);

  index_cache = add("index_cache", index_pages->pages * w.index_page * key_bytes(w),
                    index_key_pages(w, index_pages, rope));
  latent_cache = add("latent_cache", latent_pages->pages * w.latent_page * latent_bytes(w),
                     kernels::latent_pages(w, latent_pages, rope));
  index_blocks = add_blocks(*index_pages, "index");
  latent_blocks = add_blocks(*latent_pages, "latent");
  add_request_entries(*index_pages, "index", index_requests, index_slots);
  add_request_entries(*latent_pages, "latent", latent_requests, latent_slots);
  add_constants();
  add_step_vectors();
  add_selection();
}

DecodeInputs::DecodeInputs(const Workload& step, const DecodeInputs& base) : DecodeInputs(base) {
  check(step);
  stream_first_ = {0};
  for (int64_t s = 0; s < base.workload.batch; ++s)
    stream_first_.push_back(stream_first_.back() + base.workload.context_of(s));
  workload = step;
  add_request_entries(*index_pages, "index", index_requests, index_slots);
  add_request_entries(*latent_pages, "latent", latent_requests, latent_slots);
  add_step_vectors();
  add_selection();
}

DecodeInputs::DecodeInputs(const Workload& step, const DecodeInputs& base, const kv::KvCache& kv,
                           int64_t first_row)
    : DecodeInputs(base) {
  check(step);
  workload = step;
  first_row_ = first_row;
  const auto take = [&](size_t which, std::shared_ptr<const PagePlacement>& pages,
                        const char* name) {
    const kv::PagedCache& cache = kv.cache(which);
    auto now = std::make_shared<PagePlacement>(*pages);
    std::fill(now->page.begin(), now->page.end(), -1);
    std::vector<int32_t> slots;
    for (int64_t r = 0; r < step.batch; ++r) {
      for (int64_t b = 0; b < cache.blocks(int(r)); ++b)
        now->page[size_t(now->first[size_t(r)] + b)] =
            int32_t(cache.slot(int(r), b * now->page_tokens) / now->page_tokens);
      for (int64_t token = r * step.queries; token < (r + 1) * step.queries; ++token)
        slots.push_back(int32_t(cache.slot(int(r), step.visible(token) - 1)));
    }
    pages = std::move(now);
    const uint16_t binding = add(name, step.tokens() * 4);
    put(binding, slots);
    return binding;
  };
  index_slots = take(0, index_pages, "index_slots");
  latent_slots = take(1, latent_pages, "latent_slots");
  add_step_vectors();
  add_selection();
}

uint16_t DecodeInputs::add(const std::string& name, int64_t bytes, isa::Generator generator) const {
  const Bytes size(std::max<int64_t>(bytes, 4));
  bindings_.push_back(
      {.name = name, .base = image_.reserve(name, size, std::move(generator)), .bytes = size});
  return uint16_t(bindings_.size() - 1);
}

uint16_t DecodeInputs::add_blocks(const PagePlacement& placement, const std::string& name) {
  const uint16_t blocks = add(name + "_blocks", int64_t(placement.page.size()) * 4);
  put(blocks, placement.page);
  return blocks;
}

void DecodeInputs::add_request_entries(const PagePlacement& placement, const std::string& name,
                                       uint16_t& requests, uint16_t& slots) {
  std::vector<int32_t> request_entries, slot_list;
  for (int64_t r = 0; r < workload.batch; ++r) {
    const auto sequence = size_t(workload.sequence_of(r));
    const int64_t first = placement.first[sequence];
    request_entries.insert(request_entries.end(),
                           {int32_t(first), int32_t(placement.first[sequence + 1] - first), 1, 0});
    for (int64_t token = r * workload.queries; token < (r + 1) * workload.queries; ++token) {
      const int64_t position = workload.visible(token) - 1;
      const int64_t page = workload.is_new(token)
                               ? placement.page[size_t(first + position / placement.page_tokens)]
                               : -1;
      slot_list.push_back(
          page < 0 ? -1 : int32_t(page * placement.page_tokens + position % placement.page_tokens));
    }
  }
  requests = add(name + "_requests", workload.batch * 16);
  slots = add(name + "_slots", workload.tokens() * 4);
  put(requests, request_entries);
  put(slots, slot_list);
}

void DecodeInputs::add_constants() {
  const Workload& w = workload;
  angles = add("angles", std::max<int64_t>(w.longest(), 1) * dsa::kRope * 4, rope_rows(rope));
  norm_weight =
      add("norm_weight", dsa::kKey * 4, gaussian_f32(w.seed, Stream::norm_weight, 1, 0.1f));
  norm_bias = add("norm_bias", dsa::kKey * 4, gaussian_f32(w.seed, Stream::norm_bias, 0, 0.1f));
  latent_weight =
      add("latent_weight", dsa::kLatent * 4, gaussian_f32(w.seed, Stream::latent_weight, 1, 0.1f));
  sinks = add("sinks", padded_heads * 4, gaussian_f32(w.seed, Stream::sinks, 0, 1));
}

std::function<int64_t(int64_t)> DecodeInputs::stream_rows() const {
  if (workload.groups.empty()) {
    if (first_row_ == 0) return nullptr;
    return [first = first_row_](int64_t token) { return first + token; };
  }
  return [w = workload, first = stream_first_](int64_t token) {
    const int64_t position = w.visible(token) - 1;
    return position < 0 ? -1 : first[size_t(w.sequence_of(token / w.queries))] + position;
  };
}

void DecodeInputs::add_step_vectors() {
  const Workload& w = workload;
  const int64_t tokens = w.tokens(), index_rows = tokens * index_head_tile;
  std::vector<int32_t> lengths, places;
  for (int64_t r = 0; r < w.batch; ++r) lengths.push_back(int32_t(w.context_of(r)));
  for (int64_t t = 0; t < tokens; ++t)
    places.push_back(int32_t(std::max<int64_t>(w.visible(t) - 1, 0)));
  contexts = add("contexts", w.batch * 4);
  token_positions = add("token_positions", tokens * 4);
  put(contexts, lengths);
  put(token_positions, places);

  const auto row_of = stream_rows();
  auto bf16_rows = [&](const char* name, Stream stream, int64_t heads, int64_t tile, int64_t cols,
                       float deviation = 1) {
    return add(name, tokens * tile * cols * 2,
               padded(gaussian_bf16(w.seed, stream, deviation), heads, tile, cols * 2, row_of));
  };
  index_q_raw =
      bf16_rows("index_q_raw", Stream::index_queries, w.index_heads, index_head_tile, dsa::kKey);
  index_k_raw = bf16_rows("index_k_raw", Stream::index_key_raw, 1, 1, dsa::kKey);
  head_weights = add("head_weights", index_rows * 4,
                     padded(gaussian_f32(w.seed, Stream::index_weights, 0, 1), w.index_heads,
                            index_head_tile, 4, row_of));
  // A quarter, so that logits deviate by about one and every selected key counts: with unit queries a
  // handful of keys would carry the whole softmax and the rest could be wrong unseen.
  q_raw = bf16_rows("q_raw", Stream::queries, w.heads, padded_heads, dsa::kDim, 0.25f);
  latent_raw = bf16_rows("latent_raw", Stream::latent_raw, 1, 1, dsa::kLatent);
  rope_raw = bf16_rows("rope_raw", Stream::rope_raw, 1, 1, dsa::kRope);
}

void DecodeInputs::add_selection() {
  const Workload& w = workload;
  selected = selected_count = 0;
  if (w.index == IndexSource::computed) return;
  selected = add("selected", w.tokens() * w.topk * 4);
  selected_count = add("selected_count", w.tokens() * 4);
  std::ifstream file;
  if (w.index == IndexSource::file) {
    file.open(w.index_file, std::ios::binary);
    if (!file) throw UserError("--index " + w.index_file + ": the file cannot be read");
  }
  std::vector<int32_t> counts;
  for (int64_t t = 0; t < w.tokens(); ++t) {
    std::vector<int32_t> list;
    if (file.is_open()) {
      list.resize(size_t(w.topk));
      file.read(reinterpret_cast<char*>(list.data()), w.topk * 4);
      if (!file)
        throw UserError("--index " + w.index_file + ": it ends within token " + std::to_string(t) +
                        "; " + std::to_string(w.tokens()) + " rows of " + std::to_string(w.topk) +
                        " int32 are needed");
    } else {
      list = synthetic_selection(w, t);
    }
    int32_t count = 0;
    while (count < w.topk && list[size_t(count)] >= 0) ++count;
    for (int64_t i = 0; i < w.topk; ++i)
      if (list[size_t(i)] >= w.visible(t) || (i >= count && list[size_t(i)] != -1) ||
          (i > 0 && i < count && list[size_t(i)] <= list[size_t(i - 1)]))
        throw UserError("--index " + w.index_file + ": token " + std::to_string(t) + ", entry " +
                        std::to_string(i) + ": a list is ascending positions below " +
                        std::to_string(w.visible(t)) + ", then -1");
    image_.write(Address(bindings_[selected].base.value + uint64_t(t * w.topk) * 4),
                 std::as_bytes(std::span(list)));
    counts.push_back(count);
  }
  if (file.is_open() && file.peek() != std::ifstream::traits_type::eof())
    throw UserError("--index " + w.index_file + ": it goes on after the last of " +
                    std::to_string(w.tokens()) + " rows of " + std::to_string(w.topk) + " int32");
  put(selected_count, counts);
}

DecodeInputs::CacheBytes DecodeInputs::cache_bytes() const {
  CacheBytes out{.taken =
                     index_pages->first.back() * workload.index_page * key_bytes(workload) +
                     latent_pages->first.back() * workload.latent_page * latent_bytes(workload)};
  for (int64_t r = 0; r < workload.batch; ++r)
    out.used += workload.context_of(r) * (key_bytes(workload) + latent_bytes(workload));
  return out;
}

isa::TensorDesc DecodeInputs::index_codes() const {
  return workload.index_form == CacheForm::fp8 ? dsa::index_codes(index_cache, index_pages->pages)
                                               : dsa::index_rows(index_cache, index_pages->pages);
}

isa::TensorDesc DecodeInputs::index_scales() const {
  return dsa::index_scales(index_cache, index_pages->pages);
}

isa::TensorDesc DecodeInputs::latents() const {
  return workload.latent_form == CacheForm::fp8
             ? dsa::latent_records(latent_cache, latent_pages->pages, workload.latent_page)
             : dsa::latent_rows(latent_cache, latent_pages->pages, workload.latent_page);
}

}  // namespace daybreak::kernels
