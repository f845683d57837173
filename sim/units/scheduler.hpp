// The coarse scheduler: launches become ready when what they wait for has ended, are dispatched
// task by task after the launch latency, and end when every task has been acknowledged.
//
// A thread is busy `poll` for each dispatch and each acknowledge it handles; a task starts the
// cold or warm dispatch latency after its dispatch; a core is known to be free `acknowledge` after
// its task ended plus the poll that notices it. Acknowledges go first, then the ready launch of
// highest priority, lower index first; tasks in ascending order to the lowest free core, a gang to
// the lowest run of neighbours, its members starting together. (accelerator.md 1.5, 6)
#pragma once
#include <deque>
#include <memory>
#include <vector>

#include "sim/core/core.hpp"

namespace daybreak::sim {

class Scheduler : public Module, public TaskSink {
 public:
  Scheduler(const sc_core::sc_module_name&, RunState&, const MemoryBackend&);

  void set_cores(std::vector<Core*> cores);
  // Takes up the launches; call once, before the simulation starts.
  void begin();
  void task_ended(int core, Cycle end) override;
  Cycle end() const { return end_; }
  Track& track() { return track_; }
  // Launches that have not ended and what they wait for.
  std::string waiting() const;

 protected:
  void step(Cycle now) override;

 private:
  enum class Phase : uint8_t { blocked, ready, dispatching, running, ended };
  struct LaunchState {
    Phase phase = Phase::blocked;
    size_t needs = 0;  // launches that have not ended
    Cycle first_dispatch = 0;
    uint32_t tasks = 0, dispatched = 0, acknowledged = 0, occupied = 0;
    std::vector<bool> warm;  // cores that have run a task of it
    std::unique_ptr<Counters> counters;
    MemoryTotals at_start;
  };
  struct CoreUse {
    bool free = true;
    uint32_t launch = 0;
    Cycle ended = 0;
  };
  // What a thread does until `until`: notice the end of a core's task, or dispatch tasks.
  struct Job {
    Cycle from, until;
    bool dispatch;
    int core;  // first one
    uint32_t launch, task, count;
  };
  struct Acknowledge {
    Cycle known;
    int core;
  };

  void take_up();
  void make_ready(uint32_t launch, Cycle now);
  uint32_t task_count(uint32_t launch) const;
  bool finish_jobs(Cycle now);
  bool start_job(Cycle now);
  bool start_acknowledge(Cycle now);
  bool start_dispatch(Cycle now);
  int free_run(const LaunchState&, const isa::Launch&, uint32_t count) const;
  void dispatch(const Job&, Cycle now);
  void acknowledge(const Job&, Cycle now);
  void end_launch(uint32_t launch, Cycle now);
  void occupy(Cycle now, Job);
  void tell_idle(Cycle now);
  void plan_wake(Cycle now);

  const MemoryBackend& memory_;
  Track track_;
  Cycle launch_latency_, cold_, warm_, acknowledge_, poll_;
  std::vector<Core*> cores_;
  std::vector<CoreUse> use_;
  std::vector<LaunchState> launches_;
  std::vector<uint32_t> open_;    // ready, dispatching or running, by priority then index
  std::deque<Acknowledge> acks_;  // by time known
  std::vector<Job> jobs_;
  size_t ended_ = 0;
  Cycle end_ = 0;
};

}  // namespace daybreak::sim
