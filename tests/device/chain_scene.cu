#include "tests/device/chain_scene.cuh"

#include <cstring>

#include "ref/ops/formats.hpp"
#include "ref/ops/norm.hpp"
#include "ref/ops/page_table.hpp"
#include "ref/ops/quantise.hpp"
#include "ref/ops/rope.hpp"
#include "ref/ops/sparse_mla.hpp"
#include "ref/ops/topk.hpp"
#include "tests/device/fill.cuh"

namespace daybreak::device {

namespace dsa = kernels::dsa;

namespace {

constexpr int kIndexHeads = 64, kHeads = 128;
constexpr double kSoftmaxScale = 0.1352337788608801;

std::vector<double> frequencies() { return ref::rope_frequencies({.dim = 64, .theta = 10000}); }
std::vector<float> rounded(const std::vector<double>& x) {
  return ref::bf16_values(ref::nearest_bf16(x));
}
std::vector<float> rotated(std::span<const float> x, int64_t position, ref::RopeLayout layout) {
  return rounded(ref::rope(x, std::vector<int64_t>{position}, frequencies(), layout));
}

}  // namespace

ChainScene::ChainScene(const ChainShape& s, uint64_t seed)
    : shape(s),
      random_{seed},
      pages_(std::vector<int32_t>(size_t(s.batch), s.context), random_),
      positions_(dsa::padded_context(s.context)) {
  const int64_t tokens = s.batch, index_rows = tokens * kIndexHeads, rows = tokens * kHeads;
  const auto normal = [&](int64_t count, float deviation, float mean = 0) {
    std::vector<float> values;
    for (int64_t i = 0; i < count; ++i) values.push_back(mean + random_.normal() * deviation);
    return values;
  };
  const auto room_bf16 = [&](int64_t count, uint64_t stream, float deviation) {
    const uint16_t id = memory.room(count * 2);
    fill_bf16(memory.base(id), count, seed + stream, deviation);
    return id;
  };
  norm_weight_ = normal(dsa::kKey, 0.2f, 1), norm_bias_ = normal(dsa::kKey, 0.1f);
  latent_weight_ = normal(dsa::kLatent, 0.1f, 0.5f);
  std::vector<float> angles(size_t(s.context) * 64);
  const auto turns = frequencies();
  in_parallel(64, [&](int part) {
    for (int64_t p = part; p < s.context; p += 64) {
      const auto row = ref::rope_angles(turns, p);
      for (size_t i = 0; i < 64; ++i) angles[size_t(p) * 64 + i] = float(row[i]);
    }
  });
  for (int t = 0; t < s.batch; ++t) slots_.push_back(pages_.row(t, s.context - 1));
  const uint16_t angle_id = memory.put(angles), slot_id = memory.put(slots_),
                 place_id = memory.put(std::vector<int32_t>(size_t(s.batch), s.context - 1)),
                 context_id = memory.put(pages_.contexts);
  requests_ = memory.put(pages_.requests), blocks_ = memory.put(pages_.blocks);
  keys_ = memory.room(pages_.count * dsa::kIndexPageBytes);
  fill_index_pages(memory.base(keys_), pages_.count, seed + 3);
  records_ = memory.room(pages_.count * 64 * dsa::kRecordBytes);
  fill_records(memory.base(records_), pages_.count * 64, seed + 4, false);

  const auto new_tokens = [&](auto& a) {
    a.angles = memory.tensor(dsa::matrix(angle_id, Format::f32, s.context, 64));
    a.token_positions = memory.tensor(dsa::row(place_id, Format::i32, tokens));
    a.slots = memory.tensor(dsa::row(slot_id, Format::i32, tokens));
    a.tokens = s.batch;
  };
  k_raw_ = room_bf16(tokens * dsa::kKey, 11, 2);
  const uint16_t q8 = memory.room(index_rows * dsa::kKey), w = memory.room(index_rows * 4);
  new_tokens(index_store_);
  index_store_.q_raw = memory.tensor(
      dsa::matrix(room_bf16(index_rows * dsa::kKey, 10, 2), Format::bf16, index_rows, dsa::kKey));
  index_store_.k_raw = memory.tensor(dsa::matrix(k_raw_, Format::bf16, tokens, dsa::kKey));
  index_store_.head_weights =
      memory.tensor(dsa::column(memory.put(normal(index_rows, 1)), Format::f32, index_rows));
  index_store_.norm_weight =
      memory.tensor(dsa::row(memory.put(norm_weight_), Format::f32, dsa::kKey));
  index_store_.norm_bias = memory.tensor(dsa::row(memory.put(norm_bias_), Format::f32, dsa::kKey));
  index_store_.q = memory.tensor(dsa::matrix(q8, Format::e4m3, index_rows, dsa::kKey));
  index_store_.weights = memory.tensor(dsa::column(w, Format::f32, index_rows));
  index_store_.keys = memory.tensor(dsa::index_codes(keys_, pages_.count));
  index_store_.key_scales = memory.tensor(dsa::index_scales(keys_, pages_.count));

  latent_raw_ = room_bf16(tokens * dsa::kLatent, 12, 1);
  rope_raw_ = room_bf16(tokens * dsa::kRope, 13, 0.5f);
  new_tokens(latent_store_);
  latent_store_.latent =
      memory.tensor(dsa::matrix(latent_raw_, Format::bf16, tokens, dsa::kLatent));
  latent_store_.k_rope = memory.tensor(dsa::matrix(rope_raw_, Format::bf16, tokens, dsa::kRope));
  latent_store_.norm_weight =
      memory.tensor(dsa::row(memory.put(latent_weight_), Format::f32, dsa::kLatent));
  latent_store_.cache = memory.tensor(dsa::latent_records(records_, pages_.count, 64));

  q_raw_ = room_bf16(rows * dsa::kDim, 14, 1);
  q_ = memory.room(rows * dsa::kDim * 2);
  new_tokens(rotate_);
  rotate_.q_raw = memory.tensor(dsa::matrix(q_raw_, Format::bf16, rows, dsa::kDim));
  rotate_.q = memory.tensor(dsa::matrix(q_, Format::bf16, rows, dsa::kDim));
  rotate_.heads = kHeads;

  scores_ = memory.room(tokens * positions_ * 4);
  indexer_.q = index_store_.q, indexer_.weights = index_store_.weights;
  indexer_.keys = index_store_.keys, indexer_.key_scales = index_store_.key_scales;
  indexer_.page_requests = memory.tensor(dsa::page_requests(requests_, tokens));
  indexer_.page_blocks = memory.tensor(dsa::page_blocks(blocks_, int64_t(pages_.blocks.size())));
  indexer_.contexts = memory.tensor(dsa::row(context_id, Format::i32, tokens));
  indexer_.requests = s.batch;
  indexer_.splits = indexer_splits(s.batch, s.context);
  indexer_.scores = memory.tensor(dsa::score_columns(scores_, tokens, positions_));
  indexer_.positions = int(positions_);

  const int topk = topk_splits(s.batch, s.context);
  first_.scores = memory.tensor(dsa::score_rows(scores_, tokens, positions_));
  first_.contexts = indexer_.contexts;
  first_.lists =
      memory.tensor(dsa::lists(memory.room(tokens * topk * dsa::kTopk * 8), tokens * topk));
  first_.tokens = s.batch, first_.splits = topk;
  chosen_ = memory.room(tokens * dsa::kTopk * 4), valid_ = memory.room(tokens * 4);
  second_.lists = first_.lists;
  second_.positions = memory.tensor(dsa::positions(chosen_, tokens));
  second_.valid = memory.tensor(dsa::row(valid_, Format::i32, tokens));
  second_.tokens = s.batch, second_.splits = topk;
  first_.positions = second_.positions, first_.valid = second_.valid;
  first_.alone = topk == 1;
  rows_ = memory.room(tokens * dsa::kTopk * 4);
  table_.positions = second_.positions;
  table_.page_requests = indexer_.page_requests, table_.page_blocks = indexer_.page_blocks;
  table_.rows = memory.tensor(dsa::positions(rows_, tokens));
  table_.stamps = memory.tensor(dsa::stamps(memory.room(tokens * 8), tokens));
  table_.tokens = s.batch;

  const int splits = attention_splits(s.batch, kHeads);
  out_ = memory.room(rows * dsa::kLatent * 2);
  combine_.partial_out = memory.tensor(dsa::matrix(memory.room(rows * splits * dsa::kLatent * 4),
                                                   Format::f32, rows * splits, dsa::kLatent));
  combine_.partial_lse =
      memory.tensor(dsa::column(memory.room(rows * splits * 4), Format::f32, rows * splits));
  combine_.valid = second_.valid;
  combine_.out = memory.tensor(dsa::matrix(out_, Format::bf16, rows, dsa::kLatent));
  combine_.lse = memory.tensor(dsa::column(memory.room(rows * 4), Format::f32, rows));
  combine_.tokens = s.batch, combine_.heads = kHeads, combine_.splits = splits;
  attention_.q = rotate_.q, attention_.cache = latent_store_.cache;
  attention_.rows = table_.rows, attention_.stamps = table_.stamps;
  attention_.requests = table_.page_requests, attention_.valid = second_.valid;
  attention_.out = combine_.out, attention_.lse = combine_.lse;
  attention_.partial_out = combine_.partial_out, attention_.partial_lse = combine_.partial_lse;
  attention_.tokens = s.batch, attention_.heads = kHeads, attention_.splits = splits;
  attention_.scale = float(kSoftmaxScale) * dsa::kLog2e;
  attention_.slack = 8 / attention_.scale;
}

std::vector<ChainScene::Part> ChainScene::parts() {
  const auto part = [this](const char* name, const auto& args, bool aside = false) {
    return Part{name,
                [this, &args](cudaStream_t s) { kernels::device::launch(args, memory.place(s)); },
                aside};
  };
  std::vector<Part> list{part("latent_append", latent_store_, true),
                         part("query_prepare", rotate_, true),
                         part("indexer_prepare", index_store_), part("indexer", indexer_),
                         part("topk_partial", first_)};
  if (!first_.alone) list.push_back(part("topk_merge", second_));
  list.push_back(part("index_table", table_));
  list.push_back(part("sparse_mla", attention_));
  if (attention_.splits > 1) list.push_back(part("mla_combine", combine_));
  return list;
}

// What only attention waits for runs beside the selection.
void ChainScene::launch(cudaStream_t stream) {
  check(cudaEventRecord(begun_.event, stream), "record");
  check(cudaStreamWaitEvent(aside_.stream, begun_.event), "wait");
  for (const Part& p : parts()) {
    if (p.name == std::string("sparse_mla")) {
      check(cudaEventRecord(prepared_.event, aside_.stream), "record");
      check(cudaStreamWaitEvent(stream, prepared_.event), "wait");
    }
    p.work(p.aside ? aside_.stream : stream);
  }
}

void ChainScene::verify(Report& report, const std::string& name, int tokens, int heads) {
  launch();
  const std::string faults = memory.faults();
  if (!faults.empty()) return report.add(name, false, faults);
  const std::vector<int> list = sample(shape.batch, tokens, random_);
  verify_append(report, name);
  verify_selection(report, name, list);
  verify_attention(report, name, list, heads);
}

void ChainScene::verify_append(Report& report, const std::string& name) {
  std::vector<float> got, want, key, want_key;
  for (int t = 0; t < shape.batch; ++t) {
    const int64_t slot = slot_of(t), position = shape.context - 1;
    const auto record = memory.get<uint8_t>(records_, slot * dsa::kRecordBytes, dsa::kRecordBytes);
    float values[dsa::kDim];
    ref::decode_record(record.data(), values);
    got.insert(got.end(), values, values + dsa::kDim);
    const auto latent = rounded(ref::rms_norm(
        ref::bf16_values(memory.get<uint16_t>(latent_raw_, t * dsa::kLatent, dsa::kLatent)),
        latent_weight_, 1e-6));
    const auto turned =
        rotated(ref::bf16_values(memory.get<uint16_t>(rope_raw_, t * dsa::kRope, dsa::kRope)),
                position, ref::RopeLayout::interleaved);
    std::vector<double> wide(turned.begin(), turned.end());
    ref::decode_record(
        ref::encode_record(latent, ref::nearest_bf16(wide), ref::ScaleForm::ue8m0_ceil).data(),
        values);
    want.insert(want.end(), values, values + dsa::kDim);

    auto k = rounded(
        ref::layer_norm(ref::bf16_values(memory.get<uint16_t>(k_raw_, t * dsa::kKey, dsa::kKey)),
                        norm_weight_, norm_bias_, 1e-6));
    const auto front =
        rotated(std::span<const float>(k).first(64), position, ref::RopeLayout::half_split);
    std::copy(front.begin(), front.end(), k.begin());
    const auto mixed = rounded(ref::hadamard(k, dsa::kKey));
    const auto quantised = ref::act_quant(mixed, dsa::kKey, ref::ScaleForm::ue8m0_ceil);
    const int64_t page = slot / 64 * dsa::kIndexPageBytes, at = slot % 64;
    const auto codes = memory.get<uint8_t>(keys_, page + at * dsa::kKey, dsa::kKey);
    const float scale = memory.get<float>(keys_, (page + 64 * dsa::kKey) / 4 + at, 1)[0];
    for (size_t c = 0; c < size_t(dsa::kKey); ++c) {
      key.push_back(ref::e4m3_value(codes[c]) * scale);
      want_key.push_back(ref::e4m3_value(quantised.codes[c]) * quantised.scales[0]);
    }
  }
  report.add(ref::compare(name + " appended latents", std::span<const float>(got),
                          std::span<const float>(want), ref::tolerance("requantised")));
  report.add(ref::compare(name + " appended index keys", std::span<const float>(key),
                          std::span<const float>(want_key), ref::tolerance("requantised")));
}

void ChainScene::verify_selection(Report& report, const std::string& name,
                                  const std::vector<int>& tokens) {
  std::vector<int32_t> got, want, rows, want_rows;
  for (const int t : tokens) {
    const auto scores = memory.get<float>(scores_, t * positions_, shape.context);
    const auto chosen = memory.get<int32_t>(chosen_, int64_t(t) * dsa::kTopk, dsa::kTopk);
    const auto wanted = ref::topk(scores, dsa::kTopk);
    const auto physical =
        ref::translate_positions(wanted, {.requests = pages_.requests, .blocks = pages_.blocks}, t);
    const auto table = memory.get<int32_t>(rows_, int64_t(t) * dsa::kTopk, dsa::kTopk);
    got.insert(got.end(), chosen.begin(), chosen.end());
    want.insert(want.end(), wanted.begin(), wanted.end());
    rows.insert(rows.end(), table.begin(), table.end());
    want_rows.insert(want_rows.end(), physical.begin(), physical.end());
  }
  report.add(ref::compare_exact(name + " selection", std::span<const int32_t>(got),
                                std::span<const int32_t>(want)));
  report.add(ref::compare_exact(name + " index table", std::span<const int32_t>(rows),
                                std::span<const int32_t>(want_rows)));
}

void ChainScene::verify_attention(Report& report, const std::string& name,
                                  const std::vector<int>& tokens, int heads) {
  const std::vector<int> hs = sample(kHeads, heads, random_);
  std::vector<float> got, queries, want_queries;
  std::vector<std::vector<double>> want(tokens.size());
  std::vector<std::vector<uint8_t>> records(tokens.size());
  std::vector<std::vector<uint16_t>> q(tokens.size());
  std::vector<int> valid;
  Memory staging;
  const uint16_t compact = staging.room(int64_t(dsa::kTopk) * dsa::kRecordBytes);
  for (size_t i = 0; i < tokens.size(); ++i) {
    const int64_t t = tokens[i];
    for (const int h : hs) {
      const int64_t row = t * kHeads + h;
      for (const uint16_t bits : memory.get<uint16_t>(out_, row * dsa::kLatent, dsa::kLatent))
        got.push_back(ref::bf16_value(bits));
      const auto own = memory.get<uint16_t>(q_, row * dsa::kDim, dsa::kDim);
      q[i].insert(q[i].end(), own.begin(), own.end());
      const auto raw = ref::bf16_values(memory.get<uint16_t>(q_raw_, row * dsa::kDim, dsa::kDim));
      const auto turned = rotated(std::span(raw).subspan(dsa::kLatent), shape.context - 1,
                                  ref::RopeLayout::interleaved);
      want_queries.insert(want_queries.end(), raw.begin(), raw.begin() + dsa::kLatent);
      want_queries.insert(want_queries.end(), turned.begin(), turned.end());
      const auto values = ref::bf16_values(own);
      queries.insert(queries.end(), values.begin(), values.end());
    }
    collect_rows(staging.base(compact), memory.base(records_),
                 reinterpret_cast<const int32_t*>(memory.base(rows_)) + t * dsa::kTopk, dsa::kTopk,
                 dsa::kRecordBytes);
    records[i] = staging.all<uint8_t>(compact);
    valid.push_back(memory.get<int32_t>(valid_, t, 1)[0]);
  }
  in_parallel(int(tokens.size()), [&](int i) {
    std::vector<int32_t> index;
    for (int k = 0; k < valid[size_t(i)]; ++k) index.push_back(k);
    const ref::ByteSource bytes(records[size_t(i)]);
    want[size_t(i)] =
        ref::sparse_mla({.heads = int64_t(hs.size()), .q = q[size_t(i)], .scale = kSoftmaxScale},
                        {.bytes = bytes}, index)
            .out;
  });
  std::vector<double> all;
  for (const auto& w : want) all.insert(all.end(), w.begin(), w.end());
  report.add(ref::compare(name + " rotated queries", std::span<const float>(queries),
                          std::span<const float>(want_queries),
                          ref::tolerance("elementwise_bf16")));
  report.add(ref::compare(name + " out", std::span<const float>(got), std::span<const double>(all),
                          ref::tolerance("sparse_mla_out")));
}

}  // namespace daybreak::device
