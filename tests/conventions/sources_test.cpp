// What no file of the project may contain, and what the top level consists of.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "tree.hpp"

namespace daybreak::conventions {
namespace {

// Pieces, so that this file does not contain what it looks for.
std::string joined(const char* a, const char* b) { return std::string(a) + b; }

bool is_data(const SourceFile& file) {
  return file.extension() == ".csv" || file.extension() == ".gz" || file.path == "LICENSE" ||
         file.path.starts_with("traces/golden/");
}

TEST(Sources, HaveNoMarksOfUnfinishedWork) {
  const std::regex marks("\\b(" + joined("TO", "DO") + "|" + joined("FIX", "ME") + "|" +
                         joined("XX", "X") + "|" + joined("HA", "CK") + ")\\b");
  for (const SourceFile& file : files()) {
    if (is_data(file)) continue;
    for (const std::string_view line : file.lines())
      EXPECT_FALSE(std::regex_search(line.begin(), line.end(), marks)) << file.path << ": " << line;
  }
}

TEST(Sources, NameNoPathOfOneMachine) {
  const std::regex paths("(^|[^A-Za-z0-9_.])/(" + joined("wo", "rk") + "|" + joined("fa", "rm") +
                         "|" + joined("ro", "ot") + "|" + joined("ho", "me") + ")/");
  for (const SourceFile& file : files()) {
    if (is_data(file)) continue;
    for (const std::string_view line : file.lines())
      EXPECT_FALSE(std::regex_search(line.begin(), line.end(), paths)) << file.path << ": " << line;
  }
}

TEST(Sources, HaveCleanLines) {
  for (const SourceFile& file : files()) {
    if (is_data(file) || file.text.empty()) continue;
    EXPECT_EQ(file.text.back(), '\n') << file.path << " does not end with a newline";
    for (const std::string_view line : file.lines()) {
      EXPECT_EQ(line.find('\t'), std::string_view::npos) << file.path << ": tab in: " << line;
      EXPECT_FALSE(line.ends_with(' ') || line.ends_with('\r'))
          << file.path << ": blank end: " << line;
    }
  }
}

TEST(Sources, DefineNoMacrosButTheTwoQualifiersOfDeviceCode) {
  for (const SourceFile& file : sources())
    for (const std::string_view line : file.lines())
      if (line.starts_with("#define") || line.starts_with("# define")) {
        EXPECT_TRUE(line.starts_with("#define DAYBREAK_DEVICE") ||
                    line.starts_with("#define DAYBREAK_BOTH"))
            << file.path << ": " << line;
      }
}

TEST(Sources, PrintOnlyFromTheCommandLine) {
  for (const SourceFile& file : sources()) {
    if (file.path.starts_with("tests/") || file.path.starts_with("sim/cli/")) continue;
    for (const char* stream : {"std::cout", "std::cerr", "printf(", "fmt::print("})
      for (const std::string_view line : file.lines()) {
        const size_t at = line.find(stream);
        if (at == std::string_view::npos) continue;
        EXPECT_TRUE(at > 0 && (std::isalpha(line[at - 1]) || line[at - 1] == '_'))  // snprintf
            << file.path << ": " << line;
      }
  }
}

TEST(Tree, TopLevelIsFixed) {
  const std::vector<std::string> allowed = {".ci",
                                            "ARCHITECTURE.md",
                                            "CMakeLists.txt",
                                            "CMakePresets.json",
                                            "CONTRIBUTING.md",
                                            "LICENSE",
                                            "README.md",
                                            "configs",
                                            "isa",
                                            "kernels",
                                            "ref",
                                            "scripts",
                                            "sim",
                                            "tests",
                                            "traces"};
  EXPECT_EQ(top_level(), allowed);
}

TEST(Tree, ScriptsStopAtErrorsAndSayWhatTheyAre) {
  std::vector<SourceFile> scripts = files("scripts/");
  for (const SourceFile& file : files(".ci/")) scripts.push_back(file);
  ASSERT_FALSE(scripts.empty());
  for (const SourceFile& file : scripts) {
    if (!file.text.starts_with("#!/usr/bin/env bash\n")) continue;
    EXPECT_TRUE(file.text.starts_with("#!/usr/bin/env bash\n# ")) << file.path;
    EXPECT_NE(file.text.find("\nset -euo pipefail\n"), std::string::npos) << file.path;
    const auto mode = std::filesystem::status(root() / file.path).permissions();
    EXPECT_NE(mode & std::filesystem::perms::owner_exec, std::filesystem::perms::none) << file.path;
  }
}

}  // namespace
}  // namespace daybreak::conventions
