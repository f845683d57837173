// The dependency rule, read from the include lines: what a folder may include is listed here.
#include <gtest/gtest.h>

#include <algorithm>

#include "tree.hpp"

namespace daybreak::conventions {
namespace {

struct Rule {
  std::string folder;
  std::vector<std::string> may_include;
};

// How an error is thrown and how the nearest known word is named in it: everybody's.
const std::vector<std::string>& common() {
  static const std::vector<std::string> list = {"configs/reader/errors.hpp",
                                                "configs/reader/words.hpp"};
  return list;
}

// The first rule whose folder is a prefix of the file's path holds. The reference for operators
// shares no code with what it checks.
const std::vector<Rule>& rules() {
  static const std::vector<Rule> list = {
      {"configs/", {"configs/"}},
      {"ref/numeric/", {"ref/numeric/"}},
      {"ref/ops/", {"ref/ops/"}},
      {"ref/compare/", {"ref/compare/"}},
      {"isa/", {"isa/", "ref/numeric/"}},
      {"traces/", {"traces/"}},
      {"kernels/tile/", {"kernels/tile/", "isa/", "ref/numeric/"}},
      {"kernels/machines/", {"kernels/machines/", "kernels/tile/", "isa/", "ref/numeric/"}},
      {"kernels/library/", {"kernels/library/", "kernels/tile/", "isa/", "ref/numeric/"}},
      {"kernels/device/", {"kernels/", "isa/", "ref/numeric/"}},
      {"kernels/runtime/", {"kernels/", "isa/", "ref/", "configs/"}},
      {"sim/cli/", {"sim/", "kernels/", "isa/", "ref/", "configs/", "traces/"}},
      {"sim/", {"sim/", "isa/", "ref/numeric/", "configs/", "traces/event/"}},
  };
  return list;
}

TEST(Includes, FollowTheDependencyRule) {
  size_t seen = 0;
  for (const SourceFile& file : sources()) {
    if (file.path.starts_with("tests/")) continue;
    const auto rule = std::find_if(rules().begin(), rules().end(),
                                   [&](const Rule& r) { return file.path.starts_with(r.folder); });
    ASSERT_NE(rule, rules().end()) << file.path << " is in a folder without a rule";
    for (const std::string_view line : file.lines()) {
      if (!line.starts_with("#include \"")) continue;
      const std::string_view target = line.substr(10, line.rfind('"') - 10);
      ++seen;
      const bool allowed =
          std::find(common().begin(), common().end(), target) != common().end() ||
          std::any_of(rule->may_include.begin(), rule->may_include.end(),
                      [&](const std::string& prefix) { return target.starts_with(prefix); });
      EXPECT_TRUE(allowed) << file.path << " includes " << target << ", which " << rule->folder
                           << " may not use";
      EXPECT_TRUE(std::filesystem::exists(root() / target))
          << file.path << " includes " << target << " by a path that does not start at the root";
    }
  }
  EXPECT_GT(seen, 100u) << "the include lines were not found";
}

TEST(Includes, HeadersGuardThemselves) {
  for (const SourceFile& file : sources())
    if (file.extension() == ".hpp" || file.extension() == ".cuh") {
      EXPECT_NE(file.text.find("#pragma once\n"), std::string::npos) << file.path;
    }
}

}  // namespace
}  // namespace daybreak::conventions
