#include "tests/kernels/machines/interleaver.hpp"

#include <cstring>
#include <deque>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace daybreak::testing {

namespace {

using isa::Queue;

class Interleaver {
 public:
  Interleaver(const isa::TaskProgram& p, const isa::Capabilities& chip, isa::MemoryImage& memory,
              const isa::BindingTable& bindings, SharedCounters& shared, const InterleaveOptions& o)
      : program_(p),
        scratch_(sizes(p, chip)),
        shared_(shared),
        options_(o),
        random_(o.seed),
        context_{scratch_, memory, p.tensors, bindings},
        counts_(256, 0) {
    for (int s = 0; s < isa::kSpaces; ++s) {
      auto bytes = scratch_.bytes(isa::Space(s));
      if (!bytes.empty()) std::memset(bytes.data(), 0xFF, bytes.size());
    }
  }

  void run() {
    while (retired_ < program_.code.size()) {
      std::vector<std::function<bool()>> moves{[&] { return issue(); }};
      for (int q = 0; q < isa::kQueues; ++q) {
        moves.push_back([&, q] { return start(q); });
        moves.push_back([&, q] { return execute(q); });
        moves.push_back([&, q] { return retire(q); });
      }
      std::shuffle(moves.begin(), moves.end(), random_);
      bool moved = false;
      for (auto& move : moves)
        if ((moved = move())) break;
      if (!moved) throw std::runtime_error("deadlock at " + where());
    }
  }

 private:
  struct Flight {
    size_t entry;
    bool executed;
  };
  struct Line {
    std::deque<size_t> waiting;
    std::deque<Flight> flying;
  };

  static std::array<Bytes, isa::kSpaces> sizes(const isa::TaskProgram& p,
                                               const isa::Capabilities& chip) {
    std::array<Bytes, isa::kSpaces> s;
    for (int i = 0; i < isa::kSpaces; ++i)
      s[i] = chip.scratch[i].value > 0 ? chip.scratch[i] : p.scratch[i];
    return s;
  }
  static bool dma(int q) { return Queue(q) == Queue::dma_in || Queue(q) == Queue::dma_out; }

  bool issue() {
    if (issued_ == program_.code.size()) return false;
    const int q = int(isa::queue_of(program_.code[issued_].instruction));
    Line& control = lines_[int(Queue::control)];
    if (!control.waiting.empty() || !control.flying.empty()) return false;
    if (options_.queue_depth && int(lines_[q].waiting.size()) >= options_.queue_depth) return false;
    lines_[q].waiting.push_back(issued_++);
    return true;
  }

  bool start(int q) {
    Line& line = lines_[q];
    if (line.waiting.empty()) return false;
    const isa::Entry& e = program_.code[line.waiting.front()];
    const int most = dma(q) && !e.fence ? options_.overlap : 1;
    if (int(line.flying.size()) >= most) return false;
    std::vector<int> want(256, 0);
    for (isa::SemaphoreId s : e.waits)
      if (++want[s.value] > counts_[s.value]) return false;
    if (const auto* wait = std::get_if<isa::Wait>(&e.instruction))
      if (shared_[wait->semaphore] < wait->count) return false;
    for (isa::SemaphoreId s : e.waits) --counts_[s.value];
    line.flying.push_back({line.waiting.front(), false});
    line.waiting.pop_front();
    return true;
  }

  bool execute(int q) {
    std::vector<Flight*> ready;
    for (Flight& f : lines_[q].flying)
      if (!f.executed) ready.push_back(&f);
    if (ready.empty()) return false;
    Flight& f = *ready[random_() % ready.size()];
    const isa::Entry& e = program_.code[f.entry];
    if (e.live || !options_.only_live) isa::execute(e.instruction, context_);
    f.executed = true;
    return true;
  }

  bool retire(int q) {
    Line& line = lines_[q];
    if (line.flying.empty() || !line.flying.front().executed) return false;
    const isa::Entry& e = program_.code[line.flying.front().entry];
    for (isa::SemaphoreId s : e.signals)
      if (counts_[s.value] >= options_.semaphore_max) return false;
    for (isa::SemaphoreId s : e.signals) ++counts_[s.value];
    if (const auto* signal = std::get_if<isa::Signal>(&e.instruction)) ++shared_[signal->semaphore];
    line.flying.pop_front();
    ++retired_;
    return true;
  }

  std::string where() const {
    std::string text = program_.kernel + " task " + std::to_string(program_.task) + ": ";
    for (int q = 0; q < isa::kQueues; ++q) {
      if (lines_[q].waiting.empty()) continue;
      const size_t i = lines_[q].waiting.front();
      text += std::string(isa::name_of(Queue(q))) + " at entry " + std::to_string(i) + " (" +
              std::string(isa::name_of(program_.code[i].instruction)) + "); ";
    }
    return text;
  }

  const isa::TaskProgram& program_;
  isa::Scratch scratch_;
  SharedCounters& shared_;
  InterleaveOptions options_;
  std::mt19937_64 random_;
  isa::Context context_;
  std::vector<int64_t> counts_;
  std::array<Line, isa::kQueues> lines_;
  size_t issued_ = 0, retired_ = 0;
};

}  // namespace

void run_interleaved(const isa::TaskProgram& p, const isa::Capabilities& chip,
                     isa::MemoryImage& memory, const isa::BindingTable& bindings,
                     SharedCounters& shared, const InterleaveOptions& options) {
  Interleaver(p, chip, memory, bindings, shared, options).run();
}

}  // namespace daybreak::testing
