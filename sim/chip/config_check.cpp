#include "sim/chip/config_check.hpp"

#include <algorithm>
#include <bit>

#include "configs/reader/words.hpp"

namespace daybreak::sim {
namespace {

using Conflicts = std::vector<Conflict>;

std::string n(int64_t value) { return std::to_string(value); }

void must_divide(Conflicts& out, const std::string& part, int64_t divisor, const std::string& whole,
                 int64_t value) {
  if (value % divisor != 0)
    out.push_back({{part, whole},
                   "'" + whole + "' (" + n(value) + ") must be a multiple of '" + part + "' (" +
                       n(divisor) + ")"});
}

void must_be_power_of_two(Conflicts& out, const std::string& path, int64_t value) {
  if (!std::has_single_bit(uint64_t(value)))
    out.push_back({{path},
                   "'" + path + "' must be a power of two; got " + n(value) + ", the nearest are " +
                       n(int64_t(std::bit_floor(uint64_t(value)))) + " and " +
                       n(int64_t(std::bit_ceil(uint64_t(value))))});
}

// One tile: what a single matrix instruction may take, and what one cycle of the unit takes and
// gives.
void check_core(const CoreConfig& core, Conflicts& out) {
  const auto& unit = core.matrix;
  const int64_t reduction = std::max(unit.k_bf16 * 2, unit.fp8 ? unit.k_fp8 : 0);
  const auto latch = [&](const char* path, int64_t kb, int64_t rows) {
    if (kb * 1024 < rows * reduction)
      out.push_back({{path},
                     std::string("'") + path + "' holds " + n(kb * 1024) +
                         " bytes, less than the " + n(rows * reduction) +
                         " that one cycle of the matrix unit multiplies"});
  };
  latch("chip.core.matrix.latch_a", unit.latch_a_kb, unit.m);
  latch("chip.core.matrix.latch_b", unit.latch_b_kb, unit.n);
  if (core.scratch.operand_kb < unit.latch_a_kb + unit.latch_b_kb)
    out.push_back(
        {{"chip.core.scratch.operand", "chip.core.matrix.latch_a", "chip.core.matrix.latch_b"},
         "the operand scratchpad of " + n(core.scratch.operand_kb) +
             " KB is smaller than one tile: the operand latches take " + n(unit.latch_a_kb) +
             " + " + n(unit.latch_b_kb) + " KB"});
  const int64_t product = unit.m * unit.n * 4;
  if (core.scratch.accumulator_kb * 1024 < product)
    out.push_back({{"chip.core.scratch.accumulator"},
                   "the accumulator of " + n(core.scratch.accumulator_kb) +
                       " KB is smaller than one tile: one product takes " + n(product) + " bytes"});
  if (core.dma.workspace != "scratchpad" && !core.dma.convert)
    out.push_back({{"chip.core.dma.workspace", "chip.core.dma.convert"},
                   "a workspace in " + core.dma.workspace +
                       " is filled by the DMA engine, which does not convert; 'workspace' must be "
                       "'scratchpad' or 'convert' true"});
  const int64_t width = core.vector.units * core.vector.bytes_per_cycle;
  if (core.scratch.vector_kb * 1024 < 3 * width)
    out.push_back(
        {{"chip.core.scratch.vector"},
         "the vector scratchpad of " + n(core.scratch.vector_kb) +
             " KB is smaller than one tile: two operands and a result of one cycle take " +
             n(3 * width) + " bytes"});
  if (core.scratch.banks * core.scratch.bank_width > core.scratch.vector_kb * 1024)
    out.push_back({{"chip.core.scratch.banks"}, "the banks are wider than the vector scratchpad"});
  must_be_power_of_two(out, "chip.core.scratch.bank_width", core.scratch.bank_width);
  must_be_power_of_two(out, "chip.core.dma.align", core.dma.align);
  must_divide(out, "chip.core.dma.tlb.ways", core.dma.tlb.ways, "chip.core.dma.tlb.entries",
              core.dma.tlb.entries);
}

void check_l2(const L2Config& l2, Conflicts& out) {
  must_be_power_of_two(out, "chip.l2.line", l2.line);
  must_be_power_of_two(out, "chip.l2.sector", l2.sector);
  must_divide(out, "chip.l2.sector", l2.sector, "chip.l2.line", l2.line);
  if (l2.line / l2.sector > 64)
    out.push_back({{"chip.l2.sector", "chip.l2.line"},
                   "a line may have up to 64 sectors; it has " + n(l2.line / l2.sector)});
  const int64_t bytes = l2.capacity_mb << 20, set = l2.ways * l2.line * l2.slices;
  if (bytes % set != 0)
    out.push_back({{"chip.l2.capacity", "chip.l2.ways", "chip.l2.line", "chip.l2.slices"},
                   "the capacity of " + n(l2.capacity_mb) + " MB is no whole number of sets: " +
                       n(l2.slices) + " slices of " + n(l2.ways) + " ways of " + n(l2.line) +
                       " bytes take " + n(set) + " bytes per set"});
}

void check_hbm(const HbmConfig& hbm, const L2Config& l2, Conflicts& out) {
  const int64_t banks = hbm.bank_groups * hbm.banks * hbm.stack_ids;
  if (banks > 256)
    out.push_back({{"chip.hbm.banks", "chip.hbm.bank_groups", "chip.hbm.stack_ids"},
                   "a pseudo-channel may have up to 256 banks; " + n(hbm.bank_groups) +
                       " groups of " + n(hbm.banks) + " banks with " + n(hbm.stack_ids) +
                       " stack ids make " + n(banks)});
  must_be_power_of_two(out, "chip.hbm.atom", hbm.atom);
  must_divide(out, "chip.hbm.atom", hbm.atom, "chip.hbm.row_bytes", hbm.row_bytes);
  must_divide(out, "chip.hbm.atom", hbm.atom, "chip.l2.sector", l2.sector);
  try {
    address_parts(hbm);
  } catch (const UserError& error) { out.push_back({{"chip.hbm.map"}, error.what()}); }
  // At most 2^6 channels, 2^2 pseudo-channels, 2^8 banks, 2^20 rows of 2^16 bytes: fits 63 bits.
  if (banks <= 256) {
    const int64_t holds = hbm.channels * hbm.pseudo_channels * banks * hbm.rows * hbm.row_bytes;
    const int64_t states = hbm.capacity_gb << 30;
    if (holds != states)
      out.push_back({{"chip.hbm.capacity", "chip.hbm.rows", "chip.hbm.row_bytes", "chip.hbm.banks",
                      "chip.hbm.bank_groups", "chip.hbm.stack_ids", "chip.hbm.channels",
                      "chip.hbm.pseudo_channels"},
                     "channels, banks and rows of a stack hold " +
                         configs::number_text(double(holds) / double(1 << 30)) +
                         " GB, but its capacity is " + n(hbm.capacity_gb) + " GB"});
  }
  const double refresh = hbm.refresh == "all-bank" ? hbm.rfc_ab : hbm.rfc_pb;
  if (hbm.refresh != "off" && refresh >= hbm.refi)
    out.push_back({{"chip.hbm.refi", "chip.hbm.rfc_ab", "chip.hbm.rfc_pb"},
                   "a refresh takes " + configs::number_text(refresh) +
                       " ns, no less than the refresh interval of " +
                       configs::number_text(hbm.refi) + " ns"});
  if (hbm.refresh == "per-bank" && hbm.rrefd * double(banks) > hbm.refi)
    out.push_back(
        {{"chip.hbm.rrefd", "chip.hbm.refi"},
         "refreshing " + n(banks) + " banks one after the other does not fit the interval"});
  if (hbm.write_low >= hbm.write_high)
    out.push_back({{"chip.hbm.write_low", "chip.hbm.write_high"},
                   "a write drain must end below the share that starts it: 'write_low' (" +
                       configs::number_text(hbm.write_low) + ") must be less than 'write_high' (" +
                       configs::number_text(hbm.write_high) + ")"});
  if (hbm.ras > hbm.rc)
    out.push_back(
        {{"chip.hbm.ras", "chip.hbm.rc"}, "a row's open time 'ras' must not exceed 'rc'"});
}

}  // namespace

std::vector<Conflict> find_conflicts(const ChipConfig& chip) {
  Conflicts out;
  check_core(chip.core, out);
  check_l2(chip.l2, out);
  check_hbm(chip.hbm, chip.l2, out);
  return out;
}

}  // namespace daybreak::sim
