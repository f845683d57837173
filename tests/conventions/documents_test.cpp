// What the documents name exists.
#include <gtest/gtest.h>

#include <regex>

#include "tree.hpp"

namespace daybreak::conventions {
namespace {

constexpr const char* kDocuments[] = {"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"};

// Words in backquotes that start with a folder of the project and hold no placeholder.
std::vector<std::string> named_paths(const std::string& text) {
  std::vector<std::string> out;
  const std::regex quoted(
      "`((?:ref|isa|kernels|sim|traces|configs|tests|scripts|\\.ci)/[A-Za-z0-9_./-]*)");
  for (std::sregex_iterator at(text.begin(), text.end(), quoted), end; at != end; ++at) {
    const size_t after = size_t(at->position() + at->length());
    const char next = after < text.size() ? text[after] : '`';
    const std::string path = (*at)[1];
    if ((next == '`' || next == ' ') && path.find("NAME") == std::string::npos) out.push_back(path);
  }
  return out;
}

TEST(Documents, NamePathsThatExist) {
  for (const char* document : kDocuments) {
    const std::vector<std::string> paths = named_paths(read(document));
    EXPECT_GE(paths.size(), 5u) << document;
    for (const std::string& path : paths)
      EXPECT_TRUE(std::filesystem::exists(root() / path)) << document << " names " << path;
  }
}

TEST(Documents, LinkToFilesThatExist) {
  const std::regex link("\\]\\(([^)#:]+)\\)");
  for (const char* document : kDocuments) {
    const std::string text = read(document);
    for (std::sregex_iterator at(text.begin(), text.end(), link), end; at != end; ++at)
      EXPECT_TRUE(std::filesystem::exists(root() / (*at)[1].str()))
          << document << " links " << (*at)[1];
  }
}

TEST(Documents, EveryFolderOfTheLayoutIsDescribed) {
  const std::string text = read("ARCHITECTURE.md");
  for (const char* top : {"ref", "isa", "kernels", "sim", "traces"})
    for (const auto& entry : std::filesystem::directory_iterator(root() / top)) {
      if (!entry.is_directory() || std::filesystem::is_empty(entry.path())) continue;
      const std::string path = std::string(top) + "/" + entry.path().filename().string();
      EXPECT_NE(text.find("`" + path), std::string::npos)
          << "ARCHITECTURE.md does not name " << path;
    }
}

}  // namespace
}  // namespace daybreak::conventions
