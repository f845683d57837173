// A random latent cache, queries and an index table, for the tests of sparse MLA.
#pragma once
#include "ref/ops/quantise.hpp"
#include "ref/ops/sparse_mla.hpp"
#include "tests/kernels/library/scene.hpp"

namespace daybreak::kernels {

struct MlaShape {
  std::vector<int32_t> valid;  // keys of each token
  int heads = 64, splits = 1;
  int64_t page_tokens = 64, first_page = 0;
  bool fp8 = true, sink = false;
  ref::ScaleForm scales = ref::ScaleForm::plain;
  uint64_t seed = 1;
};

struct MlaScene : Scene {
  MlaShape shape;
  Random random;
  int64_t heads;  // with padding
  int64_t pages, context;
  double softmax_scale = 0.1352337788608801;
  uint16_t q, cache, rows, stamps, requests, valid, sinks, out, lse, partial_out, partial_lse;

  explicit MlaScene(MlaShape);
  int64_t tokens() const { return int64_t(shape.valid.size()); }

  // Arguments of sparse_mla and of mla_combine.
  template <class Args> void attention(Args& a) const {
    const int64_t n = tokens() * heads;
    a.q = dsa::matrix(q, Format::bf16, n, dsa::kDim);
    a.cache = shape.fp8 ? dsa::latent_records(cache, pages, shape.page_tokens)
                        : dsa::latent_rows(cache, pages, shape.page_tokens);
    a.rows = dsa::positions(rows, tokens());
    a.stamps = dsa::stamps(stamps, tokens());
    a.requests = dsa::page_requests(requests, 1);
    a.scale = float(softmax_scale) * dsa::kLog2e;
    results(a);
  }
  template <class Args> void results(Args& a) const {
    const int64_t n = tokens() * heads;
    a.valid = dsa::row(valid, Format::i32, tokens());
    a.sinks = dsa::column(sinks, Format::f32, heads);
    a.out = dsa::matrix(out, Format::bf16, n, dsa::kLatent);
    a.lse = dsa::column(lse, Format::f32, n);
    a.partial_out = dsa::matrix(partial_out, Format::f32, n * shape.splits, dsa::kLatent);
    a.partial_lse = dsa::column(partial_lse, Format::f32, n * shape.splits);
    a.tokens = int(tokens());
    a.heads = int(heads);
    a.splits = shape.splits;
    a.has_sink = shape.sink;
  }
  // Compares out and lse of every real head with the oracle.
  void expect() const;

 private:
  void fill_cache();
};

}  // namespace daybreak::kernels
