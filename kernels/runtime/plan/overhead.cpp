#include "kernels/runtime/plan/overhead.hpp"

#include "configs/reader/errors.hpp"
#include "kernels/runtime/plan/chain_tensors.hpp"

namespace daybreak::kernels {
namespace {

using Rows = Record::Tile<uint8_t, 64, dsa::kRecordBytes>;
constexpr int kTiles = 4;            // rows land round robin in this many tiles of 64
constexpr int kDescriptorWords = 8;  // 64-byte descriptor, one scalar operation a word

// Tensors of one method; every member is cheap to copy into the recorders.
struct Scene {
  isa::TensorDesc latents, positions, requests, blocks, rows, stamps, lists, mask, built;
  int64_t page_tokens = 64, topk = 0;
  std::vector<int64_t> pages;  // of each request

  void gather_all(Record& m, uint32_t token, const isa::TensorDesc& table) const {
    Rows tiles[kTiles];
    for (int64_t i = 0; i < topk; i += 64)
      m.gather(tiles[i / 64 % kTiles], latents, 0, table, token, i, stamps, requests);
  }
  void translate(Record& m, uint32_t token, const isa::TensorDesc& from) const {
    m.translate(rows, token, stamps, from, requests, blocks, token, int(topk), int(page_tokens));
  }
  void build(Record& m, uint32_t token) const {
    Record::List<dsa::kTopk> list;
    Record::Tile<int32_t, 1, dsa::kTopk> chosen;
    Record::Tile<int32_t, 1, 1> count;
    m.load_list(list, lists, token, 0);
    m.extract(chosen, count, list);
    m.store(built, token, 0, chosen);
  }
};

void one_task_per_key(Record& m, const Scene& s, uint32_t task) {
  Record::Tile<uint8_t, 1, dsa::kRecordBytes> row;
  const int64_t token = task / s.topk, i = task % s.topk;
  m.load(row, s.latents, m.read(s.rows, token, i), 0);
}

void scalar_loop(Record& m, const Scene& s, uint32_t token) {
  Rows tiles[kTiles];
  for (int i = 0; i < s.topk; ++i) {
    const int32_t position = m.read(s.positions, token, i);
    const int32_t first = m.read(s.requests, token, 0);
    const int32_t page = m.read(s.blocks, 0, first + position / s.page_tokens);
    m.issue(isa::ScalarWork{.operations = kDescriptorWords});
    m.load(rows<1>(tiles[i / 64 % kTiles], i % 64), s.latents,
           page * s.page_tokens + position % s.page_tokens, 0);
  }
}

void masked_scan(Record& m, const Scene& s, uint32_t token) {
  Rows tiles[kTiles];
  Record::Tile<float, 64, 64> scores;
  Record::Tile<float, 1, 64> masks[kTiles];
  m.fill(scores, 0.f);
  const int32_t first = m.read(s.requests, token, 0);
  for (int64_t page = 0; page < s.pages[token]; ++page) {
    auto& mask = masks[page % kTiles];
    m.gather_pages(tiles[page % kTiles], s.latents, 0, s.blocks, 0, first + page);
    m.load(mask, s.mask, 0, page * 64);
    m.scale_columns(scores, mask);
  }
}

void table(Record& m, const Scene& s, uint32_t token) {
  s.build(m, token);
  s.translate(m, token, s.built);
  s.gather_all(m, token, s.rows);
}

Scene scene_of(const DecodeInputs& in) {
  const Workload& w = in.workload;
  const int64_t tokens = w.tokens();
  if (w.latent_page != 64 || w.latent_form != CacheForm::fp8 || w.queries != 1)
    throw UserError("index_overhead: pages hold 64 records of 656 bytes, one query token each");
  for (int64_t r = 0; r < w.batch; ++r)
    if (w.context_of(r) < w.topk)
      throw UserError("index_overhead: every list names " + std::to_string(w.topk) +
                      " keys, so the context must be that or more, not " +
                      std::to_string(w.context_of(r)));
  const ChainTensors t(in, {}, "overhead.");
  Scene s{.latents = in.latents(),
          .positions = dsa::positions(in.selected, tokens),
          .requests = dsa::page_requests(in.latent_requests, w.batch),
          .blocks = dsa::page_blocks(in.latent_blocks, int64_t(in.latent_pages->page.size())),
          .rows = dsa::positions(t.rows, tokens),
          .stamps = dsa::stamps(t.stamps, tokens),
          .lists = dsa::lists(in.add("selected_lists", tokens * w.topk * 8), tokens),
          .mask = dsa::row(in.add("mask", w.longest() * 4), Format::f32, w.longest()),
          .built = dsa::positions(t.positions, tokens),
          .page_tokens = w.latent_page,
          .topk = w.topk,
          .pages = {}};
  std::vector<int32_t> rows, stamps;
  std::vector<Ranked> lists;
  for (int64_t token = 0; token < tokens; ++token) {
    const int64_t first = in.latent_pages->first[size_t(token)];
    s.pages.push_back(in.latent_pages->first[size_t(token) + 1] - first);
    stamps.insert(stamps.end(), {1, int32_t(token)});
    for (int32_t p : in.get<int32_t>(in.selected, w.topk, token * w.topk)) {
      rows.push_back(p < 0 ? -1
                           : int32_t(in.latent_pages->page[size_t(first + p / 64)] * 64 + p % 64));
      lists.push_back({-float(lists.size()), p});
    }
  }
  in.put(t.rows, rows);
  in.put(t.stamps, stamps);
  in.put(s.lists.binding, lists);
  return s;
}

}  // namespace

void add_index_overhead(Plan& plan, const DecodeInputs& in, const std::string& method) {
  const Workload& w = in.workload;
  const Scene s = scene_of(in);
  struct Method {
    const char* name;
    int64_t key_bytes;  // least bytes HBM moves for one selected key
    void (*record)(Record&, const Scene&, uint32_t);
  };
  constexpr int64_t kRecord = dsa::kRecordBytes, kPosition = 4, kListed = sizeof(Ranked);
  const Method methods[] = {
      {"task", kRecord, one_task_per_key},
      {"scalar", kRecord, scalar_loop},
      {"masked", kRecord, masked_scan},
      {"table", kRecord + kListed, table},
      {"build", kListed, [](Record& m, const Scene& sc, uint32_t t) { sc.build(m, t); }},
      {"translate", kPosition,
       [](Record& m, const Scene& sc, uint32_t t) { sc.translate(m, t, sc.positions); }},
      {"gather", kRecord + kPosition,
       [](Record& m, const Scene& sc, uint32_t t) { sc.gather_all(m, t, sc.rows); }}};
  for (const Method& chosen : methods) {
    if (method != chosen.name) continue;
    const uint32_t tasks = uint32_t(w.batch * (method == "task" ? w.topk : 1));
    const std::string name = "index_overhead_" + method;
    plan.add({.name = name,
              .tasks = tasks,
              .cores = uint32_t(w.batch),
              .reads = {in.latent_cache, in.selected, in.latent_requests, in.latent_blocks},
              .writes = {s.rows.binding, s.stamps.binding, s.built.binding},
              .steers = {in.selected, in.latent_requests, in.latent_blocks, s.rows.binding,
                         s.stamps.binding, s.built.binding, s.lists.binding},
              .floor = {.bytes = w.batch * w.topk * chosen.key_bytes},
              .record =
                  [=](uint32_t task, const Tuning&, const RecordContext& context) {
                    Record m(context);
                    m.enter(chosen.name, 0);
                    chosen.record(m, s, task);
                    return m.program(name.c_str(), task);
                  },
              .check = {}});
  }
}

}  // namespace daybreak::kernels
