// The JSON reader against nlohmann's, which shares no code with it, and against hand-written cases.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "configs/reader/loader.hpp"
#include "tests/configs/errors_of.hpp"
#include "tests/configs/mutate.hpp"

namespace daybreak::configs {
namespace {

std::string refusal(const std::string& text) {
  return error_of([&] { load_json_text(text, "a.json"); });
}

// The same tree in both readers.
void expect_same(const Node& node, const nlohmann::json& json) {
  if (json.is_object()) {
    ASSERT_TRUE(node.is_map());
    ASSERT_EQ(node.size(), json.size());
    for (size_t i = 0; i < node.size(); ++i)
      expect_same(node.values()[i], json.at(node.keys()[i].name));
  } else if (json.is_array()) {
    ASSERT_TRUE(node.is_list());
    ASSERT_EQ(node.size(), json.size());
    for (size_t i = 0; i < node.size(); ++i) expect_same(node.items()[i], json[i]);
  } else if (json.is_string()) {
    EXPECT_TRUE(node.is_text());
    EXPECT_EQ(node.string(), json.get<std::string>());
  } else if (json.is_boolean()) {
    EXPECT_EQ(node.flag(), json.get<bool>());
  } else if (json.is_number()) {
    EXPECT_EQ(node.number(), json.get<double>());
  } else {
    EXPECT_TRUE(node.is_null());
  }
}

const std::string kDocument = R"({
  "a": [1, -2.5e3, 0, -0, 0.125, 1E+2], "b": {"c": null, "d": true, "e": false},
  "text": "plain \"quoted\" \\ \/ \b\f\n\r\t \u0041 \u00e9 \ud83d\ude00 é 😀",
  "": {}, "list": [[], [[]], {"x": "y"}]
})";

// A number with an exponent of three or more digits: the other reader refuses what no double holds.
bool has_wide_exponent(const std::string& text) {
  static const std::regex kWide("[eE][+-]?[0-9]{3}");
  return std::regex_search(text, kWide);
}

TEST(Json, ReadsWhatTheOtherReaderReads) {
  expect_same(load_json_text(kDocument, "a.json"), nlohmann::json::parse(kDocument));
  for (const char* text : {"1", "\"x\"", "null", " [ ] ", "{\"a\":1}\n", "true"})
    expect_same(load_json_text(text, "a.json"), nlohmann::json::parse(text));
}

TEST(Json, DecodesSurrogatePairsLikeTheirUtf8) {
  EXPECT_EQ(load_json_text(R"(["\ud83d\ude00"])", "a.json").items()[0].text(), "\xf0\x9f\x98\x80");
  EXPECT_EQ(load_json_text(R"(["\u20ac"])", "a.json").items()[0].text(), "\xe2\x82\xac");
  EXPECT_EQ(refusal(R"(["\ud83d"])"), "a.json:1:9: half of a surrogate pair stands alone");
  EXPECT_NE(refusal(R"(["\ud83d\u0041"])"), "");
  EXPECT_NE(refusal(R"(["\ude00\ud83d"])"), "");
}

TEST(Json, RefusesEachFaultWithItsPlace) {
  EXPECT_EQ(refusal("{\"a\": 1,\n \"a\": 2}"), "a.json:2:2: the key 'a' stands here twice");
  EXPECT_EQ(refusal("{\"a\": 1} x"),
            "a.json:1:10: something stands behind the end of the JSON value");
  EXPECT_EQ(refusal("{\"a\": 1"),
            "a.json:1:8: the file ends where ',' or '}' is expected; is it cut off?");
  EXPECT_EQ(refusal("[1,\n  2,\n]"), "a.json:3:1: a ',' before ']' is not JSON");
  EXPECT_EQ(refusal("[tru]"), "a.json:1:2: a value is expected; got 'tru'; did you mean 'true'?");
  EXPECT_EQ(refusal("[01]"), "a.json:1:3: a number must not start with 0");
  EXPECT_EQ(refusal(""), "a.json:1:1: is empty; one JSON value is expected");
  for (const char* text : {"{a: 1}",
                           "{'a': 1}",
                           "[1 2]",
                           "// c\n1",
                           "[+1]",
                           "[.5]",
                           "[1.]",
                           "[1e]",
                           "[\"\t\"]",
                           "[\"\\x\"]",
                           "[\"abc",
                           "[NaN]",
                           "[Infinity]",
                           "\xef\xbb\xbf{}",
                           "[\"\xff\"]",
                           "[\"\xc0\x80\"]",
                           "[\"\xed\xa0\x80\"]",
                           "{\"a\"}",
                           "{\"a\":}",
                           "{1:2}",
                           "[,]",
                           "-"})
    EXPECT_TRUE(is_positioned_sentence(refusal(text), "a.json")) << text << " -> " << refusal(text);
}

TEST(Json, RefusesSizeAndDepthInOneSentence) {
  EXPECT_EQ(refusal(std::string(10'000'000, '[')),
            "a.json:1:1: the file is larger than 8 MB (8388608 bytes), the most that is read");
  EXPECT_EQ(refusal(std::string(8'000'000, '[')),
            "a.json:1:65: lists and maps are nested more than 64 deep");
  const std::string deep = std::string(kMaxDepth, '[') + std::string(kMaxDepth, ']');
  EXPECT_EQ(refusal(deep), "");
  EXPECT_NE(refusal("[" + deep + "]"), "");
  std::string wide = "[0";
  for (int i = 0; i < kMaxValues; ++i) wide += ",0";
  EXPECT_NE(refusal(wide + "]").find("more than 250000 values"), std::string::npos);
}

TEST(Json, EveryTruncationIsRefused) {
  for (size_t length = 0; length + 1 < kDocument.size(); ++length)
    EXPECT_TRUE(is_positioned_sentence(refusal(kDocument.substr(0, length)), "a.json")) << length;
}

// Accepts exactly what the other reader accepts, but for duplicate keys, which only ours refuses,
// and exponents beyond a double, which only the getters refuse.
TEST(Json, AgreesWithTheOtherReaderOnDamagedTexts) {
  std::mt19937_64 random(1);
  const std::vector<std::string> words = {
      "[",   "]", "{", "}",    ",", ":",  "\"", "\\u",    "\\ud83d", "null",
      "1e5", "-", "0", "true", " ", "\n", "//", "\"k\":", "\xe2\x82"};
  int accepted = 0, refused = 0;
  for (int i = 0; i < 15000; ++i) {
    const std::string text = mutate(kDocument, random, words);
    if (text.substr(0, 3) == "\xef\xbb\xbf" || has_wide_exponent(text)) continue;
    const std::string message = refusal(text);
    const bool theirs = nlohmann::json::accept(text);
    if (message.find("stands here twice") != std::string::npos) continue;
    EXPECT_EQ(message.empty(), theirs) << text << "\n" << message;
    if (!message.empty()) { EXPECT_TRUE(is_positioned_sentence(message, "a.json")) << message; }
    if (message.empty() && theirs)
      expect_same(load_json_text(text, "a.json"), nlohmann::json::parse(text));
    ++(theirs ? accepted : refused);
  }
  EXPECT_GT(accepted, 200);
  EXPECT_GT(refused, 2000);
}

}  // namespace
}  // namespace daybreak::configs
