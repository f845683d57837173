// The DMA engine of a core: one queue per direction over one memory port and one limit of requests
// in flight. A queue has two stages. The front decodes a descriptor (`descriptor_issue`) and reads
// the index entries or positions it names; the back asks for the data: `row_issue` per row of a
// table, one cycle per request otherwise, writes at the port's rate. The next instruction takes
// the front as soon as the one before has moved to the back, unless it is fenced; instructions
// retire in order. Rows that a partner shares (isa::Sharing) take neither stage of the receiver; the
// giver's data stage waits until the receiver's place is free. Read data pass the port at
// `bytes_per_cycle`. MXFP4 that becomes FP8 on the way: the front fetches block scales that the scale
// cache lacks; behind the port data pass the converter at `convert_lanes` elements and then
// `workspace_write` bytes per cycle. (accelerator.md 4.2, 6)
#pragma once
#include <array>

#include "sim/units/queue_unit.hpp"
#include "sim/units/transfer.hpp"

namespace daybreak::sim {

class DmaQueue;

// What the two queues share.
struct DmaEngine {
  MemoryPort& port;
  int64_t limit;  // requests in flight
  int64_t in_flight = 0;
  Tlb tlb;
  Lookups lookups;
  std::array<DmaQueue*, 2> queues{};
};

class DmaQueue : public QueueUnit, public MemoryClient {
 public:
  DmaQueue(const sc_core::sc_module_name&, RunState&, CoreState&, TaskKeeper&, isa::Queue,
           DmaEngine&);

  void begin_task() override;
  void end_task(Cycle end) override;
  void completed(std::span<const Completion>) override;

 protected:
  void step(Cycle now) override;
  void advance(Cycle now) override;
  std::string waiting_inside() const override;

 private:
  enum class Kind : uint8_t { fetch, read, write, walk };
  Transfer& at(uint64_t number) { return ring_[number % ring_.size()]; }
  // Each returns whether anything moved on.
  bool retire_next(Cycle now);
  bool begin_next(Cycle now);
  bool front(Cycle now);
  bool back(Cycle now);
  bool walk(Transfer&, Cycle now);
  bool issue(uint64_t number, Cycle now, size_t until, Kind);
  bool issue_slot(Cycle now, int64_t& room);
  // Sharing with the partner of the task.
  PairLink& link();
  void declare_share(Transfer&, Cycle start);
  bool may_deliver(const Transfer&, Cycle now);
  bool has_landed(Transfer&);
  void begin(Started&&);
  void one_completed(const Completion&, Cycle now);
  // When `bytes` of MXFP4 that passed the port at `done` are in the workspace.
  Cycle convert(Transfer&, int64_t bytes, Cycle done);
  int64_t append(uint64_t number, Kind, Cycle now, int64_t room);
  // Accounting: what is known to be busy, and what the rest of the time until `to` was spent on.
  void account(Cycle to, traces::Cause rest);
  void busy(Cycle from, Cycle until);
  traces::Cause idle_cause() const;
  traces::Cause cause_of(const Completion&, Cycle submitted, Cycle now) const;
  void note_last(traces::MoveStages&, const Completion&, Cycle submitted, Cycle now,
                 Cycle done) const;

  static constexpr int kBatch = 16;  // requests handed to the port at once
  const DmaConfig& config_;
  DmaEngine& engine_;
  std::vector<Transfer> ring_;  // in flight: [retired_, begun_)
  uint64_t retired_ = 0, begun_ = 0;
  std::optional<Started> starting_;  // decided, its start is ahead
  bool has_front_ = false, has_back_ = false;
  uint64_t front_ = 0, back_ = 0;
  Cycle front_ready_ = 0;  // end of the front's decoding
  Cycle issue_free_ = 0;
  int64_t port_bytes_ = 0;    // time of the inbound port, in bytes of its rate
  int64_t converted_ = 0;     // time of the converter, in elements of its rate
  int64_t filled_ = 0;        // time of the path to the workspace, in bytes of its rate
  int64_t mine_ = 0;          // requests in flight of this queue
  int64_t walking_ = 0;       // page-table reads among them
  PairLink* link_ = nullptr;  // of the task, once it has shared rows
  size_t deliveries_ = 0;     // begun by the task
  bool limited_ = false, advancing_ = false, blocked_ = false;
  Cycle busy_until_ = 0;
  traces::Cause last_ = traces::Cause::noc;
  std::vector<Burst> bursts_;
};

}  // namespace daybreak::sim
