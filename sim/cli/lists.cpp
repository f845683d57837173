// Verbs that print what there is: kernels, chips, knobs, schemas.
#include <iostream>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "configs/reader/loader.hpp"
#include "configs/reader/words.hpp"
#include "isa/program/documentation.hpp"
#include "kernels/library/moe/kernels.hpp"
#include "sim/chip/config_load.hpp"
#include "sim/chip/schema.hpp"
#include "sim/cli/case.hpp"
#include "sim/cli/knob_causes.hpp"
#include "sim/cli/verbs.hpp"
#include "traces/report/table.hpp"

namespace daybreak::cli {

int list_kernels(const CommonOptions&) {
  traces::TextTable table{.columns = {{"kernel", false},
                                      {"lines shared"},
                                      {"Hopper lines"},
                                      {"% shared"},
                                      {"what it does", false}},
                          .rows = {}};
  for (const auto& list : {std::span<const kernels::dsa::KernelInfo>(kernels::dsa::kKernels),
                           std::span<const kernels::dsa::KernelInfo>(kernels::moe::kKernels)})
    for (const auto& k : list)
      table.rows.push_back(
          {std::string(k.name), k.lines > 0 ? std::to_string(k.lines) : "-",
           k.hopper_lines > 0 ? std::to_string(k.hopper_lines) : "-",
           k.hopper_lines > 0 ? fmt::format("{:.0f}", 100.0 * k.lines / (k.lines + k.hopper_lines))
                              : "-",
           std::string(k.sentence)});
  std::cout << table.text() << "\ndaybreak run takes: " << configs::any_of(runnable_kernels())
            << "\n";
  return 0;
}

int list_chips(const CommonOptions&) {
  traces::TextTable table{.columns = {{"chip", false},
                                      {"cores"},
                                      {"GHz"},
                                      {"BF16 TFLOP/s"},
                                      {"FP8 TFLOP/s"},
                                      {"HBM GB/s"},
                                      {"L2 MB"},
                                      {"knobs assumed"}},
                          .rows = {}};
  for (const auto& name : sim::chip_names()) {
    const auto chip = sim::load_chip(name);
    table.rows.push_back(
        {name, std::to_string(chip.cores), configs::number_text(chip.clock_ghz),
         fmt::format("{:.0f}", chip.flops(Format::bf16) / 1e12),
         chip.core.matrix.fp8 ? fmt::format("{:.0f}", chip.flops(Format::e4m3) / 1e12) : "-",
         fmt::format("{:.0f}", chip.hbm_bytes_per_second() / 1e9),
         std::to_string(chip.l2.capacity_mb), std::to_string(chip.assumed.size())});
  }
  std::cout << table.text();
  return 0;
}

int explain(const std::string& knob, const CommonOptions& options) {
  const std::string text = sim::explain(knob, options.load_chip());
  std::cout << text;
  const std::string path = knob.starts_with("chip.") ? knob : "chip." + knob;
  if (!text.starts_with(path + ":")) return 0;  // a part: its knobs are listed
  std::vector<std::string> names;
  for (const auto cause : causes_of(path)) names.emplace_back(traces::name_of(cause));
  std::cout << fmt::format("  moves    {} (`daybreak trace stalls`)\n", fmt::join(names, ", "));
  return 0;
}

namespace {

nlohmann::ordered_json word_schema(const WordForm& form) {
  using Kind = WordForm::Kind;
  if (form.kind == Kind::word) {
    auto words = nlohmann::ordered_json::array();
    for (const auto& word : form.allowed) words.push_back(form.key + "=" + word);
    return {{"enum", std::move(words)}};
  }
  if (form.kind == Kind::text) return {{"pattern", fmt::format("^{}=", form.key)}};
  const bool several = form.kind == Kind::integers;
  return {{"pattern", fmt::format("^{}=-?[0-9]+{}$", form.key, several ? "(,-?[0-9]+)*" : "")},
          {"description", fmt::format("{}: {} to {}", form.key, form.low, form.high)}};
}

// One entry of the `workloads` of a sweep. What a kernel's words are is asked of the reader of its words.
std::string workload_schema() {
  nlohmann::ordered_json kernels = nlohmann::ordered_json::array();
  const nlohmann::ordered_json option = {{"pattern", "^--|^[^=]*$"}};
  for (const auto& kernel : runnable_kernels()) {
    nlohmann::ordered_json words = {option};
    if (kernel == "dram") {
      words.push_back({{"pattern", "="}});
    } else {
      const Arguments none("run " + kernel, {});
      kernel_case(kernel, none, {});
      for (const auto& form : none.asked()) words.push_back(word_schema(form));
    }
    kernels.push_back({{"prefixItems", {{{"const", "run"}}, {{"const", kernel}}}},
                       {"items", {{"anyOf", std::move(words)}}}});
  }
  kernels.push_back({{"prefixItems", {{{"const", "day0"}}}}, {"items", {{"type", "string"}}}});
  const nlohmann::ordered_json schema = {
      {"$schema", "https://json-schema.org/draft/2020-12/schema"},
      {"title", "A workload of a sweep"},
      {"type", "object"},
      {"additionalProperties", false},
      {"required", {"name", "words"}},
      {"properties",
       {{"name", {{"type", "string"}}},
        {"words", {{"type", "array"}, {"minItems", 1}, {"oneOf", std::move(kernels)}}}}}};
  return schema.dump(2) + "\n";
}

}  // namespace

int schema(const std::string& what) {
  const std::vector<std::string> known{"chip",     "model", "sweep",
                                       "workload", "knobs", "instructions"};
  if (what == "chip")
    std::cout << sim::knobs_json_schema();
  else if (what == "model" || what == "sweep")
    std::cout << configs::read_file(configs::locate(what, "schemas", ".json").path);
  else if (what == "workload")
    std::cout << workload_schema();
  else if (what == "knobs")
    std::cout << sim::knobs_markdown();
  else if (what == "instructions")
    std::cout << isa::instruction_table();
  else
    throw UserError("schema: " + configs::in_quotes(what) + " is not " + configs::any_of(known) +
                    configs::did_you_mean(what, known));
  return 0;
}

}  // namespace daybreak::cli
