// The cases of `daybreak-cuda bench`: the peers' shapes, cold and as graphs, and the whole chain.
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

#include "configs/reader/errors.hpp"
#include "tests/device/ceilings.cuh"
#include "tests/device/chain_scene.cuh"
#include "tests/device/program.cuh"

namespace daybreak::device {
namespace {

constexpr int kColdRuns = 9, kGraphRuns = 5;

// Calls of one graph: about 4 ms of them.
int calls_for(double us) { return std::clamp(int(4000 / std::max(us, 1.0)), 2, 200); }

void time_both(Report& report, const Work& work, Timing about, bool graph = true) {
  const auto add = [&](Timing t) {
    about.method = t.method, about.us = t.us, about.least = t.least, about.most = t.most;
    report.add(about);
  };
  const Timing cold = time_cold(work, kColdRuns);
  add(cold);
  if (graph) add(time_graph(work, calls_for(cold.us), kGraphRuns));
}

std::string number(int64_t x) { return std::to_string(x); }

void bench_attention(Report& report) {
  for (const int context : {32768, 131072})
    for (const int heads : {128, 64})
      for (const int batch : {1, 8, 32, 128}) {
        if (!report.wants("sparse_mla decode")) return;
        if (heads == 64 && context == 32768) continue;  // the peer has no such row
        AttentionScene s({.tokens = batch,
                          .heads = heads,
                          .context = context,
                          .splits = attention_splits(batch, heads)},
                         report.seed++);
        time_both(report, [&](cudaStream_t stream) { s.launch(stream); },
                  {.kernel = "sparse_mla",
                   .shape = "s_q=1 h_q=" + number(heads) + " b=" + number(batch) +
                            " ctx=" + number(context) + " topk=2048",
                   .tuning = "splits=" + number(s.shape.splits),
                   .flops = s.flops(),
                   .bytes = s.bytes(),
                   .peer = "flashmla_sparse_decode_fp8",
                   .bound = Ceiling::bf16});
      }
}

void bench_prefill(Report& report) {
  if (!report.wants("sparse_mla prefill")) return;
  struct Case {
    int tokens, heads, context;
  };
  for (const Case c : {Case{4096, 128, 32768},
                       {4096, 128, 8192},
                       {4096, 128, 131072},
                       {4096, 64, 131072},
                       {1024, 128, 131072},
                       {256, 128, 131072}}) {
    AttentionScene s({.tokens = c.tokens, .heads = c.heads, .context = c.context, .plain = true},
                     report.seed++);
    time_both(report, [&](cudaStream_t stream) { s.launch(stream); },
              {.kernel = "sparse_mla rows",
               .shape = "s_q=" + number(c.tokens) + " s_kv=" + number(c.context) +
                        " h_q=" + number(c.heads) + " topk=2048",
               .flops = s.flops(),
               .bytes = s.bytes(),
               .peer = "flashmla_sparse_prefill",
               .bound = Ceiling::bf16});
  }
}

void bench_indexer(Report& report) {
  if (report.wants("indexer decode"))
    for (const int context : {32768, 131072})
      for (const int batch : {1, 8, 32, 128}) {
        IndexerScene s(
            {.batch = batch, .contexts = {context}, .splits = indexer_splits(batch, context)},
            report.seed++);
        time_both(report, [&](cudaStream_t stream) { s.launch(stream); },
                  {.kernel = "indexer",
                   .shape = "b=" + number(batch) + " next_n=1 ctx=" + number(context),
                   .tuning = "splits=" + number(s.shape.splits),
                   .flops = s.flops(),
                   .bytes = s.bytes(),
                   .peer = "deepgemm_fp8_paged_mqa_logits",
                   .bound = Ceiling::copy});
      }
  if (!report.wants("indexer prefill")) return;
  struct Case {
    int tokens, context;
  };
  for (const Case c :
       {Case{4096, 32768}, {4096, 131072}, {1024, 131072}, {256, 131072}, {2048, 8192}}) {
    IndexerScene s({.batch = c.tokens / 2, .contexts = {c.context}, .queries = 2, .prefill = true},
                   report.seed++);
    time_both(
        report, [&](cudaStream_t stream) { s.launch(stream); },
        {.kernel = "indexer prefill",
         .shape = "s_q=" + number(c.tokens) + " s_kv=" + number(c.context) + " d=128",
         .flops = s.flops(),
         .bytes = s.bytes(),
         .peer = "deepgemm_fp8_mqa_logits",
         .bound = Ceiling::e4m3},
        false);
  }
}

void bench_topk(Report& report) {
  if (!report.wants("topk")) return;
  for (const int columns : {8192, 32768, 131072})
    for (const int rows : {1, 8, 32, 128, 1024, 4096}) {
      TopkScene s({.rows = rows, .columns = columns, .splits = topk_splits(rows, columns)},
                  report.seed++);
      time_both(report, [&](cudaStream_t stream) { s.launch(stream); },
                {.kernel = "topk",
                 .shape = "rows=" + number(rows) + " cols=" + number(columns) + " k=2048",
                 .tuning = "splits=" + number(s.shape.splits),
                 .bytes = double(rows) * columns * 4,
                 .peer = "sglang_topk_v3",
                 .bound = Ceiling::copy});
    }
}

void bench_chain(Report& report) {
  if (!report.wants("chain")) return;
  for (const int context : {32768, 131072})
    for (const int batch : {1, 8, 32, 128}) {
      ChainScene s({.batch = batch, .context = context}, report.seed++);
      const std::string shape =
          "h_q=128 b=" + number(batch) + " ctx=" + number(context) + " topk=2048";
      double sum = 0;
      for (const ChainScene::Part& part : s.parts()) {
        Timing t = time_graph(part.work, 50, kGraphRuns);
        sum += t.us;
        t.kernel = std::string("chain: ") + part.name, t.shape = shape;
        report.add(t);
      }
      Timing whole = time_graph([&](cudaStream_t stream) { s.launch(stream); }, 10, 9);
      whole.kernel = "chain", whole.shape = shape, whole.peer = "dsa_decode_step_peers";
      whole.tuning = "sum of kernels " + number(int64_t(sum * 100)) + "e-2 us";
      report.add(whole);
    }
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : line)
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      cells.emplace_back();
    else
      cells.back() += c;
  return cells;
}

// Times of the peers by "peer|shape|method".
std::map<std::string, double> read_peers(const std::string& path) {
  std::map<std::string, double> times;
  if (path.empty()) return times;
  std::ifstream in(path);
  if (!in) throw UserError("bench: there is no table of peers " + path);
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    const auto cells = cells_of(line);
    if (cells.size() < 7) continue;
    times[cells[1] + "|" + cells[4] + "|" + cells[5]] = std::stod(cells[6]);
  }
  return times;
}

std::string fixed(double x, int digits) {
  char text[32];
  snprintf(text, sizeof text, "%.*f", digits, x);
  return text;
}

}  // namespace

void bench(Report& report, const std::string& peers, const std::string& out) {
  const auto times = read_peers(peers);
  const Ceilings ceilings = measure_ceilings();
  cudaDeviceProp card;
  check(cudaGetDeviceProperties(&card, 0), "card");
  const std::string measured = "copy " + fixed(ceilings.copy * 1e-12, 2) + " TB/s, bf16 wgmma " +
                               fixed(ceilings.bf16 * 1e-12, 0) + ", e4m3 wgmma " +
                               fixed(ceilings.e4m3 * 1e-12, 0) + " TFLOP/s";
  printf("card  %s: %s\n", card.name, measured.c_str());
  bench_prefill(report);
  bench_attention(report);
  bench_indexer(report);
  bench_topk(report);
  bench_chain(report);

  std::ostringstream table, csv;
  csv << "card,ceilings,kernel,shape,method,tuning,us,least_us,most_us,tflops,tb_per_s,peer,peer_us,"
         "peer_over_ours,normalised\n";
  for (const Timing& t : report.timings) {
    const auto peer = times.find(t.peer + "|" + t.shape + "|" + t.method);
    csv << card.name << ",\"" << measured << "\"," << t.kernel << "," << t.shape << "," << t.method
        << "," << t.tuning << "," << fixed(t.us, 2) << "," << fixed(t.least, 2) << ","
        << fixed(t.most, 2) << "," << fixed(t.flops / t.us * 1e-6, 1) << ","
        << fixed(t.bytes / t.us * 1e-6, 3) << "," << t.peer << ",";
    if (peer == times.end()) {
      csv << ",,\n";
      continue;
    }
    const double ratio = peer->second / t.us;
    const double normalised = ratio * kPeerCeilings.of(t.bound) / ceilings.of(t.bound);
    csv << fixed(peer->second, 2) << "," << fixed(ratio, 3) << "," << fixed(normalised, 3) << "\n";
    char line[200];
    snprintf(line, sizeof line, "%-16s %-44s %-10s %9.2f %9.2f %6.3f %6.3f\n", t.kernel.c_str(),
             t.shape.c_str(), t.method.c_str(), t.us, peer->second, ratio, normalised);
    table << line;
  }
  if (!out.empty()) {
    std::ofstream file(out + "/h200.csv");
    file << csv.str();
    if (!file) throw UserError("bench: cannot write into " + out);
  }
  printf("\n%-16s %-44s %-10s %9s %9s %6s %6s\n%s", "kernel", "shape", "method", "us", "peer us",
         "ratio", "norm.", table.str().c_str());
}

}  // namespace daybreak::device
