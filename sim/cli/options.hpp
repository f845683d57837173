// Options every verb that simulates shares (design.md section 8).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sim/chip/chip.hpp"
#include "sim/chip/config.hpp"
#include "traces/event/perfetto.hpp"

namespace daybreak::cli {

struct CommonOptions {
  std::string chip = "mx-dma";
  std::vector<std::string> set;       // "chip.core.dma.outstanding=32"
  std::string out;                    // folder; empty: no files
  bool json = false;                  // the record on standard output instead of tables
  std::string trace = "instruction";  // kernel, task, instruction or off
  int64_t trace_cap_mb = 1024;        // MB of a trace file before detail is dropped; 0: no cap
  std::string values = "full";        // full or steering
  std::string index = "computed";     // computed, random, local or a file
  uint64_t seed = 1;

  sim::ChipConfig load_chip() const;  // preset or file with --set applied
  sim::Values value_mode() const;     // UserError for another word
};

}  // namespace daybreak::cli
