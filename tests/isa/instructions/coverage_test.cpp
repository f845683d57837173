// Every instruction of the list has a test of its values (suite Semantics) and of its work (suite Work),
// named after it, and a row in the documentation.
#include <gtest/gtest.h>

#include <set>

#include "isa/instructions/list.hpp"
#include "isa/program/codec.hpp"
#include "isa/program/documentation.hpp"

namespace daybreak::isa {

std::set<std::string> tests_of(const std::string& suite) {
  std::set<std::string> names;
  const auto& all = *testing::UnitTest::GetInstance();
  for (int s = 0; s < all.total_test_suite_count(); ++s)
    if (all.GetTestSuite(s)->name() == suite)
      for (int t = 0; t < all.GetTestSuite(s)->total_test_count(); ++t)
        names.insert(all.GetTestSuite(s)->GetTestInfo(t)->name());
  return names;
}

TEST(InstructionList, EveryInstructionIsTestedAndDocumented) {
  const auto semantics = tests_of("Semantics"), work = tests_of("Work");
  const std::string table = instruction_table();
  for_each_instruction_type([&](auto type) {
    using I = typename decltype(type)::type;
    const std::string name(I::kName);
    EXPECT_TRUE(semantics.contains(name)) << name << " has no test of its values";
    EXPECT_TRUE(work.contains(name)) << name << " has no test of its work";
    EXPECT_NE(table.find("| `" + name + "` |"), std::string::npos) << name << " is not documented";
    EXPECT_NE(table.find(std::string(I::kSentence)), std::string::npos);
  });
}

TEST(InstructionList, NamesAndOpcodesAreUnique) {
  std::set<std::string_view> names;
  std::set<Opcode> opcodes;
  for_each_instruction_type([&](auto type) {
    using I = typename decltype(type)::type;
    EXPECT_TRUE(names.insert(I::kName).second) << I::kName;
    EXPECT_TRUE(opcodes.insert(I::kOpcode).second) << I::kName;
    const Instruction i = I{};
    EXPECT_EQ(name_of(i), I::kName);
    EXPECT_EQ(opcode_of(i), I::kOpcode);
  });
}

}  // namespace daybreak::isa
