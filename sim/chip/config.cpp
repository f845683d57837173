#include "sim/chip/config.hpp"

#include <cmath>

#include "configs/reader/errors.hpp"

namespace daybreak::sim {
namespace {

// Gives every knob its default.
struct SetDefaults {
  template <class T, class D>
  void knob(const char*, T& member, D value, const char*, double, double, const char*,
            const char*) {
    member = T(value);
  }
  void choice(const char*, std::string& member, const char* value,
              std::initializer_list<const char*>, const char*, const char*) {
    member = value;
  }
  template <class Check>
  void text(const char*, std::string& member, const char* value, std::initializer_list<const char*>,
            Check, const char*, const char*) {
    member = value;
  }
  template <class P> void part(const char*, P& part) { part.knobs(*this); }
};

Bytes kilobytes(int64_t kb) { return Bytes(kb * 1024); }

}  // namespace

ChipConfig::ChipConfig() : name("mx-dma") {
  SetDefaults visitor;
  knobs(visitor);
}

isa::Capabilities ChipConfig::capabilities() const {
  const bool direct = core.exchange.path == "direct";
  return {.scratch = {kilobytes(core.scratch.operand_kb), kilobytes(core.scratch.vector_kb),
                      kilobytes(core.scratch.accumulator_kb)},
          .latch_a = kilobytes(core.matrix.latch_a_kb),
          .latch_b = kilobytes(core.matrix.latch_b_kb),
          .accumulator_visible = direct,
          .operand_visible = direct,
          .pair_link = core.dma.pair_link,
          .gather_to_operand = core.dma.gather_to_operand,
          .gather_engine = core.dma.gather_engine,
          .page_walker = core.dma.tlb.walker,
          .converting_dma = core.dma.convert,
          .fp8_matrix = core.matrix.fp8,
          .max_semaphores = core.control.semaphores,
          .semaphore_max = core.control.semaphore_max,
          .cores = cores};
}

Femtoseconds ChipConfig::period() const {
  return Femtoseconds(int64_t(std::llround(1e6 / clock_ghz)));
}

double ChipConfig::hbm_bytes_per_second() const {
  const double per_pseudo_channel = double(hbm.atom) / (double(hbm.burst) * hbm.tck * 1e-9);
  return double(hbm.stacks * hbm.channels * hbm.pseudo_channels) * per_pseudo_channel;
}

double ChipConfig::flops(Format format) const {
  const auto& unit = core.matrix;
  const double rows_columns = double(cores) * double(unit.m * unit.n) * 2 * clock_ghz * 1e9;
  switch (format) {
    case Format::f16:
    case Format::bf16: return rows_columns * double(unit.k_bf16);
    case Format::e4m3:
    case Format::e5m2:
    case Format::e2m1: return rows_columns * double(unit.fp8 ? unit.k_fp8 : unit.k_bf16);
    default:
      throw InvariantError("the matrix unit has no peak for " + std::string(name_of(format)));
  }
}

}  // namespace daybreak::sim
