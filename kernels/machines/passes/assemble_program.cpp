#include <algorithm>
#include <charconv>

#include "configs/reader/errors.hpp"
#include "kernels/machines/passes/passes.hpp"

namespace daybreak::kernels {

namespace {

// Most signals that stand untaken when the program runs in issue order. Within that bound no signal
// can block: whoever must take it is issued before the next one is given.
uint32_t most_untaken(const std::vector<Edge>& edges) {
  uint32_t most = 0;
  size_t taken = 0;
  for (size_t given = 0; given < edges.size(); ++given) {
    while (taken < given && edges[taken].to <= edges[given].from) ++taken;
    most = std::max(most, uint32_t(given - taken + 1));
  }
  return most;
}

std::string label(const std::string& body, int32_t step) {
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof digits, step).ptr;
  std::string text;
  text.reserve(body.size() + 1 + (end - digits));
  text += body;
  text += ' ';
  text.append(digits, end);
  return text;
}

}  // namespace

isa::TaskProgram assemble_program(Recording& r, const std::vector<QueueEdges>& pairs,
                                  const std::vector<bool>& live, const isa::Capabilities& chip) {
  isa::TaskProgram program;
  program.tensors = std::move(r.tensors);
  program.code.resize(r.code.size());
  for (size_t i = 0; i < r.code.size(); ++i) {
    isa::Entry& e = program.code[i];
    e.instruction = std::move(r.code[i].instruction);
    e.fence = r.code[i].fence;
    e.live = live[i];
    e.label = label(r.names[r.code[i].body], r.code[i].step);
  }
  int64_t used = 0;
  for (const QueueEdges& pair : pairs) {
    if (pair.edges.empty()) continue;
    const int64_t limit = std::max<int64_t>(1, chip.semaphore_max);
    const int64_t count = (most_untaken(pair.edges) + limit - 1) / limit;
    if (used + count > std::min<int64_t>(chip.max_semaphores, 256))
      throw UserError(
          "a program needs more than the " + std::to_string(chip.max_semaphores) +
          " semaphores the chip has; more semaphores or a larger semaphore count are allowed");
    for (size_t k = 0; k < pair.edges.size(); ++k) {
      const isa::SemaphoreId semaphore{uint8_t(used + int64_t(k) % count)};
      program.code[pair.edges[k].from].signals.push_back(semaphore);
      program.code[pair.edges[k].to].waits.push_back(semaphore);
    }
    used += count;
  }
  program.semaphores = uint32_t(used);
  return program;
}

}  // namespace daybreak::kernels
