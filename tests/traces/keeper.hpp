// Keeps everything that a run reports, for comparison.
#pragma once
#include "event_stream.hpp"

namespace daybreak::traces {

class Keeper : public Observer {
 public:
  void unit(const UnitInfo& u) override { stream.units.push_back(u); }
  void span(const UnitSpan& s) override { stream.spans.push_back(s); }
  void instruction(const InstructionEvent& e) override {
    stream.instructions.push_back(e);
    stream.names.emplace_back(e.name);
    stream.instructions.back().name = stream.names.back();
    stream.names.emplace_back(e.label);
    stream.instructions.back().label = stream.names.back();
  }
  void flow(const FlowEvent& f) override { stream.flows.push_back(f); }
  void task(const TaskEvent& t) override { stream.tasks.push_back(t); }
  void job(const JobEvent& j) override { jobs.push_back(j); }
  void launch(const LaunchEvent& l) override {
    stream.names.emplace_back(l.kernel);
    stream.launches.push_back(l);
    stream.launches.back().kernel = stream.names.back();
    after.emplace_back(l.after.begin(), l.after.end());
  }
  void end(int64_t cycles) override { stream.cycles = cycles; }
  EventStream stream;
  std::vector<JobEvent> jobs;
  std::vector<std::vector<uint32_t>> after;
};

}  // namespace daybreak::traces
