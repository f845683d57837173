// One list per concept: what is in the folder is in the list, documented and tested.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "kernels/library/dsa/kernels.hpp"
#include "tree.hpp"

namespace daybreak::conventions {
namespace {

std::string all_text(const std::string& folder) {
  std::string out;
  for (const SourceFile& file : files(folder)) out += file.text;
  return out;
}

// That each listed instruction is tested and documented is checked from the list itself
// (tests/isa); here: that nothing in the folder was left out of it.
TEST(Instructions, InTheFolderAreInTheList) {
  const std::string list = read("isa/instructions/list.hpp");
  const std::regex type("struct (\\w+) \\{\\s+static constexpr Opcode kOpcode");
  size_t count = 0;
  for (const SourceFile& file : files("isa/instructions/")) {
    std::smatch match;
    if (file.extension() != ".hpp" || !std::regex_search(file.text, match, type)) continue;
    ++count;
    const std::string name = match[1];
    EXPECT_NE(list.find("\"" + file.path + "\""), std::string::npos)
        << file.path << " is not in list.hpp";
    EXPECT_TRUE(std::regex_search(list, std::regex("[<, ]" + name + "[,>]")))
        << name << " is not in the variant Instruction";
    EXPECT_TRUE(file.text.starts_with("// ")) << file.path << " does not say what it is";
  }
  EXPECT_GE(count, 30u) << "the instructions were not found";
}

TEST(Knobs, HaveUnitRangeDefaultSentenceSourceAndAValueInTheDefaultChip) {
  const std::string config = read("sim/chip/config.hpp"), chip = read("configs/chips/mx-dma.yaml");
  const std::regex line("v\\.(?:knob|choice)\\(\"(\\w+)\"[\\s\\S]*?\\);");
  // name, member, default, then unit and range or the allowed words, sentence, source.
  const std::regex complete(
      "v\\.(?:knob\\(\"\\w+\",\\s*\\w+,\\s*[^,]+,\\s*\"[^\"]+\",\\s*[^,]+,\\s*[^,]+|"
      "choice\\(\"\\w+\",\\s*\\w+,\\s*[^,]+,\\s*\\{[^}]+\\}),\\s*\"[^\"]{3,}\",\\s*"
      "(kDatasheet|geometry|\"[^\"]+\")\\);");
  size_t count = 0;
  for (std::sregex_iterator at(config.begin(), config.end(), line), end; at != end; ++at) {
    ++count;
    EXPECT_TRUE(std::regex_match(at->str(), complete)) << "not a complete knob: " << at->str();
    EXPECT_NE(chip.find((*at)[1].str() + ":"), std::string::npos)
        << (*at)[1] << " is not stated in mx-dma.yaml";
  }
  EXPECT_GE(count, 90u) << "the knobs were not found";
}

TEST(Chips, SayWhereTheirFiguresComeFrom) {
  size_t count = 0;
  for (const SourceFile& file : files("configs/chips/")) {
    if (file.extension() != ".yaml") continue;
    ++count;
    EXPECT_TRUE(file.text.starts_with("#")) << file.path << " does not say what it describes";
  }
  EXPECT_GE(count, 2u);
}

TEST(Kernels, AreTested) {
  const std::string tests = all_text("tests/kernels/library/");
  size_t count = 0;
  for (const SourceFile& file : files("kernels/library/")) {
    std::smatch match;
    if (!std::regex_search(file.text, match, std::regex("kName = \"(\\w+)\""))) continue;
    ++count;
    EXPECT_NE(tests.find(file.path), std::string::npos) << file.path << " is included by no test";
  }
  EXPECT_GE(count, 7u) << "the kernels were not found";
}

// What `daybreak kernels` says of lines shared and lines per machine.
TEST(Kernels, HaveTheLinesTheyClaim) {
  const std::string bindings = read("kernels/device/kernels.cuh");
  const auto count = [](const std::string& text) {
    return int(std::count(text.begin(), text.end(), '\n'));
  };
  int bound = 0;
  for (const auto& kernel : kernels::dsa::kKernels) {
    const std::string text = read(std::string(kernel.header));
    EXPECT_EQ(kernel.lines, count(text)) << kernel.name;
    int own = 0;
    const std::regex binding(
        "struct (\\w+) \\{\n  using Machine[^;]+;\n[^;]+ Kernel = (\\w+)<[^;]+;\n"
        "[^;]+kTuning[^;]+;\n\\};\n");
    for (std::sregex_iterator at(bindings.begin(), bindings.end(), binding), end; at != end; ++at)
      if (std::regex_search(text, std::regex("struct " + (*at)[2].str() + " "))) {
        own += count(at->str()) - 2;  // without the braces
        const std::regex variant("using \\w+ =\\s+" + (*at)[1].str() + "<[^;]+;\n");
        for (std::sregex_iterator v(bindings.begin(), bindings.end(), variant); v != end; ++v)
          own += count(v->str());
      }
    EXPECT_EQ(kernel.hopper_lines, own) << kernel.name;
    if (own == 0) continue;
    ++bound;
    EXPECT_GE(kernel.lines, 9 * own) << kernel.name << ": less than 90 % of its text is shared";
  }
  EXPECT_GE(bound, 9) << "the bindings were not found";
}

}  // namespace
}  // namespace daybreak::conventions
