// The one way a user's YAML or JSON file enters the program. Size and depth are bounded before
// anything is built, so a hostile file costs one sentence. YAML goes through yaml-cpp's events;
// anchors, aliases, tags and further documents are refused. JSON is read by a strict reader of our
// own: yaml-cpp accepts much that is not JSON, limits keys to 1024 characters and splits surrogate
// pairs.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "configs/reader/node.hpp"

namespace daybreak::configs {

inline constexpr size_t kMaxFileBytes = 8u << 20;
// yaml-cpp takes seconds per MB for hostile texts, so YAML, which people write by hand, has its own
// cap.
inline constexpr size_t kMaxYamlBytes = 1u << 20;
inline constexpr int kMaxDepth = 64;        // lists and maps inside each other
inline constexpr int kMaxValues = 250'000;  // nodes of one file

// The bytes of a file; UserError when it cannot be read or is larger than kMaxFileBytes.
std::string read_file(const std::string& path);
// UserError when `bytes` is more than `most`, a whole number of MB.
void check_size(size_t bytes, const std::string& name, size_t most);

// `name` is the path as the user gave it; it starts every message.
Node load_yaml_text(std::string_view text, const std::string& name);
Node load_json_text(std::string_view text, const std::string& name);
// By file: JSON when the name ends in .json, else YAML.
Node load_file(const std::string& path);

// A preset by name or a file by path. `folder` is "chips", "models", "studies", ...; `suffix`
// ".yaml". A name without slash and suffix is looked up in the configs folder: $DAYBREAK_CONFIGS,
// else the source tree's, else beside the executable.
struct Located {
  std::string path;   // to open
  std::string shown;  // for messages: as the user gave it, or "configs/chips/mx-dma.yaml"
};
Located locate(const std::string& name_or_file, const std::string& folder,
               const std::string& suffix);
// Names of the presets in a folder, sorted.
std::vector<std::string> preset_names(const std::string& folder, const std::string& suffix);

}  // namespace daybreak::configs
