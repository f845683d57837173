// A sweep: one chip, knobs that vary, and the workloads that every variant runs.
//
//   title: Descriptors in flight against convert lanes
//   about: one or two sentences                                     # optional
//   chip: mx-dma                                                    # a preset or a file; left out where
//                                                                   # it is the knob of an axis
//   axes:                                                           # the last one varies fastest
//     - {name: outstanding, knob: core.dma.outstanding, list: [16, 64]}
//     - {name: walkers, knob: core.dma.tlb.walkers, range: {from: 2, to: 8, step: 2}}
//     - {name: lanes, knob: core.dma.convert_lanes, log: {from: 16, to: 128, factor: 2}}
//     - {name: cache, knob: core.dma.scale_cache, value: "lanes / 8"}  # follows axes above it
//   constraints: ["outstanding * lanes <= 4096"]                    # optional, over axis names
//   workloads:
//     - {name: mla, words: [run, sparse_mla, phase=decode]}         # words of the command line
//   random: {points: 100, seed: 1}                                  # optional; else the whole grid
//   limit: 600                                                      # s for one run; optional
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "configs/reader/expression.hpp"
#include "configs/reader/setting.hpp"

namespace daybreak::configs {

struct SweepAxis {
  std::string name, knob;  // knob: "chip.core.dma.outstanding", or "chip"
  std::vector<std::string> values = {};
  std::optional<Expression> follows = {};  // of a dependent axis, which has no values
  Position at = {};
};

struct SweepWorkload {
  std::string name;
  std::vector<std::string> words;  // verb first
};

struct RandomSearch {
  int64_t points = 0, seed = 0;
};

struct Sweep {
  std::string title, about, chip;  // chip: empty where an axis says it
  std::vector<SweepAxis> axes;
  std::vector<Expression> constraints;
  std::vector<SweepWorkload> workloads;
  std::optional<RandomSearch> random;
  int64_t limit_seconds = 600;

  // The variants that the constraints allow, one setting per axis: all of the grid in its order, or
  // a random choice without repetition.
  std::vector<std::vector<Setting>> points() const;
};

// Throws UserError for unknown keys, axes without values, expressions that name no axis above.
Sweep read_sweep(const std::string& path);
Sweep read_sweep_text(const std::string& text, const std::string& name);

}  // namespace daybreak::configs
