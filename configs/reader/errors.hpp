// The three ways a run can end badly (design rule: what the user wrote, what the numbers say, what
// we broke). Everything below throws one of these; only the command line turns them into exit
// codes.
#pragma once
#include <stdexcept>
#include <string>

namespace daybreak {

// Where in a user's file something stands. Lines and columns count from 1; 0 means "not known".
struct Position {
  std::string file;
  int line = 0;
  int column = 0;
  // "file:line:column", without the parts that are not known.
  std::string text() const {
    std::string out = file;
    if (line <= 0) return out;
    out.append(1, ':').append(std::to_string(line));
    if (column > 0) out.append(1, ':').append(std::to_string(column));
    return out;
  }
};

// User input that cannot be used: one sentence with its position and what would be allowed. Exit 2.
struct UserError : std::runtime_error {
  explicit UserError(const std::string& sentence) : std::runtime_error(sentence) {}
  UserError(const Position& at, const std::string& sentence)
      : std::runtime_error(at.text() + ": " + sentence) {}
};

// A numeric check that failed: the worst element and where. Exit 1.
struct CheckError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A broken invariant of the program or of a kernel: simulation time and module path first. Exit 3.
struct InvariantError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace daybreak
