// Any bytes as a study: runs with expressions that evaluate, or one sentence.
#include <cstddef>
#include <cstdint>

#include "configs/reader/study.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace daybreak;
  try {
    const std::string text(reinterpret_cast<const char*>(data), size);
    const configs::Study study = configs::read_study_text(text, "fuzz.yaml");
    const auto metric = [](size_t run, const std::string&) {
      return std::optional<double>(double(run));
    };
    for (const auto& verdict : study.verdicts) verdict.holds.holds(study.lookup(metric));
    for (const auto& column : study.columns) column.value.evaluate(study.lookup(metric, 0));
  } catch (const UserError&) {}
  return 0;
}
