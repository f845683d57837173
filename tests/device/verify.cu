// The cases of `daybreak-cuda verify`: every kernel against the oracles, hostile inputs among them.
#include <fstream>
#include <limits>

#include "configs/reader/errors.hpp"
#include "kernels/machines/hopper/device.cuh"
#include "tests/device/chain_scene.cuh"
#include "tests/device/program.cuh"

namespace daybreak::device {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Hexadecimal columns `from` and `to` of a file of vectors.
std::vector<std::pair<uint32_t, uint32_t>> vectors(const std::string& path, int from, int to) {
  std::ifstream in(path);
  if (!in) throw UserError("verify: there is no file of vectors " + path);
  std::vector<std::pair<uint32_t, uint32_t>> rows;
  std::string line;
  for (std::getline(in, line); std::getline(in, line);) {
    std::vector<std::string> cells(1);
    for (const char c : line)
      if (c == ',')
        cells.emplace_back();
      else
        cells.back() += c;
    rows.push_back({uint32_t(std::stoul(cells[size_t(from)], nullptr, 16)),
                    uint32_t(std::stoul(cells[size_t(to)], nullptr, 16))});
  }
  return rows;
}

__global__ void encode_e4m3(const uint32_t* from, uint32_t* to, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) to[i] = kernels::hopper::to_e4m3(__uint_as_float(from[i])).bits;
}
__global__ void decode_e4m3(const uint32_t* from, uint32_t* to, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    to[i] = __float_as_uint(kernels::hopper::to_float(kernels::E4m3{uint8_t(from[i])}));
}

void verify_formats(Report& report, const std::string& folder) {
  const auto run = [&](const std::string& name, int from, int to, auto kernel, bool nan_by_class) {
    const auto rows = vectors(folder + "/" + name, from, to);
    std::vector<uint32_t> arguments, results;
    for (const auto& [argument, result] : rows) arguments.push_back(argument);
    Memory memory;
    const uint16_t in = memory.put(arguments), out = memory.room(int64_t(rows.size()) * 4);
    kernel<<<int(rows.size() + 255) / 256, 256>>>(
        reinterpret_cast<const uint32_t*>(memory.base(in)),
        reinterpret_cast<uint32_t*>(memory.base(out)), int(rows.size()));
    check(cudaDeviceSynchronize(), "conversion");
    results = memory.all<uint32_t>(out);
    int wrong = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
      const uint32_t got = results[i], want = rows[i].second;
      const auto nan = [&](uint32_t x) {
        return nan_by_class ? (x & 0x7fffffff) > 0x7f800000 : (x & 0x7f) == 0x7f;
      };
      wrong += got != want && !(nan(got) && nan(want));
    }
    report.add("formats " + name, wrong == 0,
               std::to_string(rows.size()) + " rows, " + std::to_string(wrong) + " wrong");
  };
  run("f32_to_e4m3.csv", 0, 1, encode_e4m3, false);
  run("e4m3_to_f32.csv", 0, 1, decode_e4m3, true);
}

// tokens, heads: how many are compared; 0: all.
void attention(Report& report, const std::string& name, const AttentionShape& s, int tokens,
               int heads) {
  const std::string full = "sparse_mla " + name + " " + s.text();
  if (!report.wants(full)) return;
  AttentionScene scene(s, report.seed++);
  scene.verify(report, full, tokens, heads);
}
void indexer(Report& report, const std::string& name, const IndexerShape& s, int tokens) {
  const std::string full = "indexer " + name + " " + s.text();
  if (!report.wants(full)) return;
  IndexerScene scene(s, report.seed++);
  scene.verify(report, full, tokens);
}
void topk(Report& report, const std::string& name, const TopkShape& s, int rows,
          const std::function<float(int, int, Random&)>& value = nullptr) {
  const std::string full = "topk " + name + " rows=" + std::to_string(s.rows) +
                           " cols=" + std::to_string(s.columns) +
                           " splits=" + std::to_string(s.splits);
  if (!report.wants(full)) return;
  TopkScene scene(s, report.seed++, value);
  scene.verify(report, full, rows);
}
void chain(Report& report, const ChainShape& s, int tokens, int heads) {
  const std::string full = "chain " + s.text();
  if (!report.wants(full)) return;
  ChainScene scene(s, report.seed++);
  scene.verify(report, full, tokens, heads);
}

void verify_small(Report& report) {
  const std::vector<int> edges{0, 1, 63, 64, 65, 127, 128, 129, 700, 1999, 2047, 2048};
  for (const bool plain : {false, true}) {
    const std::string form = plain ? "rows" : "records";
    AttentionShape s{.tokens = 12, .heads = 64, .context = 3000, .plain = plain, .valid = edges};
    s.poison_rest = true;
    attention(report, form + " edges", s, 0, 0);
    s.sink = true, s.any_scale = true, s.heads = 128, s.page_tokens = 53;
    attention(report, form + " edges, sinks, any scale, page 53", s, 0, 16);
    for (const int splits : {2, 5, 32}) {
      s.splits = splits;
      attention(report, form + " edges, sinks", s, 0, 16);
    }
    attention(report, form + " none",
              {.tokens = 3, .heads = 64, .context = 64, .plain = plain, .valid = {0}}, 0, 0);
  }
  const std::vector<int32_t> lengths{0, 1, 63, 64, 65, 255, 256, 257, 2047, 2049, 5000};
  for (const int splits : {1, 3, 40})
    for (const int queries : {1, 2})
      indexer(
          report, "edges",
          {.batch = int(lengths.size()), .contexts = lengths, .queries = queries, .splits = splits},
          0);
  indexer(report, "empty", {.batch = 3, .contexts = {0}, .splits = 2}, 0);
  indexer(report, "prefill", {.batch = 50, .contexts = {999}, .queries = 2, .prefill = true}, 0);

  const std::vector<int32_t> counts{0, 1, 2, 2047, 2048, 2049, 5000, 8320};
  for (const int splits : {1, 2, 3, 8}) {
    topk(report, "edges", {.rows = 8, .columns = 8320, .splits = splits, .counts = counts}, 0);
    const TopkShape s{.rows = 3, .columns = 40000, .splits = splits};
    topk(report, "all zero", s, 0, [](int, int, Random&) { return 0.f; });
    topk(report, "-0 and 0", s, 0, [](int, int c, Random&) { return c % 3 ? -0.f : 0.f; });
    topk(report, "100 winners, zeros", s, 0,
         [](int r, int c, Random&) { return c % 400 == r ? 1.f + float(c) : 0.f; });
    topk(report, "half zero", s, 0, [](int, int, Random& x) { return std::max(x.normal(), 0.f); });
    topk(report, "one half-precision bin", s, 0,
         [](int, int, Random& x) { return 1 + float(x.below(1000)) * 0x1p-23f; });
    topk(report, "nan and inf", s, 0, [](int, int c, Random& x) {
      const int kind = x.below(8);
      return kind == 0 ? NAN : kind == 1 ? -kInfinity : c % 97 == 0 ? kInfinity : x.normal();
    });
    topk(report, "few that count", s, 0,
         [](int, int c, Random&) { return c % 100 ? NAN : -1e30f - float(c); });
    topk(report, "subnormal", s, 0,
         [](int, int, Random& x) { return float(x.below(4000) - 2000) * 1e-42f; });
  }
  chain(report, {.batch = 3, .context = 4133}, 0, 8);
  chain(report, {.batch = 2, .context = 100}, 0, 8);
}

void verify_faults(Report& report) {
  if (!report.wants("faults")) return;
  AttentionScene scene({.tokens = 2, .heads = 64, .context = 500}, report.seed++);
  scene.spoil_stamp();
  scene.launch();
  const std::string stale = scene.memory.faults();
  report.add("faults stale table", stale == "index table of an old generation", stale);
  AttentionScene outside({.tokens = 2, .heads = 64, .context = 500}, report.seed++);
  outside.spoil_index();
  outside.launch();
  const std::string index = outside.memory.faults();
  report.add("faults garbage index", index == "index outside its tensor", index);
}

void verify_repeats(Report& report) {
  if (!report.wants("repeats")) return;
  constexpr int kTimes = 100;
  AttentionScene records({.tokens = 8, .heads = 128, .context = 32768, .splits = 8}, report.seed++);
  records.verify_repeats(report, "repeats sparse_mla records", kTimes);
  AttentionScene rows({.tokens = 96, .heads = 128, .context = 32768, .plain = true}, report.seed++);
  rows.verify_repeats(report, "repeats sparse_mla rows", kTimes);
  IndexerScene one({.batch = 4, .contexts = {32768}, .splits = 33}, report.seed++);
  one.verify_repeats(report, "repeats indexer", kTimes);
  IndexerScene two({.batch = 64, .contexts = {8192}, .queries = 2, .prefill = true}, report.seed++);
  two.verify_repeats(report, "repeats indexer prefill", kTimes);
  TopkScene selection({.rows = 32, .columns = 32768, .splits = 4}, report.seed++,
                      [](int, int, Random& x) { return float(x.below(50)); });
  selection.verify_repeats(report, "repeats topk", kTimes);
}

// Launches whose number of tasks the kernel reads from memory: none, half of them, all, more than
// there are. Scenes of 16 tasks.
template <class Make> void indirect(Report& report, const std::string& name, Make make) {
  const auto scene = make();
  scene->launch();
  const auto full = scene->memory.template all<uint8_t>(scene->output());
  constexpr uint8_t kPoison = 0xFF;
  const auto all = std::count_if(full.begin(), full.end(), [](uint8_t b) { return b != kPoison; });
  bool inside = true;
  const auto share = [&](int tasks) {
    scene->memory.poison(scene->output());
    scene->memory.limit_tasks(tasks);
    scene->launch();
    const auto got = scene->memory.template all<uint8_t>(scene->output());
    int64_t written = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      inside &= got[i] == full[i] || got[i] == kPoison;
      written += got[i] != kPoison;
    }
    return double(written) / double(all);
  };
  const double none = share(0), half = share(8), whole = share(16), more = share(1000);
  const std::string faults = scene->memory.faults();
  report.add(
      "indirect " + name,
      faults.empty() && inside && none == 0 && half > 0.4 && half < 0.6 && whole == 1 && more == 1,
      "written with 0, 8, 16, 1000 of 16 tasks: " + std::to_string(none) + ", " +
          std::to_string(half) + ", " + std::to_string(whole) + ", " + std::to_string(more));
}

void verify_indirect(Report& report) {
  if (!report.wants("indirect")) return;
  // A task of attention is a token and 64 heads; of scoring a request; of selection a row.
  indirect(report, "sparse_mla records", [&] {
    return std::make_unique<AttentionScene>(
        AttentionShape{.tokens = 8, .heads = 128, .context = 4096}, report.seed++);
  });
  indirect(report, "sparse_mla rows", [&] {
    return std::make_unique<AttentionScene>(
        AttentionShape{.tokens = 8, .heads = 128, .context = 4096, .plain = true}, report.seed++);
  });
  indirect(report, "indexer", [&] {
    return std::make_unique<IndexerScene>(IndexerShape{.batch = 16, .contexts = {512}},
                                          report.seed++);
  });
  indirect(report, "topk", [&] {
    return std::make_unique<TopkScene>(TopkShape{.rows = 16, .columns = 8192}, report.seed++);
  });
}

void verify_large(Report& report) {
  for (const int context : {32768, 131072})
    for (const int heads : {64, 128})
      for (const int batch : {1, 8, 32, 128}) {
        const int tokens = std::min(batch, 33), rows = std::max(66 / tokens + 1, 2);
        attention(report, "decode",
                  {.tokens = batch,
                   .heads = heads,
                   .context = context,
                   .splits = attention_splits(batch, heads)},
                  tokens, rows);
      }
  for (const int context : {32768, 131072})
    for (const int heads : {64, 128})
      attention(report, "prefill",
                {.tokens = 4096, .heads = heads, .context = context, .plain = true}, 33, 3);
  for (const int context : {32768, 131072})
    for (const int batch : {1, 8, 32, 128})
      indexer(report, "decode",
              {.batch = batch, .contexts = {context}, .splits = indexer_splits(batch, context)},
              66);
  for (const int context : {32768, 131072})
    indexer(report, "prefill",
            {.batch = 2048, .contexts = {context}, .queries = 2, .prefill = true}, 66);
  for (const int columns : {32768, 131072})
    for (const int rows : {1, 8, 32, 128, 4096})
      topk(report, "normal",
           {.rows = rows, .columns = columns, .splits = topk_splits(rows, columns)}, 66);
  for (const int context : {32768, 131072})
    for (const int batch : {1, 8, 32, 128})
      chain(report, {.batch = batch, .context = context}, std::min(batch, 33), 3);
}

}  // namespace

void verify(Report& report, const std::string& sizes, const std::string& vectors) {
  if (report.wants("formats")) verify_formats(report, vectors);
  verify_small(report);
  verify_faults(report);
  verify_indirect(report);
  if (sizes == "small") return;
  verify_repeats(report);
  verify_large(report);
}

}  // namespace daybreak::device
