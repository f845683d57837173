#include "sim/cli/case.hpp"

#include "configs/reader/words.hpp"
#include "kernels/runtime/plan/overhead.hpp"

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

KernelCase dsa_decode(Arguments& a, kernels::Workload w) {
  w.batch = a.integer("batch", 1, 0, kMost);
  attention_words(w, a);
  index_words(w, a, "index_heads");
  w.latent_form = form_of(a, "fp8");
  const bool fused = a.word("fused_topk", "on", {"on", "off"}) == "on";
  return {.workload = w,
          .parts = {.form = fused ? SelectionForm::fused : SelectionForm::separate},
          .pairing = pairing_word(a),
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
                                    .pipelined = a.word("pipelined", "on", {"on", "off"}) == "on"};
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

struct Entry {
  const char* name;
  KernelCase (*make)(Arguments&, kernels::Workload);
};
constexpr Entry kEntries[] = {
    {"sparse_mla", sparse_mla},        {"indexer", indexer},       {"topk", topk},
    {"index_table", index_table},      {"dsa_decode", dsa_decode}, {"dsa_prefill", dsa_prefill},
    {"index_overhead", index_overhead}};

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
  if (c.overhead.empty() && !c.prefill) return plan(c.parts);
  auto plan = empty_plan();
  if (c.prefill) {
    prefill_ = std::make_unique<kernels::Prefill>(*inputs_, chip_, *c.prefill);
    prefill_->add_to(*plan);
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
    return out;
  }();
  return names;
}

KernelCase kernel_case(const std::string& kernel, Arguments arguments,
                       const CommonOptions& options) {
  kernels::Workload workload;
  workload.seed = options.seed;
  set_index(workload, options.index);
  for (const auto& entry : kEntries) {
    if (kernel != entry.name) continue;
    if (kernel != "topk" && kernel != "dsa_prefill")
      workload.context = arguments.integer("context", 32768, 0, int64_t{1} << 30);
    KernelCase c = entry.make(arguments, workload);
    arguments.finish();
    return c;
  }
  throw UserError(arguments.where() + ": " + configs::in_quotes(kernel) + " is not " +
                  configs::any_of(runnable_kernels()) +
                  configs::did_you_mean(kernel, runnable_kernels()));
}

}  // namespace daybreak::cli
