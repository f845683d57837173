// Runs the built program as a user does, and keeps what it said.
#pragma once
#include <map>
#include <string>
#include <vector>

namespace daybreak::tests {

struct Outcome {
  int code = -1;           // exit status; 128 + signal when a signal ended it
  std::string out, error;  // standard output and error
};

// `words` are passed as they are, without a shell. `environment`: NAME=VALUE on top of the test's own.
Outcome run_program(const std::vector<std::string>& words,
                    const std::vector<std::string>& environment = {},
                    const std::string& folder = "");

std::string read_text(const std::string& path);
// Every file below a folder, by name.
std::map<std::string, std::string> files_of(const std::string& folder);
// A fresh folder that the test's end removes.
class Folder {
 public:
  Folder();
  ~Folder();
  const std::string& path() const { return path_; }
  std::string file(const std::string& name,
                   const std::string& text) const;  // writes it, gives its path

 private:
  std::string path_;
};

// Third-party data: $DAYBREAK_DATA, else ../shared beside the source; empty when the file is absent.
std::string data_file(const std::string& name);
// Lines of `text` that contain `word`.
std::vector<std::string> lines_with(const std::string& text, const std::string& word);

}  // namespace daybreak::tests
