#include "tests/e2e/program.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace daybreak::tests {

Outcome run_program(const std::vector<std::string>& words,
                    const std::vector<std::string>& environment, const std::string& folder) {
  const Folder kept;
  const std::string out = kept.path() + "/out", error = kept.path() + "/error";
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    for (const auto& setting : environment) {
      const size_t equals = setting.find('=');
      setenv(setting.substr(0, equals).c_str(), setting.substr(equals + 1).c_str(), 1);
    }
    if (!folder.empty() && chdir(folder.c_str()) != 0) _exit(126);
    if (!freopen(out.c_str(), "w", stdout) || !freopen(error.c_str(), "w", stderr)) _exit(126);
    std::vector<char*> arguments{const_cast<char*>("daybreak")};
    for (const auto& w : words) arguments.push_back(const_cast<char*>(w.c_str()));
    arguments.push_back(nullptr);
    execv(DAYBREAK_PROGRAM, arguments.data());
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  Outcome o;
  o.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  o.out = read_text(out);
  o.error = read_text(error);
  return o;
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::map<std::string, std::string> files_of(const std::string& folder) {
  namespace fs = std::filesystem;
  std::map<std::string, std::string> out;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      out[fs::relative(entry.path(), folder).string()] = read_text(entry.path().string());
  return out;
}

Folder::Folder() {
  std::string name = (std::filesystem::temp_directory_path() / "daybreak-test-XXXXXX").string();
  if (!mkdtemp(name.data())) throw std::runtime_error("mkdtemp failed");
  path_ = name;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string Folder::file(const std::string& name, const std::string& text) const {
  const std::string path = path_ + "/" + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

std::string data_file(const std::string& name) {
  const char* given = std::getenv("DAYBREAK_DATA");
  const std::string path =
      (given ? std::string(given) : std::string(DAYBREAK_SOURCE) + "/../shared") + "/" + name;
  return std::filesystem::exists(path) ? path : std::string();
}

std::vector<std::string> lines_with(const std::string& text, const std::string& word) {
  std::vector<std::string> found;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (line.find(word) != std::string::npos) found.push_back(line);
  return found;
}

}  // namespace daybreak::tests
