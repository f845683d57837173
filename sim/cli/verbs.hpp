// The verbs of the command line. Each returns the exit code of a run that went well in itself: 0, or 1
// when a verdict failed; everything else is thrown (configs/reader/errors.hpp).
#pragma once
#include <string>
#include <vector>

#include "sim/cli/options.hpp"

namespace daybreak::cli {

struct Day0Options {
  std::string model;  // config.json, or a name in configs/models
  std::string phase = "decode";
  int64_t context = 32768, batch = 1, queries = 1;
  bool beyond_max = false;       // allow a context past the model's maximum
  std::string form = "both";     // separate, fused or both
  std::string experts = "auto";  // the layer's routed experts too: on, off, or for up to 8 tokens
};

int day0(const Day0Options&, const CommonOptions&);
int run(const std::string& kernel, const std::vector<std::string>& words, const CommonOptions&);
int study(const std::string& file, const CommonOptions&);
int list_kernels(const CommonOptions&);
int list_chips(const CommonOptions&);
int explain(const std::string& knob, const CommonOptions&);
int schema(const std::string& what);
int assemble_file(const std::string& file, const std::string& out);
// A text or binary program file, or a kernel's program: `what` is a file or a kernel with its words.
int disassemble(const std::string& what, const std::vector<std::string>& words, int64_t task,
                const CommonOptions&);

}  // namespace daybreak::cli
