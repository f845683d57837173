#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "configs/reader/loader.hpp"
#include "configs/reader/words.hpp"

namespace daybreak::configs {
namespace fs = std::filesystem;
namespace {

// The configs folder: $DAYBREAK_CONFIGS, else the source tree's, else beside the executable.
fs::path configs_folder() {
  if (const char* given = std::getenv("DAYBREAK_CONFIGS"); given && *given) return given;
  std::error_code ignored;
  if (fs::is_directory(DAYBREAK_SOURCE_CONFIGS, ignored)) return DAYBREAK_SOURCE_CONFIGS;
  const fs::path self = fs::read_symlink("/proc/self/exe", ignored);
  return self.parent_path() / "configs";
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

void check_size(size_t bytes, const std::string& name, size_t most) {
  if (bytes > most)
    throw UserError(Position{name, 1, 1}, "the file is larger than " + std::to_string(most >> 20) +
                                              " MB (" + std::to_string(most) +
                                              " bytes), the most that is read");
}

std::string read_file(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) throw UserError(Position{path}, "is a folder, not a file");
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in)
    throw UserError(Position{path}, std::string("cannot be read: ") +
                                        (errno == EACCES ? "permission denied" : "no such file"));
  std::string text(kMaxFileBytes + 1, '\0');
  in.read(text.data(), std::streamsize(text.size()));
  text.resize(size_t(in.gcount()));
  if (in.bad()) throw UserError(Position{path}, "cannot be read: input error");
  check_size(text.size(), path, kMaxFileBytes);
  return text;
}

Node load_file(const std::string& path) {
  const std::string text = read_file(path);
  return ends_with(path, ".json") ? load_json_text(text, path) : load_yaml_text(text, path);
}

std::vector<std::string> preset_names(const std::string& folder, const std::string& suffix) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(configs_folder() / folder, error), end; !error && it != end;
       it.increment(error)) {
    const std::string file = it->path().filename().string();
    if (file.size() > suffix.size() && ends_with(file, suffix))
      names.push_back(file.substr(0, file.size() - suffix.size()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

Located locate(const std::string& name_or_file, const std::string& folder,
               const std::string& suffix) {
  const bool is_path = name_or_file.find('/') != std::string::npos ||
                       ends_with(name_or_file, suffix) || name_or_file.empty();
  if (is_path) return {.path = name_or_file, .shown = name_or_file};
  const auto known = preset_names(folder, suffix);
  if (std::find(known.begin(), known.end(), name_or_file) != known.end()) {
    const std::string file = name_or_file + suffix;
    return {.path = (configs_folder() / folder / file).string(),
            .shown = "configs/" + folder + "/" + file};
  }
  throw UserError(in_quotes(name_or_file) + " is neither a preset in configs/" + folder +
                  " nor a path (with a '/' or ending in " + suffix + "); presets are " +
                  (known.empty() ? "missing" : any_of(known)) + did_you_mean(name_or_file, known));
}

}  // namespace daybreak::configs
