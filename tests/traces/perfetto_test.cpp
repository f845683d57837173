// The writer's rules, and its files seen by protoc: one packet more or less shows here.
#include "traces/event/perfetto.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <memory>

#include "configs/reader/errors.hpp"
#include "event_stream.hpp"
#include "temporary_folder.hpp"

namespace daybreak::traces {
namespace {

PerfettoOptions options(TraceLevel level) {
  return {.level = level, .clock_hz = 1.65e9, .chip = "test", .kernels = {"a", "b", "c"}};
}

void write_trace(const EventStream& stream, const std::string& path, TraceLevel level) {
  PerfettoWriter writer(path, options(level));
  stream.play(writer);
}

std::string output_of(const std::string& command, int& status) {
  std::string out;
  FILE* pipe = popen(command.c_str(), "r");
  std::array<char, 4096> buffer{};
  for (size_t n; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    out.append(buffer.data(), n);
  status = pclose(pipe);
  return out;
}

int64_t occurrences(const std::string& text, const std::string& line) {
  int64_t count = 0;
  for (size_t at = 0; (at = text.find(line, at)) != std::string::npos; at += line.size()) ++count;
  return count;
}

TEST(Perfetto, ProtocSeesEveryBeginAndEveryEnd) {
  if (std::system("protoc --version > /dev/null 2>&1") != 0)
    GTEST_SKIP() << "protoc is not installed";
  TemporaryFolder folder;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const EventStream stream = random_stream(seed);
    write_trace(stream, folder.file("t"), TraceLevel::instruction);
    int status = 0;
    const std::string text = output_of("protoc --decode_raw < " + folder.file("t"), status);
    ASSERT_EQ(status, 0);
    const auto slices = int64_t(stream.spans.size() + stream.instructions.size() +
                                stream.tasks.size() + stream.launches.size() + 1);
    EXPECT_EQ(occurrences(text, "\n  11 {\n    9: 1\n"), slices) << seed;
    EXPECT_EQ(occurrences(text, "\n  11 {\n    9: 2\n"), slices) << seed;
    EXPECT_EQ(occurrences(text, "\n  13: 1\n"), 1);
    std::ofstream(folder.file("cut"), std::ios::binary)
        << read_file(folder.file("t")).substr(0, read_file(folder.file("t")).size() - 3);
    output_of("protoc --decode_raw < " + folder.file("cut") + " 2>/dev/null", status);
    EXPECT_NE(status, 0) << "a cut file went unnoticed";
  }
}

TEST(Perfetto, SameRunGivesTheSameBytes) {
  TemporaryFolder folder;
  const EventStream stream = random_stream(3);
  write_trace(stream, folder.file("a"), TraceLevel::instruction);
  write_trace(stream, folder.file("b"), TraceLevel::instruction);
  EXPECT_FALSE(read_file(folder.file("a")).empty());
  EXPECT_EQ(read_file(folder.file("a")), read_file(folder.file("b")));
}

TEST(Perfetto, HigherLevelsHoldMore) {
  TemporaryFolder folder;
  const EventStream stream = random_stream(5);
  size_t last = 0;
  for (const TraceLevel level : {TraceLevel::kernel, TraceLevel::task, TraceLevel::instruction}) {
    write_trace(stream, folder.file("t"), level);
    const size_t size = read_file(folder.file("t")).size();
    EXPECT_GT(size, last);
    last = size;
  }
}

TEST(Perfetto, FileAppearsOnlyWhenTheRunHasEnded) {
  TemporaryFolder folder;
  {
    PerfettoWriter writer(folder.file("t"), options(TraceLevel::instruction));
    writer.unit({.id = 0, .core = 0, .path = "chip.core0.matrix", .kind = "chip.core.matrix"});
    EXPECT_FALSE(std::filesystem::exists(folder.file("t")));
  }
  EXPECT_EQ(folder.entries(), 0u);
}

TEST(Perfetto, OverlapOnOneSlotIsAnErrorThatNamesTheUnit) {
  TemporaryFolder folder;
  PerfettoWriter writer(folder.file("t"), options(TraceLevel::instruction));
  writer.unit(
      {.id = 0, .core = 0, .path = "chip.core0.dma_in", .kind = "chip.core.dma_in", .slots = 2});
  writer.instruction({.unit = 0, .slot = 0, .name = "load", .started = 0, .retired = 10});
  writer.instruction({.unit = 0, .slot = 1, .name = "load", .started = 5, .retired = 12});
  writer.instruction({.unit = 0, .slot = 0, .name = "gather", .started = 9, .retired = 15});
  try {
    writer.end(20);
    FAIL() << "overlapping slices were written";
  } catch (const InvariantError& error) {
    EXPECT_NE(std::string(error.what()).find("chip.core0.dma_in: gather"), std::string::npos)
        << error.what();
  }
}

TEST(Perfetto, FlowsThatComeTooLateAreCounted) {
  TemporaryFolder folder;
  PerfettoWriter writer(folder.file("t"), options(TraceLevel::instruction));
  for (int32_t id : {0, 1})
    writer.unit({.id = id, .core = 0, .path = "chip.core0.u" + std::to_string(id), .kind = "u"});
  for (int64_t i = 0; i < 500; ++i)
    writer.instruction({.unit = 0, .name = "load", .started = i, .retired = i + 1});
  writer.flow({.from_unit = 0, .to_unit = 1, .from_time = 500, .to_time = 501});  // the last one
  writer.flow({.from_unit = 0, .to_unit = 1, .from_time = 3, .to_time = 501});    // long written
  writer.flow(
      {.from_unit = 0, .to_unit = 1, .from_time = 510, .to_time = 520});  // not reported yet
  writer.instruction({.unit = 0, .name = "load", .started = 505, .retired = 510});
  writer.instruction({.unit = 1, .name = "mma", .started = 501, .retired = 515});
  writer.instruction({.unit = 1, .name = "mma", .started = 520, .retired = 530});
  writer.end(600);
  EXPECT_EQ(writer.flows_written(), 2);
  EXPECT_EQ(writer.flows_dropped(), 1);
}

TEST(Perfetto, LevelsAreNamedInTheError) {
  EXPECT_EQ(trace_level("task"), TraceLevel::task);
  try {
    trace_level("tasks");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("kernel, task, instruction"), std::string::npos);
  }
}

}  // namespace
}  // namespace daybreak::traces
