// daybreak-cuda: the kernels on a real GPU.
//   daybreak-cuda verify [small] [only=TEXT] [seed=N] [vectors=FOLDER]
//   daybreak-cuda bench [only=TEXT] [seed=N] [peers=FILE] [out=FOLDER]
#include <cstdio>

#include "configs/reader/errors.hpp"
#include "tests/device/program.cuh"

namespace daybreak::device {
namespace {

int run(int argc, char** argv) {
  Report report;
  std::string verb = argc > 1 ? argv[1] : "", sizes = "all", vectors = "tests/vectors", peers, out;
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    const size_t equals = word.find('=');
    const std::string key = word.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (word == "small")
      sizes = word;
    else if (key == "only")
      report.only = value;
    else if (key == "seed")
      report.seed = std::stoull(value);
    else if (key == "vectors")
      vectors = value;
    else if (key == "peers")
      peers = value;
    else if (key == "out")
      out = value;
    else
      throw UserError("daybreak-cuda: " + word +
                      " is not small, only=, seed=, vectors=, peers= or out=");
  }
  if (verb == "verify") {
    verify(report, sizes, vectors);
    printf("%d passed, %d failed\n", report.passed, report.failed);
    return report.failed > 0;
  }
  if (verb != "bench") throw UserError("daybreak-cuda takes the verb verify or bench");
  bench(report, peers, out);
  return 0;
}

}  // namespace
}  // namespace daybreak::device

int main(int argc, char** argv) {
  try {
    return daybreak::device::run(argc, argv);
  } catch (const daybreak::UserError& e) {
    fprintf(stderr, "%s\n", e.what());
    return 2;
  } catch (const std::exception& e) {
    fprintf(stderr, "%s\n", e.what());
    return 3;
  }
}
