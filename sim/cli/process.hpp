// This program once more, as a process of its own: its state is made for one simulation. And others.
#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

namespace daybreak::cli {

// A folder below the temporary one that goes away again.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Starts it without standard output; standard error goes to `errors`, or stays when that is empty.
// It ends when the one that started it ends.
pid_t start_again(std::vector<std::string> words, const std::string& errors = {});
// Exit status as a shell gives it: 128 + signal when a signal ended it.
int exit_status(int wait_status);
int run_again(std::vector<std::string> words, const std::string& errors = {});

// Another program, found by PATH, and what it wrote; 127 when there is none.
struct Captured {
  int code = 127;
  std::string out, error;
};
Captured capture(std::vector<std::string> words);

}  // namespace daybreak::cli
