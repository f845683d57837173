#include "traces/report/page.hpp"

#include "configs/reader/errors.hpp"

namespace daybreak::traces {
namespace {

void put(std::string& text, const std::string& mark, const std::string& part) {
  const size_t at = text.find(mark);
  if (at == std::string::npos) throw InvariantError("the frame of a page has no place for " + mark);
  text.replace(at, mark.size(), part);
}

}  // namespace

std::string page(const char* script, std::string data) {
  // Nothing inside the data may end the element that holds it.
  for (size_t at = 0; (at = data.find("</", at)) != std::string::npos; at += 3)
    data.replace(at, 2, "<\\/");
  std::string out = kPageFrame;
  put(out, "@SCRIPT@", script);  // behind the data: the data may say anything
  put(out, "@DATA@", data);
  return out;
}

}  // namespace daybreak::traces
