// Any bytes as a chip description: a usable chip or one sentence, and a dump that reads back.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "configs/reader/errors.hpp"
#include "sim/chip/config_load.hpp"
#include "sim/chip/schema.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace daybreak;
  try {
    const std::string text(reinterpret_cast<const char*>(data), size);
    const sim::ChipConfig chip = sim::load_chip_text(text, "fuzz.yaml");
    const std::string dump = sim::dump_yaml(chip);
    const sim::ChipConfig again = sim::load_chip_text(dump, "dump.yaml");
    if (sim::dump_yaml(again) != dump) std::abort();
  } catch (const UserError&) {}
  return 0;
}
