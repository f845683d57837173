// What a call says when it refuses user input; empty when it does not.
#pragma once
#include <string>

#include "configs/reader/errors.hpp"

namespace daybreak {

template <class F> std::string error_of(F&& call) {
  try {
    call();
  } catch (const UserError& error) { return error.what(); }
  return "";
}

// One sentence: a single line that starts with "NAME:LINE:COLUMN: ".
inline bool is_positioned_sentence(const std::string& message, const std::string& name) {
  if (message.rfind(name + ":", 0) != 0 || message.find('\n') != std::string::npos) return false;
  size_t at = name.size() + 1;
  for (const char end : {':', ':'}) {
    const size_t digits = message.find_first_not_of("0123456789", at);
    if (digits == at || digits == std::string::npos || message[digits] != end) return false;
    at = digits + 1;
  }
  return message.size() > at + 1 && message[at] == ' ';
}

}  // namespace daybreak
