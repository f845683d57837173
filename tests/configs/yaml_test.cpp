#include <gtest/gtest.h>

#include "configs/reader/loader.hpp"
#include "tests/configs/errors_of.hpp"
#include "tests/configs/mutate.hpp"

namespace daybreak::configs {
namespace {

Node load(const std::string& text) { return load_yaml_text(text, "c.yaml"); }
std::string refusal(const std::string& text) {
  return error_of([&] { load(text); });
}

TEST(Yaml, KeepsOrderPlacesAndQuotes) {
  const Node root = load("b: 1\na:\n  - x\n  - 'true'\n  - {k: \"v\"}\nnone:\n");
  ASSERT_EQ(root.keys().size(), 3u);
  EXPECT_EQ(root.keys()[0].name, "b");
  const Node& list = root.require("a");
  EXPECT_EQ(list.items()[1].at().text(), "c.yaml:4:5");
  EXPECT_TRUE(list.items()[1].is_text());
  EXPECT_FALSE(list.items()[0].is_text());
  EXPECT_EQ(list.items()[2].string_at("k"), "v");
  EXPECT_TRUE(root.require("none").is_null());
  EXPECT_FALSE(root.has("none"));
}

TEST(Yaml, GettersSayWhatIsAllowed) {
  const Node root =
      load("n: 3\nf: 2.5\nt: yes\nlist: [1]\nq: '7'\nbig: 1e3\nhuge: 99999999999999999999\n");
  EXPECT_EQ(root.integer_at("n", 1, 9), 3);
  EXPECT_EQ(root.integer_at("big", 0, 1000), 1000);
  EXPECT_EQ(root.number_at("f", 0, 3), 2.5);
  EXPECT_EQ(root.integer_or("absent", 5, 0, 9), 5);
  EXPECT_EQ(error_of([&] { root.integer_at("n", 4, 9); }),
            "c.yaml:1:4: 'n' must be a whole number from 4 to 9; got '3'");
  EXPECT_EQ(error_of([&] { root.integer_at("f", 0, 9); }),
            "c.yaml:2:4: 'f' must be a whole number from 0 to 9; got '2.5'");
  EXPECT_EQ(error_of([&] { root.integer_at("q", 0, 9); }),
            "c.yaml:5:4: 'q' must be a whole number from 0 to 9; got the text '7'");
  EXPECT_EQ(error_of([&] { root.flag_at("t"); }),
            "c.yaml:3:4: 't' must be true or false; got 'yes'");
  EXPECT_EQ(error_of([&] { root.integer_at("list", 0, 9); }),
            "c.yaml:4:7: 'list' must be a whole number from 0 to 9, not a list");
  EXPECT_EQ(error_of([&] { root.require("n").items(); }),
            "c.yaml:1:4: 'n' must be a list, not a value");
  EXPECT_NE(error_of([&] { root.integer_at("huge", 0, 9); }), "");
  EXPECT_EQ(error_of([&] { root.require("lst"); }), "c.yaml:1:1: the key 'lst' is missing");
  EXPECT_EQ(
      error_of([&] {
        root.only({"n", "f", "t", "list", "q", "bug", "huge"});
      }),
      "c.yaml:6:1: unknown key 'big'; allowed are n, f, t, list, q, bug or huge; did you mean 'bug'?");
}

TEST(Yaml, RefusesWhatAFileMayNotSay) {
  EXPECT_EQ(refusal("a: 1\na: 2\n"), "c.yaml:2:1: the key 'a' stands here twice");
  EXPECT_EQ(refusal("a: &x 1\nb: *x\n"), "c.yaml:1:4: anchors ('&name') are not allowed");
  EXPECT_EQ(refusal("a: !!int 1\n"), "c.yaml:1:4: tags ('!name') are not allowed");
  EXPECT_NE(refusal("a: 1\n---\nb: 2\n").find("second document"), std::string::npos);
  EXPECT_EQ(refusal("[a]: 1\n"), "c.yaml:1:1: a key must be a single value");
  EXPECT_EQ(refusal(""), "c.yaml:1:1: the file is empty");
  EXPECT_EQ(refusal("a: \x01\n"), "c.yaml:1:4: a control character is not allowed here");
  EXPECT_EQ(refusal("a: 1\nb: \xff\n"), "c.yaml:2:4: this is not valid UTF-8");
  for (const char* text :
       {"a: [1, 2", "a: {b", "a: \"x", "a: b: c", "\ta: 1", "a: 1\n b: 2\n", "? [a]\n: b"})
    EXPECT_TRUE(is_positioned_sentence(refusal(text), "c.yaml")) << text << " -> " << refusal(text);
}

TEST(Yaml, RefusesSizeAndDepthInOneSentence) {
  EXPECT_EQ(refusal(std::string(10'000'000, '[')),
            "c.yaml:1:1: the file is larger than 1 MB (1048576 bytes), the most that is read");
  EXPECT_EQ(refusal(std::string(1'000'000, '[')),
            "c.yaml:1:65: lists and maps are nested more than 64 deep");
  std::string steps;
  for (int i = 0; i < 300; ++i) steps += std::string(size_t(i), ' ') + "a:\n";
  EXPECT_NE(refusal(steps).find("nested more than 64 deep"), std::string::npos);
  std::string dashes;
  for (int i = 0; i < 100000; ++i) dashes += "- ";
  EXPECT_NE(refusal(dashes), "");
}

TEST(Yaml, DamagedTextsNeverDoWorseThanASentence) {
  std::mt19937_64 random(2);
  const std::string document =
      "title: \"x y\"\nruns:\n  - name: a\n    args: {k: [1, 2], 'm': n}\n"
      "  - name: b\n    set: {chip.cores: 1}\n# note\nlast: |\n  block\n  text\n";
  const std::vector<std::string> words = {"[",  "]",  "{", "}",   ":",  ": ",  "- ",  "\n",
                                          "  ", "\"", "'", "&a ", "*a", "!t ", "---", "...",
                                          "?",  "|",  ">", "#",   "%",  "\t",  "\\"};
  int accepted = 0, refused = 0;
  for (int i = 0; i < 6000; ++i) {
    const std::string message = refusal(mutate(document, random, words));
    ++(message.empty() ? accepted : refused);
    if (!message.empty()) { EXPECT_TRUE(is_positioned_sentence(message, "c.yaml")) << message; }
  }
  EXPECT_GT(accepted, 150);
  EXPECT_GT(refused, 1500);
}

TEST(Files, MissingOnesAndFoldersAreNamedAsGiven) {
  EXPECT_EQ(error_of([] { load_file("no/such/file.yaml"); }),
            "no/such/file.yaml: cannot be read: no such file");
  EXPECT_EQ(error_of([] { load_file("/"); }), "/: is a folder, not a file");
  EXPECT_NE(error_of([] { locate("mx-dna", "chips", ".yaml"); }).find("did you mean 'mx-dma'?"),
            std::string::npos);
  EXPECT_EQ(locate("mx-dma", "chips", ".yaml").shown, "configs/chips/mx-dma.yaml");
  EXPECT_EQ(locate("x/mx-dma.yaml", "chips", ".yaml").shown, "x/mx-dma.yaml");
}

}  // namespace
}  // namespace daybreak::configs
