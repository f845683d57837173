// Builds the graph of a run from its events: queues (in order), the control processor's issue and
// its FIFOs, semaphores, the stages of the DMA engine, shared rows of a pair, the scheduler's
// threads, launches. An observer; the graph is there after end().
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "traces/analysis/graph.hpp"
#include "traces/event/event_file.hpp"

namespace daybreak::traces {

// What an edge's DMA parts cannot say alone, for predictions about the memory side.
struct RunGraph {
  Graph graph;
  std::vector<std::string> kinds;  // of units, by Place::unit: "chip.core.matrix"
  RunFacts facts;
  int64_t cycles = 0;                         // of the run; the graph ends there
  std::string_view word(int32_t kind) const;  // "matrix"; "chip" for -1
};

// UserError when the file's cap dropped instructions or the run is larger than this can hold.
RunGraph read_run_graph(const std::string& path);

class GraphBuilder : public Observer {
 public:
  explicit GraphBuilder(RunFacts facts);
  ~GraphBuilder() override;
  void unit(const UnitInfo&) override;
  void instruction(const InstructionEvent&) override;
  void flow(const FlowEvent&) override;
  void task(const TaskEvent&) override;
  void job(const JobEvent&) override;
  void launch(const LaunchEvent&) override;
  void end(int64_t cycles) override;
  RunGraph take();  // after end()

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace daybreak::traces
