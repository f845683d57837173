#include "configs/reader/setting.hpp"

namespace daybreak::configs {

Setting parse_setting(const std::string& text, const Position& at) {
  const auto trim = [](std::string s) {
    const auto first = s.find_first_not_of(" \t"), last = s.find_last_not_of(" \t");
    return first == std::string::npos ? std::string() : s.substr(first, last - first + 1);
  };
  const size_t equals = text.find('=');
  if (equals == std::string::npos)
    throw UserError(at, "a setting has the form path=value, such as chip.core.dma.outstanding=32");
  Setting setting{
      .path = trim(text.substr(0, equals)), .value = trim(text.substr(equals + 1)), .at = at};
  if (setting.path.empty() || setting.value.empty())
    throw UserError(at, "a setting has the form path=value, and neither side may be empty");
  return setting;
}

Setting command_line_setting(const std::string& text) {
  return parse_setting(text, Position{.file = "--set " + text});
}

}  // namespace daybreak::configs
