#include "tree.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace daybreak::conventions {
namespace fs = std::filesystem;
namespace {

// What .gitignore leaves out, and what git keeps for itself.
bool foreign(const std::string& name) {
  return name.starts_with("build") || name == "out" || name == "node_modules" ||
         name == "compile_commands.json" || (name.starts_with(".") && name != ".ci");
}

}  // namespace

std::string_view SourceFile::extension() const {
  const size_t dot = path.rfind('.');
  return dot == std::string::npos ? std::string_view() : std::string_view(path).substr(dot);
}

std::vector<std::string_view> SourceFile::lines() const {
  std::vector<std::string_view> out;
  const std::string_view all = text;
  for (size_t at = 0; at < all.size();) {
    const size_t end = std::min(all.find('\n', at), all.size());
    out.push_back(all.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

fs::path root() { return DAYBREAK_SOURCE; }

std::string read(const std::string& path) {
  std::ifstream in(root() / path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::vector<std::string> top_level() {
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(root()))
    if (const std::string name = entry.path().filename().string(); !foreign(name))
      out.push_back(name);
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<SourceFile> files(const std::string& under) {
  std::vector<SourceFile> out;
  for (const std::string& top : top_level()) {
    if (fs::is_regular_file(root() / top)) {
      out.push_back({top, read(top)});
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(root() / top))
      if (entry.is_regular_file()) {
        std::string path = fs::relative(entry.path(), root()).generic_string();
        out.push_back({path, read(path)});
      }
  }
  std::erase_if(out, [&](const SourceFile& f) { return !f.path.starts_with(under); });
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return out;
}

std::vector<SourceFile> sources() {
  std::vector<SourceFile> out = files();
  std::erase_if(out, [](const SourceFile& f) {
    const std::string_view e = f.extension();
    return e != ".hpp" && e != ".cpp" && e != ".cuh" && e != ".cu";
  });
  return out;
}

}  // namespace daybreak::conventions
