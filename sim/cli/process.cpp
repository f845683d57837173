#include "sim/cli/process.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "configs/reader/errors.hpp"
#include "configs/reader/loader.hpp"

namespace daybreak::cli {

Scratch::Scratch() {
  std::string name = (std::filesystem::temp_directory_path() / "daybreak-XXXXXX").string();
  if (!mkdtemp(name.data())) throw UserError(name + ": the folder cannot be made");
  path_ = name;
}

Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

pid_t start_again(std::vector<std::string> words, const std::string& errors) {
  words.insert(words.begin(), "daybreak");
  std::vector<char*> arguments;
  for (std::string& w : words) arguments.push_back(w.data());
  arguments.push_back(nullptr);
  const pid_t parent = getpid(), child = fork();
  if (child < 0) throw UserError("no process can be started");
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // it ended before the line above
  if (!freopen("/dev/null", "w", stdout)) _exit(127);
  if (!errors.empty() && !freopen(errors.c_str(), "w", stderr)) _exit(127);
  execv("/proc/self/exe", arguments.data());
  _exit(127);
}

int exit_status(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

int run_again(std::vector<std::string> words, const std::string& errors) {
  const pid_t child = start_again(std::move(words), errors);
  int status = 0;
  waitpid(child, &status, 0);
  return exit_status(status);
}

Captured capture(std::vector<std::string> words) {
  const Scratch scratch;
  const std::string out = scratch.path() + "/out", error = scratch.path() + "/error";
  std::vector<char*> arguments;
  for (std::string& w : words) arguments.push_back(w.data());
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) throw UserError("no process can be started");
  if (child == 0) {
    if (!freopen(out.c_str(), "w", stdout) || !freopen(error.c_str(), "w", stderr)) _exit(127);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  Captured said{.code = exit_status(status)};
  for (const auto& [text, file] : {std::pair{&said.out, &out}, {&said.error, &error}}) {
    if (std::filesystem::exists(*file)) *text = configs::read_file(*file);
    while (!text->empty() && text->back() == '\n') text->pop_back();
  }
  return said;
}

}  // namespace daybreak::cli
