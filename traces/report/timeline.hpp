// An overview of a run in constant memory: launches, and how busy each kind of unit was over time.
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "traces/event/event.hpp"
#include "traces/event/traffic.hpp"

namespace daybreak::traces {

class Timeline : public Observer {
 public:
  struct Launch {
    std::string kernel;
    int64_t ready = 0, started = 0, ended = 0;
  };
  struct Kind {
    std::string name;
    int64_t units = 0;
    Traffic busy{64, 256};  // busy cycles of all its units, by window
  };

  void unit(const UnitInfo&) override;
  void span(const UnitSpan&) override;
  void launch(const LaunchEvent&) override;

  const std::vector<Launch>& launches() const { return launches_; }
  const std::deque<Kind>& kinds() const { return kinds_; }

 private:
  std::vector<Launch> launches_;
  std::deque<Kind> kinds_;
  std::vector<size_t> kind_of_;  // by unit id
};

}  // namespace daybreak::traces
