#include <cmath>

#include "ref/ops/sparse_mla.hpp"
#include "tests/device/fill.cuh"
#include "tests/device/scenes.cuh"

namespace daybreak::device {

namespace dsa = kernels::dsa;

namespace {

constexpr double kSoftmaxScale = 0.1352337788608801;  // 192^-1/2 with YaRN, factor 40

std::vector<int32_t> contexts_of(const AttentionShape& s) {
  return std::vector<int32_t>(s.plain ? 1 : size_t(s.tokens), s.context);
}

}  // namespace

std::string AttentionShape::text() const {
  return (plain ? "s_q=" : "b=") + std::to_string(tokens) + " h_q=" + std::to_string(heads) +
         " ctx=" + std::to_string(context) + " splits=" + std::to_string(splits);
}

AttentionScene::AttentionScene(const AttentionShape& s, uint64_t seed)
    : shape(s), random_{seed}, pages_(contexts_of(s), random_, s.page_tokens) {
  const int64_t n = int64_t(s.tokens) * s.heads, all_rows = pages_.count * s.page_tokens;
  for (int t = 0; t < s.tokens; ++t)
    valid_.push_back(
        std::min(s.valid.empty() ? dsa::kTopk : s.valid[size_t(t) % s.valid.size()], s.context));
  table_.assign(size_t(s.tokens) * dsa::kTopk, -1);
  std::vector<int32_t> stamps(size_t(s.tokens) * 2);
  for (int t = 0; t < s.tokens; ++t) {
    const int request = s.plain ? 0 : t;
    stamps[size_t(t) * 2] = pages_.requests[size_t(request) * 4 + 2];
    stamps[size_t(t) * 2 + 1] = request;
  }
  in_parallel(s.tokens, [&](int t) {  // a random subset of the positions, ascending
    Random own{seed * 1000003 + uint64_t(t)};
    int32_t* to = &table_[size_t(t) * dsa::kTopk];
    int left = valid_[size_t(t)];
    for (int32_t p = 0; p < s.context && left > 0; ++p)
      if (own.below(s.context - p) < left) *to++ = pages_.row(s.plain ? 0 : t, p), --left;
  });

  q_ = memory.room(n * dsa::kDim * 2);
  fill_bf16(memory.base(q_), n * dsa::kDim, seed + 1, 1);
  cache_ = memory.room(all_rows * (s.plain ? dsa::kDim * 2 : dsa::kRecordBytes));
  if (s.plain)
    fill_bf16(memory.base(cache_), all_rows * dsa::kDim, seed + 2, 0.5f);
  else
    fill_records(memory.base(cache_), all_rows, seed + 2, s.any_scale);
  if (s.poison_rest) {
    std::vector<uint8_t> used(static_cast<size_t>(all_rows));
    for (const int32_t r : table_)
      if (r >= 0) used[size_t(r)] = 1;
    const int64_t bytes = s.plain ? dsa::kDim * 2 : dsa::kRecordBytes;
    for (int64_t r = 0; r < all_rows; ++r)
      if (!used[size_t(r)])
        check(cudaMemset(memory.base(cache_) + r * bytes, 0xFF, size_t(bytes)), "poison");
  }
  rows_ = memory.put(table_);
  stamps_ = memory.put(stamps);
  requests_ = memory.put(pages_.requests);
  valid_id_ = memory.put(valid_);
  for (int h = 0; h < s.heads; ++h) sink_values_.push_back(random_.normal());
  sinks_ = memory.put(sink_values_);
  out_ = memory.room(n * dsa::kLatent * 2);
  lse_ = memory.room(n * 4);
  partial_out_ = memory.room(s.splits > 1 ? n * s.splits * dsa::kLatent * 4 : 16);
  partial_lse_ = memory.room(s.splits > 1 ? n * s.splits * 4 : 16);

  const auto common = [&](auto& a) {
    a.valid = memory.tensor(dsa::row(valid_id_, Format::i32, s.tokens));
    a.sinks = memory.tensor(dsa::column(sinks_, Format::f32, s.heads));
    a.out = memory.tensor(dsa::matrix(out_, Format::bf16, n, dsa::kLatent));
    a.lse = memory.tensor(dsa::column(lse_, Format::f32, n));
    a.partial_out = memory.tensor(
        dsa::matrix(partial_out_, Format::f32, s.splits > 1 ? n * s.splits : 0, dsa::kLatent));
    a.partial_lse =
        memory.tensor(dsa::column(partial_lse_, Format::f32, s.splits > 1 ? n * s.splits : 0));
    a.tokens = s.tokens, a.heads = s.heads, a.splits = s.splits;
    a.has_sink = s.sink;
  };
  const auto attention = [&](auto& a) {
    common(a);
    a.q = memory.tensor(dsa::matrix(q_, Format::bf16, n, dsa::kDim));
    a.cache = memory.tensor(s.plain ? dsa::latent_rows(cache_, pages_.count, s.page_tokens)
                                    : dsa::latent_records(cache_, pages_.count, s.page_tokens));
    a.rows = memory.tensor(dsa::positions(rows_, s.tokens));
    a.stamps = memory.tensor(dsa::stamps(stamps_, s.tokens));
    a.requests = memory.tensor(dsa::page_requests(requests_, int64_t(pages_.requests.size()) / 4));
    a.scale = float(kSoftmaxScale) * dsa::kLog2e;
    a.slack = 8 / a.scale;
  };
  if (s.plain)
    attention(plain_);
  else
    attention(records_);
  common(combine_);
}

void AttentionScene::launch_attention(cudaStream_t stream) {
  if (shape.plain)
    kernels::device::launch(plain_, memory.place(stream));
  else
    kernels::device::launch(records_, memory.place(stream));
}

void AttentionScene::launch(cudaStream_t stream) {
  launch_attention(stream);
  if (shape.splits > 1) kernels::device::launch(combine_, memory.place(stream));
}

void AttentionScene::verify(Report& report, const std::string& name, int tokens, int heads) {
  launch();
  const std::string faults = memory.faults();
  if (!faults.empty()) return report.add(name, false, faults);
  const int row_bytes = shape.plain ? dsa::kDim * 2 : dsa::kRecordBytes;
  const std::vector<int> ts = sample(shape.tokens, tokens, random_);
  const std::vector<int> hs = sample(shape.heads, heads, random_);
  struct Part {
    std::vector<uint16_t> q, out;
    std::vector<float> lse, sinks;
    std::vector<uint8_t> rows;
    std::vector<int32_t> index;
    ref::AttentionResult want;
  };
  std::vector<Part> parts(ts.size());
  Memory staging;
  const uint16_t compact = staging.room(int64_t(dsa::kTopk) * row_bytes);
  for (size_t i = 0; i < ts.size(); ++i) {
    Part& p = parts[i];
    const int64_t t = ts[i];
    for (const int h : hs) {
      const int64_t row = t * shape.heads + h;
      const auto q = memory.get<uint16_t>(q_, row * dsa::kDim, dsa::kDim);
      const auto out = memory.get<uint16_t>(out_, row * dsa::kLatent, dsa::kLatent);
      p.q.insert(p.q.end(), q.begin(), q.end());
      p.out.insert(p.out.end(), out.begin(), out.end());
      p.lse.push_back(memory.get<float>(lse_, row, 1)[0]);
      if (shape.sink) p.sinks.push_back(sink_values_[size_t(h)]);
    }
    collect_rows(staging.base(compact), memory.base(cache_),
                 reinterpret_cast<const int32_t*>(memory.base(rows_)) + t * dsa::kTopk, dsa::kTopk,
                 row_bytes);
    p.rows = staging.all<uint8_t>(compact);
    for (int k = 0; k < valid_[size_t(t)]; ++k) p.index.push_back(k);
  }
  in_parallel(int(parts.size()), [&](int i) {
    Part& p = parts[size_t(i)];
    const ref::ByteSource bytes(p.rows);
    p.want = ref::sparse_mla(
        {.heads = int64_t(hs.size()), .q = p.q, .scale = kSoftmaxScale, .sink = p.sinks},
        {.bytes = bytes, .form = shape.plain ? ref::RowForm::bf16 : ref::RowForm::fp8_record},
        p.index);
  });
  // The rounding of weights to BF16 shows where one of them is large: few keys, or one that stands out.
  // Such rows have a tolerance of their own.
  std::vector<float> out, lse, few_out;
  std::vector<double> want, want_lse, few_want;
  for (size_t i = 0; i < ts.size(); ++i) {
    const ref::AttentionResult& wanted = parts[i].want;
    for (size_t h = 0; h < hs.size(); ++h) {
      const bool few =
          valid_[size_t(ts[i])] < 1024 || wanted.max[h] - wanted.lse[h] > std::log(1. / 16);
      for (size_t c = h * dsa::kLatent; c < (h + 1) * dsa::kLatent; ++c) {
        (few ? few_out : out).push_back(std::bit_cast<float>(uint32_t(parts[i].out[c]) << 16));
        (few ? few_want : want).push_back(wanted.out[c]);
      }
    }
    lse.insert(lse.end(), parts[i].lse.begin(), parts[i].lse.end());
    want_lse.insert(want_lse.end(), parts[i].want.lse.begin(), parts[i].want.lse.end());
  }
  const std::string kind = shape.plain ? "sparse_mla_prefill" : "sparse_mla";
  const auto compare = [&](const std::string& what, const std::vector<float>& got,
                           const std::vector<double>& wanted, const std::string& tolerance) {
    if (!got.empty())
      report.add(ref::compare(name + " " + what, std::span<const float>(got),
                              std::span<const double>(wanted), ref::tolerance(tolerance)));
  };
  compare("out", out, want, kind + "_out");
  compare("out, few keys or a large weight", few_out, few_want, "sparse_mla_few_keys_out_device");
  compare("lse", lse, want_lse, kind + (shape.plain ? "_lse" : "_lse_device"));
}

void AttentionScene::verify_repeats(Report& report, const std::string& name, int times) {
  launch();
  const auto first = memory.all<uint8_t>(out_), first_lse = memory.all<uint8_t>(lse_);
  int different = 0;
  for (int i = 1; i < times; ++i) {
    memory.poison(out_), memory.poison(lse_);
    launch();
    different += memory.all<uint8_t>(out_) != first || memory.all<uint8_t>(lse_) != first_lse;
  }
  report.add(name + ", " + std::to_string(times) + " runs", different == 0,
             different ? std::to_string(different) + " differ from the first" : "same bytes");
}

void AttentionScene::spoil_stamp() {
  const int32_t other = pages_.requests[2] + 1;
  check(cudaMemcpy(memory.base(stamps_), &other, 4, cudaMemcpyDefault), "copy in");
}
void AttentionScene::spoil_index() {
  const int32_t garbage = 2147480000;
  check(cudaMemcpy(memory.base(rows_) + 40, &garbage, 4, cudaMemcpyDefault), "copy in");
}

double AttentionScene::flops() const {
  double keys = 0;
  for (const int32_t v : valid_) keys += v;
  return 2 * keys * shape.heads * (dsa::kDim + dsa::kLatent);
}
double AttentionScene::bytes() const {
  double rows = 0;
  for (const int32_t v : valid_) rows += v;
  if (shape.plain) rows = std::min<double>(rows, shape.context);
  const double queries = double(shape.tokens) * shape.heads;
  return rows * (shape.plain ? dsa::kDim * 2 : dsa::kRecordBytes) +
         queries * (dsa::kDim * 2 + dsa::kLatent * 2 + 4);
}

}  // namespace daybreak::device
