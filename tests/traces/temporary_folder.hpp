// A folder for one test, removed afterwards.
#pragma once
#include <unistd.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace daybreak::traces {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string form = (std::filesystem::temp_directory_path() / "daybreak.XXXXXX").string();
    if (!mkdtemp(form.data())) throw std::runtime_error("no temporary folder");
    path_ = form;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::string path() const { return path_.string(); }
  size_t entries() const {
    size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(path_)) ++count;
    return count;
  }

 private:
  std::filesystem::path path_;
};

inline std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

}  // namespace daybreak::traces
