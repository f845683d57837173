// Chrome JSON against the lists of random runs: every event is there, with its length.
#include "traces/event/chrome.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "event_stream.hpp"
#include "temporary_folder.hpp"

namespace daybreak::traces {
namespace {

TEST(Chrome, HoldsEveryEvent) {
  const TemporaryFolder folder;
  for (uint64_t seed = 1; seed <= 25; ++seed) {
    const EventStream stream = random_stream(seed);
    ChromeWriter writer(folder.file("t.json"), {.chip = "a \"chip\"", .clock_hz = 1e9});
    stream.play(writer);
    const auto json = nlohmann::json::parse(read_file(folder.file("t.json")));
    std::map<std::string, std::pair<int64_t, int64_t>> got, want;  // events, cycles
    std::map<int64_t, std::vector<nlohmann::json>> ends;
    for (const auto& e : json.at("traceEvents")) {
      const std::string phase = e.at("ph");
      EXPECT_TRUE(phase == "M" || !e.contains("tid") || e.at("tid") > 0) << e;
      if (phase == "s" || phase == "f") ends[e.at("id")].push_back(e);
      if (phase != "X") continue;
      auto& sum = got[e.at("cat")];
      ++sum.first, sum.second += std::llround(double(e.at("dur")) * 1e3);
    }
    const auto add = [&](const char* category, int64_t begin, int64_t end) {
      ++want[category].first, want[category].second += end - begin;
    };
    for (const auto& s : stream.spans) add("state", s.begin, s.end);
    for (const auto& i : stream.instructions) add("instruction", i.started, i.retired);
    for (const auto& t : stream.tasks) add("task", t.started, t.ended);
    for (const auto& l : stream.launches) add("launch", l.ready, l.ended);
    EXPECT_EQ(got, want) << seed;
    EXPECT_EQ(int64_t(ends.size()), writer.flows_written());
    for (const auto& [id, pair] : ends) {
      ASSERT_EQ(pair.size(), 2u);
      EXPECT_EQ(pair[0].at("ph"), "s");
      EXPECT_EQ(pair[1].at("ph"), "f");
    }
  }
}

}  // namespace
}  // namespace daybreak::traces
