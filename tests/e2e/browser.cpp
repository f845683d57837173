#include "tests/e2e/browser.hpp"

#include <cstdlib>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "tests/e2e/program.hpp"

namespace daybreak::tests {

bool has_browser() { return std::system("command -v chromium >/dev/null 2>&1") == 0; }

Rendered render(const std::string& file, int width, const std::string& probe) {
  // The browser's own window does not get narrower than 500 pixels: the page stands in a frame.
  std::string page = nlohmann::json(read_text(file)).dump();
  for (size_t at = 0; (at = page.find("</", at)) != std::string::npos; at += 3)
    page.replace(at, 2, "<\\/");
  const Folder folder;
  const std::string outer = folder.file(
      "outer.html",
      "<!doctype html><body><script>const f = document.createElement('iframe');"
      "f.style = 'border:0;width:" +
          std::to_string(width) + "px;height:2000px'; f.srcdoc = " + page +
          "; f.onload = () => { const doc = f.contentDocument, e = document.createElement('pre');"
          "e.textContent = JSON.stringify({width: doc.documentElement.scrollWidth, answer: String(" +
          probe + ")}); f.remove(); document.body.append(e); }; document.body.append(f);</script>");
  const std::string dom = folder.path() + "/dom", log = folder.path() + "/log";
  const std::string command =
      "chromium --headless --no-sandbox --disable-gpu --enable-logging=stderr --user-data-dir=" +
      folder.path() + "/profile --dump-dom file://" + outer + " >" + dom + " 2>" + log;
  if (std::system(command.c_str()) != 0) throw std::runtime_error(read_text(log));
  Rendered out;
  for (const auto& line : lines_with(read_text(log), "CONSOLE")) out.console += line + "\n";
  const std::string text = read_text(dom);
  const size_t begin = text.find("<pre>"), end = text.find("</pre>");
  if (begin == std::string::npos || end == std::string::npos)
    throw std::runtime_error("the page was not loaded: " + out.console);
  const auto seen = nlohmann::json::parse(text.substr(begin + 5, end - begin - 5));
  out.answer = seen["answer"];
  out.width = seen["width"];
  return out;
}

}  // namespace daybreak::tests
