#include "sim/cli/case.hpp"

#include <cstdio>
#include <limits>

#include "configs/reader/words.hpp"
#include "kernels/runtime/plan/overhead.hpp"
#include "sim/cli/expert_case.hpp"

namespace daybreak::cli {
namespace {

using kernels::CacheForm;
using kernels::ChainParts;
using kernels::IndexSource;
using kernels::SelectionForm;

constexpr int64_t kMost = int64_t{1} << 24;

CacheForm form_of(Arguments& a, const char* fallback) {
  return a.word("format", fallback, {"fp8", "bf16", "fp16"}) == "fp8" ? CacheForm::fp8
                                                                      : CacheForm::bf16;
}

void expect(Arguments& a, const std::string& key, int64_t only) {
  a.integer(key, only, only, only);
}

// Words that several kernels share.
void attention_words(kernels::Workload& w, Arguments& a) {
  w.heads = a.integer("heads", w.heads, 1, 1024);
  w.latent_page = a.integer("page", w.latent_page, 1, 65536);
  w.sinks = a.word("sinks", "off", {"on", "off"}) == "on";
  expect(a, "d", 576);
  expect(a, "dv", 512);
  expect(a, "topk", 2048);
}

kernels::Pairing pairing_word(Arguments& a) {
  const std::string word = a.word("pair", "auto", {"auto", "on", "off"});
  if (word == "auto") return kernels::Pairing::automatic;
  return word == "on" ? kernels::Pairing::on : kernels::Pairing::off;
}

void index_words(kernels::Workload& w, Arguments& a, const char* heads) {
  w.index_heads = a.integer(heads, w.index_heads, 1, 64);
  w.queries = a.integer("queries", 1, 1, 8);
  expect(a, "topk", 2048);
}

KernelCase sparse_mla(Arguments& a, kernels::Workload w) {
  a.word("phase", "decode", {"decode"});
  w.batch = a.integer("tokens", 1, 0, kMost);
  attention_words(w, a);
  w.latent_form = form_of(a, "fp8");
  if (w.index == IndexSource::computed) w.index = IndexSource::random;
  return {.workload = w,
          .parts = {.prepare = false, .selection = false, .table = false},
          .pairing = pairing_word(a),
          .ring = a.integer("ring", 0, 0, 3),
          .overhead = {}};
}

KernelCase indexer(Arguments& a, kernels::Workload w) {
  w.batch = a.integer("batch", 1, 0, kMost);
  index_words(w, a, "heads");
  expect(a, "d", 128);
  w.index_form = form_of(a, "fp8");
  const bool topk = a.word("fused_topk", "on", {"on", "off"}) == "on";
  w.index = IndexSource::computed;
  return {.workload = w,
          .parts = {.prepare = false,
                    .form = topk ? SelectionForm::fused : SelectionForm::separate,
                    .topk = topk,
                    .table = false,
                    .attention = false},
          .overhead = {}};
}

KernelCase topk(Arguments& a, kernels::Workload w) {
  w.batch = a.integer("rows", 1, 0, kMost);
  w.context = a.integer("n", 32768, 0, int64_t{1} << 30);
  expect(a, "k", 2048);
  a.word("format", "fp32", {"fp32"});
  if (w.index != IndexSource::computed)
    throw UserError("topk selects for itself: --index has no meaning for it");
  return {.workload = w,
          .parts = {.prepare = false, .scores = false, .table = false, .attention = false},
          .overhead = {}};
}

KernelCase index_table(Arguments& a, kernels::Workload w) {
  w.batch = a.integer("tokens", 1, 0, kMost);
  w.latent_page = a.integer("page", w.latent_page, 1, 65536);
  if (w.index == IndexSource::computed) w.index = IndexSource::random;
  return {.workload = w,
          .parts = {.prepare = false, .selection = false, .attention = false},
          .overhead = {}};
}

// Words of steps that follow each other; none: one step alone.
std::optional<kernels::DecodeShape> decode_steps(Arguments& a, kernels::Workload& w) {
  const bool several = a.has("steps");
  const kernels::DecodeShape shape{.steps = a.integer("steps", 1, 1, 1 << 20),
                                   .refresh = a.integer("refresh", 1, 1, 256),
                                   .layers = a.integer("layers", 1, 1, 1024),
                                   .acceptance = a.integer("acceptance", 100, 0, 100)};
  const std::string stream = a.word("stream", "random", {"random", "local", "overlap"});
  for (const char* word : {"refresh", "layers", "acceptance", "stream"})
    if (!several && a.has(word))
      throw UserError(a.where() + ": " + word + " has a meaning only beside steps");
  if (!several) return std::nullopt;
  if (w.index != IndexSource::computed)
    throw UserError(a.where() + ": steps select for themselves: --index has no meaning for them");
  if (stream == "local") w.stream = kernels::IndexStream::local;
  if (stream == "overlap") w.stream = kernels::IndexStream::overlap;
  return shape;
}

// Block-sparse, or the classic [batch, positions, 1, width] with room for the longest request in each.
void layout_words(kernels::Workload& w, Arguments& a) {
  const bool contiguous = a.word("layout", "paged", {"paged", "contiguous"}) == "contiguous";
  if (!contiguous && a.has("reserve"))
    throw UserError(a.where() + ": reserve has a meaning only for layout=contiguous");
  const int64_t reserve = a.integer("reserve", 163840, 1, int64_t{1} << 30);
  if (!contiguous) return;
  if (a.has("page")) throw UserError(a.where() + ": a contiguous layout has no pages");
  if (w.context > reserve)
    throw UserError(a.where() + ": a context of " + std::to_string(w.context) +
                    " does not fit reserve=" + std::to_string(reserve));
  if (w.batch * reserve > std::numeric_limits<int32_t>::max())
    throw UserError(a.where() + ": reserve: rows of all requests are numbered in 32 bits");
  w.latent_page = w.reserve = reserve;
}

KernelCase dsa_decode(Arguments& a, kernels::Workload w) {
  w.batch = a.integer("batch", 1, 0, kMost);
  attention_words(w, a);
  layout_words(w, a);
  index_words(w, a, "index_heads");
  w.latent_form = form_of(a, "fp8");
  const bool fused = a.word("fused_topk", "on", {"on", "off"}) == "on";
  const auto steps = decode_steps(a, w);
  if (steps && w.reserve > 0)
    throw UserError(a.where() + ": steps keep a block-sparse cache: layout is paged");
  if (steps && !fused)
    throw UserError(a.where() + ": steps keep the lists of the fused form: fused_topk is on");
  return {.workload = w,
          .parts = {.form = fused ? SelectionForm::fused : SelectionForm::separate},
          .pairing = pairing_word(a),
          .decode = steps,
          .overhead = {}};
}

KernelCase dsa_prefill(Arguments& a, kernels::Workload w) {
  w.contexts = a.integers("lengths", "4096", 0, int64_t{1} << 30);
  w.batch = int64_t(w.contexts.size());
  w.queries = a.integer("queries", 8, 1, 8);
  w.heads = a.integer("heads", w.heads, 1, 1024);
  w.index_heads = a.integer("index_heads", w.index_heads, 1, 64);
  w.latent_page = a.integer("page", w.latent_page, 1, 65536);
  w.sinks = a.word("sinks", "off", {"on", "off"}) == "on";
  w.latent_form = form_of(a, "fp8");
  const kernels::PrefillShape shape{.window = a.integer("window", 0, 0, kMost),
                                    .pipelined = a.word("pipelined", "on", {"on", "off"}) == "on",
                                    .simulated = a.integer("simulated", 0, 0, kMost)};
  if (shape.simulated % 3 != 0)
    throw UserError(a.where() + ": simulated: " + std::to_string(shape.simulated) +
                    " windows are not a third of first, middle and last ones each");
  if (shape.simulated > 0 && w.index == IndexSource::computed)
    throw UserError(a.where() +
                    ": simulated: what windows leave out would be read by later ones; "
                    "--index random or local gives selections of its own");
  return {.workload = w, .parts = {}, .prefill = shape, .overhead = {}};
}

KernelCase index_overhead(Arguments& a, kernels::Workload w) {
  KernelCase c{.workload = w, .parts = {}, .overhead = {}};
  c.overhead = a.word("method", "table",
                      {"task", "scalar", "masked", "table", "build", "translate", "gather"});
  c.grid = a.integer("grid", 1, 1, 4096);
  c.workload.batch = c.grid;
  c.workload.index = IndexSource::random;
  return c;
}

// Words of the array and of what one descriptor moves.
void array_words(kernels::Movement& m, Arguments& a, int64_t block_rows, int64_t block_bytes) {
  m.rows = a.integer("rows", 12288, 1, kMost);
  const std::string format = a.word("format", "fp16", {"fp16", "bf16", "fp8", "fp32"});
  const int64_t element = format == "fp8" ? 1 : format == "fp32" ? 4 : 2;
  m.row_bytes = a.integer("cols", 12288, 1, kMost) * element;
  m.pitch = a.integer("pitch", m.row_bytes, m.row_bytes, int64_t{1} << 32);
  m.operand = a.word("dest", "vector", {"vector", "matrix"}) == "matrix";
  m.block_rows = a.integer("rows_per_descriptor", block_rows, 1, 4096);
  m.block_bytes = a.integer("row_bytes", block_bytes, 1, 1 << 20);
  m.misalignment = a.integer("alignment", 512, 1, 512) % 512;
}

KernelCase moving(const kernels::Movement& m, kernels::Workload w) {
  w.context = 64;
  w.index = IndexSource::random;
  return {.workload = w, .parts = {}, .overhead = {}, .movement = m};
}

KernelCase copy(Arguments& a, kernels::Workload w) {
  kernels::Movement m;
  // A transform lays the same bytes out as fractals: a descriptor moves one tile.
  const std::string tile = a.text("tile", "64x64");
  const bool transform = a.word("transform", "off", {"off", "nd2nz"}) == "nd2nz";
  int64_t tile_rows = 64, tile_bytes = 128;
  if (std::sscanf(tile.c_str(), "%ldx%ld", &tile_rows, &tile_bytes) != 2 || tile_rows < 1 ||
      tile_rows > 4096 || tile_bytes < 1 || tile_bytes > 65536)
    throw UserError("run copy: tile: " + configs::in_quotes(tile) + " is not of the form 64x64");
  if (transform) {
    array_words(m, a, tile_rows, tile_bytes * 2);
  } else {
    array_words(m, a, 64, 2048);
  }
  return moving(m, w);
}

KernelCase reread(Arguments& a, kernels::Workload w) {
  kernels::Movement m{.kind = kernels::Movement::Kind::reread};
  const int64_t bytes = a.integer("bytes", 301'990'000, 1, int64_t{1} << 40);
  m.passes = a.integer("passes", 4, 1, 1024);
  m.slice_bytes = a.integer("slice_bytes", bytes, 1, int64_t{1} << 40);
  m.operand = a.word("dest", "vector", {"vector", "matrix"}) == "matrix";
  m.row_bytes = m.pitch = m.block_bytes = a.integer("row_bytes", 16384, 512, 1 << 18);
  m.rows = (bytes + m.row_bytes - 1) / m.row_bytes;
  return moving(m, w);
}

KernelCase shared_read(Arguments& a, kernels::Workload w) {
  kernels::Movement m;
  array_words(m, a, 8, 2048);
  m.kind = a.word("order", "same", {"same", "staggered"}) == "same"
               ? kernels::Movement::Kind::same
               : kernels::Movement::Kind::staggered;
  return moving(m, w);
}

struct Entry {
  const char* name;
  KernelCase (*make)(Arguments&, kernels::Workload);
};
constexpr Entry kEntries[] = {{"sparse_mla", sparse_mla},
                              {"indexer", indexer},
                              {"topk", topk},
                              {"index_table", index_table},
                              {"dsa_decode", dsa_decode},
                              {"dsa_prefill", dsa_prefill},
                              {"index_overhead", index_overhead},
                              {"copy", copy},
                              {"reread", reread},
                              {"shared_read", shared_read}};

}  // namespace

Case::Case(const kernels::Workload& workload, const isa::Capabilities& chip,
           kernels::Pairing pairing, int64_t ring)
    : chip_(chip),
      inputs_(std::make_unique<kernels::DecodeInputs>(workload, image_, bindings_)),
      oracle_(std::make_shared<kernels::DecodeOracle>(*inputs_)),
      tuning_(kernels::tuning_for(workload, chip, pairing)) {
  if (ring > 0)
    std::erase_if(tuning_.attention, [&](const kernels::Tuning& t) { return t.ring != ring; });
}

Case::Case(const KernelCase& c, const isa::Capabilities& chip)
    : Case(c.workload, chip, c.pairing, c.ring) {
  kernel_ = c;
}

std::unique_ptr<kernels::Plan> Case::plan(const kernels::ChainParts& parts) {
  auto plan = empty_plan();
  kernels::add_decode_chain(*plan, *inputs_, tuning_, parts, oracle_);
  return plan;
}

std::unique_ptr<kernels::Plan> Case::plan() {
  const KernelCase& c = kernel_.value();
  if (c.overhead.empty() && !c.prefill && !c.movement) return plan(c.parts);
  auto plan = empty_plan();
  if (c.prefill) {
    prefill_ = std::make_unique<kernels::Prefill>(*inputs_, chip_, *c.prefill);
    prefill_->add_to(*plan);
  } else if (c.movement) {
    kernels::add_movement(*plan, *inputs_, c.name, *c.movement, chip_.cores);
  } else {
    kernels::add_index_overhead(*plan, *inputs_, c.overhead);
  }
  return plan;
}

std::unique_ptr<kernels::Plan> Case::empty_plan() {
  return std::make_unique<kernels::Plan>(image_, bindings_);
}

void set_index(kernels::Workload& workload, const std::string& index) {
  if (index == "computed")
    workload.index = IndexSource::computed;
  else if (index == "random")
    workload.index = IndexSource::random;
  else if (index == "local")
    workload.index = IndexSource::local;
  else
    workload.index = IndexSource::file, workload.index_file = index;
}

const std::vector<std::string>& runnable_kernels() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const auto& e : kEntries) out.push_back(e.name);
    out.push_back("moe");
    out.push_back("dram");
    return out;
  }();
  return names;
}

KernelCase kernel_case(const std::string& kernel, Arguments arguments,
                       const CommonOptions& options) {
  if (kernel == "moe") {
    KernelCase c{.workload = {}, .parts = {}, .overhead = {}};
    c.experts = expert_workload(arguments, options);
    arguments.finish();
    return c;
  }
  kernels::Workload workload;
  workload.seed = options.seed;
  set_index(workload, options.index);
  for (const auto& entry : kEntries) {
    if (kernel != entry.name) continue;
    const bool moves = kernel == "copy" || kernel == "reread" || kernel == "shared_read";
    if (kernel != "topk" && kernel != "dsa_prefill" && !moves)
      workload.context = arguments.integer("context", 32768, 0, int64_t{1} << 30);
    KernelCase c = entry.make(arguments, workload);
    c.name = kernel;
    arguments.finish();
    return c;
  }
  throw UserError(arguments.where() + ": " + configs::in_quotes(kernel) + " is not " +
                  configs::any_of(runnable_kernels()) +
                  configs::did_you_mean(kernel, runnable_kernels()));
}

}  // namespace daybreak::cli
