// The files of the checkout, as text.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace daybreak::conventions {

struct SourceFile {
  std::string path;  // relative to the root, with '/'
  std::string text;
  std::string_view extension() const;
  std::vector<std::string_view> lines() const;
};

std::filesystem::path root();
// Every text file that belongs to the project, in order of path: no build folders, outputs or
// hidden files except those of .ci. `under` limits it to a folder.
std::vector<SourceFile> files(const std::string& under = "");
std::vector<SourceFile> sources();  // *.hpp and *.cpp
std::string read(const std::string& path);
// Names in the top folder that belong to the project.
std::vector<std::string> top_level();

}  // namespace daybreak::conventions
