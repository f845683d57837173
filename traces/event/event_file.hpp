// A run's events in a compact file of our own, DIR/run.events: what the analyses read. Replaying it
// gives any observer the same calls, in the same order, as the run itself did.
//
//   EventFileWriter writer("out/run.events", {.facts = facts});   // one more observer of a run
//   const ReplayedRun run = replay_events("out/run.events", {&stalls, &chrome});
//
// Form: "DBEVENTS", then records: a tag byte, its fields as variable-length integers, texts
// interned at their first use. The last record holds the count of all records; the file ends with
// an FNV-1a checksum, so a truncated or altered file is refused.
// A cap on its size drops instructions and flows behind it, never spans, tasks, jobs or launches:
// sums over units stay whole, and the number dropped is in the file.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "traces/event/event.hpp"

namespace daybreak::traces {

// What a run's readers need to know beside its events.
struct RunFacts {
  std::string chip = {};
  double clock_hz = 0;                                          // of the core clock
  double hbm_bytes_per_second = 0, flops = 0;                   // peaks of the whole chip
  std::vector<std::string> kernels = {};                        // by launch number
  std::vector<std::pair<std::string, std::string>> knobs = {};  // path and value

  std::string kernel(int64_t launch) const;  // "launch 3" where it has no name
  // The number a knob was set to; InvariantError where the run had no such knob.
  double knob(const std::string& path) const;
};

struct EventFileOptions {
  RunFacts facts;
  int64_t max_bytes = 0;  // 0: no cap
};

class EventFileWriter : public Observer {
 public:
  EventFileWriter(std::string path, EventFileOptions options);
  ~EventFileWriter() override;

  void unit(const UnitInfo&) override;
  void span(const UnitSpan&) override;
  void instruction(const InstructionEvent&) override;
  void flow(const FlowEvent&) override;
  void task(const TaskEvent&) override;
  void job(const JobEvent&) override;
  void launch(const LaunchEvent&) override;
  void end(int64_t cycles) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct ReplayedRun {
  RunFacts facts;
  int64_t cycles = 0, records = 0;
  int64_t dropped = 0;  // instructions and flows behind the cap
};

// UserError for a file that cannot be read, is no event file, or is damaged (with its offset).
ReplayedRun replay_events(const std::string& path, std::span<Observer* const> observers);
RunFacts read_facts(const std::string& path);  // without replaying anything

}  // namespace daybreak::traces
