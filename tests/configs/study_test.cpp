#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "configs/reader/study.hpp"
#include "tests/configs/errors_of.hpp"
#include "tests/configs/mutate.hpp"

namespace daybreak::configs {
namespace {

using Values = Expression::Values;

Values numbers(const MetricReference& reference) {
  static const std::map<std::string, Values> known = {
      {"us", {2, 4, 8}}, {"keys", {1, 2, 4}}, {"zero", {0, 0, 0}}, {"one", {5}}, {"none", {}}};
  return known.at(reference.metric);
}
Values value(const std::string& text) {
  return Expression::parse(text, {"s.yaml", 3, 10}).evaluate(numbers);
}
bool holds(const std::string& text) {
  return Expression::parse(text, {"s.yaml", 3, 10}).holds(numbers);
}

TEST(Expressions, FollowTheUsualPrecedence) {
  EXPECT_EQ(value("1 + 2 * 3 - 4 / 2"), Values{5});
  EXPECT_EQ(value("8 - 4 - 2"), Values{2});
  EXPECT_EQ(value("-(2 + 3) * 2"), Values{-10});
  EXPECT_EQ(value("1 + 1 == 2 and 3 > 2"), Values{1});
  EXPECT_EQ(value("1 > 2 or 2 > 1 and 1 > 2"), Values{0});
  EXPECT_EQ(value("not 0"), Values{1});
  EXPECT_EQ(value("1e2 + .5"), Values{100.5});
}

TEST(Expressions, WorkOnListsNumberByNumber) {
  EXPECT_EQ(value("a.us / a.keys"), (Values{2, 2, 2}));
  EXPECT_EQ(value("a.us + a.one"), (Values{7, 9, 13}));
  EXPECT_EQ(value("delta(a.us)"), (Values{2, 4}));
  EXPECT_EQ(value("ratio(a.us)"), (Values{2, 2}));
  EXPECT_EQ(value("tail(a.us, 2)"), (Values{4, 8}));
  EXPECT_EQ(value("max(a.us, 3) - min(a.us)"), Values{6});
  EXPECT_EQ(value("mean(a.us) + sum(a.keys) + count(a.us)"), Values{14.0 / 3 + 7 + 3});
  EXPECT_EQ(value("first(a.us) + last(a.us)"), Values{10});
  EXPECT_EQ(value("log2(8) + sqrt(16) + abs(-1)"), Values{8});
  EXPECT_TRUE(holds("max(delta(a.us) / delta(a.keys)) / min(delta(a.us) / delta(a.keys)) <= 1.05"));
}

TEST(Expressions, AnUnknownNumberNeverPasses) {
  EXPECT_FALSE(holds("a.us / a.zero >= 5"));
  EXPECT_FALSE(holds("a.zero / a.zero == a.zero / a.zero"));
  EXPECT_FALSE(holds("not (a.us / a.zero < 5)"));
  EXPECT_FALSE(holds("1 > 2 or a.us / a.zero > 5"));
  EXPECT_FALSE(holds("a.us / a.zero"));
  EXPECT_FALSE(holds("a.none > 0"));
  EXPECT_TRUE(holds("a.us > 1"));
  EXPECT_FALSE(holds("a.us > 2"));  // one of three
}

TEST(Expressions, FaultsNameTheirColumn) {
  const auto refusal = [](const std::string& text) { return error_of([&] { value(text); }); };
  EXPECT_EQ(refusal("1 + "),
            "s.yaml:3:14: in the expression, a number, a metric or '(' is expected; got the end");
  EXPECT_EQ(refusal("maximum(1)").substr(0, 60),
            "s.yaml:3:10: in the expression, there is no function 'maximu");
  EXPECT_NE(refusal("mxa(1)").find("did you mean 'max'?"), std::string::npos);
  EXPECT_EQ(refusal("1 2"),
            "s.yaml:3:12: in the expression, an operator or the end is expected; got '2'");
  EXPECT_EQ(
      refusal("a.us + tail(a.us, 2)"),
      "s.yaml:3:15: in the expression, '+' combines lists of 3 and 2 numbers; they must be equally "
      "long, or one a single number");
  for (const char* text :
       {"", "(", "a.", "min()", "abs(1, 2)", "min(a.none)", "tail(a.us, -1)", "1 < ", "$"})
    EXPECT_TRUE(is_positioned_sentence(refusal(text), "s.yaml")) << text << " -> " << refusal(text);
  EXPECT_NE(refusal(std::string(100000, '(')), "");
  EXPECT_NE(refusal(std::string(100000, '-')), "");
  std::string sum = "1";
  for (int i = 0; i < 5000; ++i) sum += "+1";
  EXPECT_NE(refusal(sum), "");
}

const std::string kStudy = R"(title: Index overhead
about: four ways to read an index
defaults: {chip: mx-dma, set: {cores: 4}}
runs:
  - name: table
    kernel: sparse_mla
    args: {phase: decode, context: 32768}
    set: {chip.cores: 1}
    values: steering
  - {name: whole, day0: deepseek-v3.2, args: {context: 1024}, index: random}
grids:
  - name: by
    kernel: indexer
    args: {context: 0}
    over: {args.context: [8192, 16384], set.chip.cores: [1, 32, 64]}
table:
  - {title: us, value: us}
  - {title: per key, value: us / context, digits: 3}
verdicts:
  - {name: flat, holds: "max(by.us) / min(by.us) <= 1.15"}
  - {name: quick, holds: table.us < whole.us}
)";

TEST(Studies, ExpandGridsInOrder) {
  const Study study = read_study_text(kStudy, "s.yaml");
  ASSERT_EQ(study.runs.size(), 8u);
  EXPECT_EQ(study.runs[0].set.size(), 1u);  // the run's own setting replaces the default
  EXPECT_EQ(study.runs[0].set[0].value, "1");
  EXPECT_EQ(study.runs[0].values, "steering");
  EXPECT_EQ(study.runs[1].model, "deepseek-v3.2");
  EXPECT_EQ(study.runs[1].set[0].path, "chip.cores");
  EXPECT_EQ(study.runs[1].set[0].at.text(), "s.yaml:3:39");
  EXPECT_EQ(study.runs[2].name, "by_8192_1");
  EXPECT_EQ(study.runs[4].name, "by_8192_64");
  EXPECT_EQ(study.runs[7].name, "by_16384_64");
  EXPECT_EQ(study.runs[7].args[0].second, "16384");
  EXPECT_EQ(study.group("by")->runs, (std::vector<size_t>{2, 3, 4, 5, 6, 7}));
}

TEST(Studies, VerdictsAreComputedFromMetricsAndArguments) {
  const Study study = read_study_text(kStudy, "s.yaml");
  const auto metric = [](size_t run, const std::string& name) -> std::optional<double> {
    if (name == "us") return 100.0 + double(run);
    return std::nullopt;
  };
  EXPECT_TRUE(study.verdicts[0].holds.holds(study.lookup(metric)));  // 107 / 102
  EXPECT_TRUE(study.verdicts[1].holds.holds(study.lookup(metric)));  // 100 < 101
  EXPECT_EQ(study.columns[1].value.evaluate(study.lookup(metric, 7)), Values{107.0 / 16384});
  const auto nothing = [](size_t, const std::string&) { return std::optional<double>(); };
  EXPECT_EQ(error_of([&] { study.columns[0].value.evaluate(study.lookup(nothing, 0)); }),
            "s.yaml:17:24: the run 'table' has no metric 'us'");
}

TEST(Studies, RefuseFaultsWithTheirPlace) {
  const auto refusal = [](const std::string& from, const std::string& to) {
    std::string text = kStudy;
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    return error_of([&] { read_study_text(text, "s.yaml"); });
  };
  EXPECT_NE(
      refusal("max(by.us)", "max(bye.us)").find("s.yaml:20:30: there is no run or grid 'bye'"),
      std::string::npos);
  EXPECT_NE(refusal("verdicts:", "verdict:").find("did you mean 'verdicts'?"), std::string::npos);
  EXPECT_NE(refusal("name: whole", "name: table").find("the name 'table' is taken"),
            std::string::npos);
  EXPECT_NE(refusal("name: by", "name: 2by").find("letters, digits"), std::string::npos);
  EXPECT_NE(refusal("day0: deepseek-v3.2, ", "").find("needs one of 'kernel' and 'day0'"),
            std::string::npos);
  EXPECT_NE(refusal("values: steering", "values: steerng").find("did you mean 'steering'?"),
            std::string::npos);
  EXPECT_NE(refusal("args.context: [8192, 16384]", "arg.context: [1]").find("in 'over'"),
            std::string::npos);
  EXPECT_NE(refusal("table.us <", "us <").find("needs its run"), std::string::npos);
  EXPECT_NE(refusal("[8192, 16384]", "[]"), "");
  EXPECT_NE(refusal("[8192, 16384]", "[7, 7]").find("is taken"), std::string::npos);
}

TEST(Studies, DamagedFilesNeverDoWorseThanASentence) {
  std::mt19937_64 random(4);
  const std::vector<std::string> words = {"[",    "]",     "{",     "}", ": ", "- ",
                                          "\n",   "  ",    "\"",    "(", ")",  "by.",
                                          "over", "runs:", "1e999", "/", "*",  "and "};
  int refused = 0;
  for (int i = 0; i < 1500; ++i) {
    const std::string text = mutate(kStudy, random, words);
    const std::string message = error_of([&] { read_study_text(text, "s.yaml"); });
    if (message.empty()) continue;
    ++refused;
    EXPECT_TRUE(is_positioned_sentence(message, "s.yaml")) << message;
  }
  EXPECT_GT(refused, 400);
}

}  // namespace
}  // namespace daybreak::configs
