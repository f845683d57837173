#include "sim/cli/knob_causes.hpp"

namespace daybreak::cli {
namespace {

using traces::Cause;

struct Row {
  std::string_view part;  // a knob, or all knobs below a part
  std::vector<Cause> causes;
};

const std::vector<Row>& rows() {
  // A unit's own rate moves its busy cycles, and the semaphores that others wait for.
  static const std::vector<Row> table = {
      {"chip.cores", {Cause::no_task, Cause::noc, Cause::hbm_bandwidth}},
      {"chip.clock", {Cause::launch, Cause::hbm_bandwidth, Cause::hbm_row}},
      {"chip.core.matrix", {Cause::busy, Cause::semaphore}},
      {"chip.core.vector", {Cause::busy, Cause::semaphore}},
      {"chip.core.sort", {Cause::busy, Cause::semaphore}},
      {"chip.core.exchange", {Cause::busy, Cause::semaphore}},
      {"chip.core.dma", {Cause::busy, Cause::semaphore, Cause::ring_slot}},
      {"chip.core.dma.outstanding", {Cause::outstanding}},
      {"chip.core.dma.request", {Cause::outstanding}},
      {"chip.core.dma.merge_max", {Cause::busy, Cause::outstanding}},
      {"chip.core.dma.convert", {Cause::convert_lanes, Cause::scale_miss, Cause::workspace}},
      {"chip.core.dma.convert_lanes", {Cause::convert_lanes}},
      {"chip.core.dma.workspace", {Cause::workspace, Cause::noc, Cause::hbm_bandwidth}},
      {"chip.core.dma.workspace_write", {Cause::convert_lanes, Cause::workspace}},
      {"chip.core.dma.scale_cache", {Cause::scale_miss}},
      {"chip.core.dma.tlb", {Cause::tlb_walk}},
      {"chip.core.scratch", {Cause::ring_slot, Cause::workspace}},
      {"chip.core.scratch.banks", {Cause::operand_bank}},
      {"chip.core.scratch.bank_width", {Cause::operand_bank}},
      {"chip.core.control", {Cause::issue_order, Cause::semaphore}},
      {"chip.core.control.queue_depth", {Cause::fifo_full, Cause::issue_order}},
      {"chip.l2", {Cause::l2_miss, Cause::noc}},
      {"chip.noc", {Cause::noc, Cause::outstanding}},
      {"chip.hbm", {Cause::hbm_row, Cause::hbm_bandwidth}},
      {"chip.hbm.refresh", {Cause::refresh}},
      {"chip.hbm.refi", {Cause::refresh}},
      {"chip.hbm.rfc_ab", {Cause::refresh}},
      {"chip.hbm.rfc_pb", {Cause::refresh}},
      {"chip.hbm.rrefd", {Cause::refresh}},
      {"chip.hbm.ref_command", {Cause::refresh}},
      {"chip.scheduler", {Cause::launch, Cause::no_task}},
      {"chip.scheduler.core_semaphore_latency", {Cause::semaphore}},
      {"chip.host", {Cause::no_task}},  // nothing runs before weights and pages are there
  };
  return table;
}

bool is_part(std::string_view part, std::string_view knob) {
  return knob.starts_with(part) && (knob.size() == part.size() || knob[part.size()] == '.');
}

}  // namespace

std::vector<traces::Cause> causes_of(std::string_view knob) {
  const Row* best = nullptr;
  for (const Row& row : rows())
    if (is_part(row.part, knob) && (!best || row.part.size() > best->part.size())) best = &row;
  return best ? best->causes : std::vector<traces::Cause>{};
}

}  // namespace daybreak::cli
