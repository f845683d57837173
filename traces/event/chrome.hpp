// A run as Chrome JSON ("Trace Event Format"), which chrome://tracing and MindStudio Insight read.
// One microsecond of the file is one microsecond of the chip. Process 1 is the chip, process N + 2
// core N; thread numbers start at 1 because some readers drop thread 0. Complete events ("X") for
// launches, tasks, instructions and unit states, flows ("s", "f") from the instruction that
// signalled to the one that waited, a counter ("C") of the memory traffic asked for.
#pragma once
#include <memory>
#include <string>

#include "traces/event/event_file.hpp"

namespace daybreak::traces {

class ChromeWriter : public Observer {
 public:
  ChromeWriter(std::string path, RunFacts facts);
  ~ChromeWriter() override;

  void unit(const UnitInfo&) override;
  void span(const UnitSpan&) override;
  void instruction(const InstructionEvent&) override;
  void flow(const FlowEvent&) override;
  void task(const TaskEvent&) override;
  void launch(const LaunchEvent&) override;
  void end(int64_t cycles) override;

  int64_t flows_written() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace daybreak::traces
