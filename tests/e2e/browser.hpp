// Pages in a real browser without a window, from file://.
#pragma once
#include <string>

namespace daybreak::tests {

bool has_browser();  // Chromium

struct Rendered {
  std::string answer;   // of the probe
  std::string console;  // errors and messages of the page, one a line
  int width =
      0;  // of the page's content; more than the window's when it has to be scrolled sideways
};

// Opens a page in a window of that width. `probe`: a JavaScript expression over `doc`, the page's document
// when its script has run; its value becomes text.
Rendered render(const std::string& file, int width, const std::string& probe);

}  // namespace daybreak::tests
