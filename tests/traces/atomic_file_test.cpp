#include "traces/event/atomic_file.hpp"

#include <gtest/gtest.h>

#include "configs/reader/errors.hpp"
#include "temporary_folder.hpp"

namespace daybreak::traces {
namespace {

TEST(AtomicFile, AppearsWholeOnCommitOnly) {
  TemporaryFolder folder;
  write_file(folder.file("a"), "before");
  {
    AtomicFile file(folder.file("a"));
    file.write("after");
    EXPECT_EQ(read_file(folder.file("a")), "before");
    file.commit();
  }
  EXPECT_EQ(read_file(folder.file("a")), "after");
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(AtomicFile, LeavesNothingWithoutCommit) {
  TemporaryFolder folder;
  { AtomicFile(folder.file("a")).write("half"); }
  EXPECT_EQ(folder.entries(), 0u);
}

TEST(AtomicFile, SaysWhichPathCannotBeWritten) {
  TemporaryFolder folder;
  try {
    AtomicFile file(folder.file("missing/a"));
    FAIL() << "a file in a folder that is not there was accepted";
  } catch (const UserError& error) {
    EXPECT_EQ(std::string(error.what()).find(folder.file("missing/a")), 0u) << error.what();
  }
  std::filesystem::create_directory(folder.file("a"));
  AtomicFile file(folder.file("a"));
  EXPECT_THROW(file.commit(), UserError);  // a folder of that name
  EXPECT_EQ(folder.entries(), 1u);
}

}  // namespace
}  // namespace daybreak::traces
