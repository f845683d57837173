// Machine Record: every operation appends one instruction over virtual tiles; passes then turn the
// list into a program for one chip: rules of legalise (kernels/machines/legalise), placement and
// allocation of scratch, order and semaphores, the steering slice. The result executes to the bits
// of Host.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "isa/memory/image.hpp"
#include "isa/program/program.hpp"
#include "kernels/machines/emit.hpp"
#include "kernels/machines/legalise/rules.hpp"
#include "kernels/machines/recording.hpp"
#include "kernels/tile/tuning.hpp"

namespace daybreak::kernels {

// What recording a task needs to know of the run.
struct RecordContext {
  const isa::Capabilities& capabilities;
  const isa::MemoryImage& memory;  // read by task() only
  const isa::BindingTable& bindings;
  // Values steering: whether what tasks store to a binding steers later launches. Empty: all values
  // are kept (every entry is live).
  std::function<bool(uint16_t binding)> needed = nullptr;
  // What task() reads instead of memory, where a program is tried before its inputs are there.
  std::optional<int32_t> assumed_read = std::nullopt;
  // Where converted weights lie; none: in scratch.
  std::optional<MemoryWorkspace> workspace = std::nullopt;
};

class Record : public Emit<Record> {
 public:
  explicit Record(const RecordContext& context);
  ~Record();
  Record(const Record&) = delete;
  static Record& current();

  int32_t read(const Tensor& t, int64_t row, int64_t col);

  // ---- for pipelines (kernels/tile/machine.hpp) -------------------------------------------------
  void enter(const char* body, int step) { body_ = recording_.body(body), step_ = step; }
  void settle() {}
  void release(const std::vector<uint32_t>&) {}
  void guard_board(const std::vector<uint32_t>&) {}
  void begin_lifetime(const char* name) { lifetime_ = recording_.body(name); }
  std::vector<uint32_t> end_lifetime();

  // ---- for tiles and the front-end --------------------------------------------------------------
  isa::TileRef create(isa::TileRef shape);
  void destroy(uint32_t) {}
  template <class I> void issue(I&& instruction) {
    recording_.code.push_back({isa::Instruction(std::forward<I>(instruction)), body_, step_});
  }

  // All passes. The Record is spent afterwards.
  isa::TaskProgram program(const char* kernel, uint32_t task);

 private:
  static thread_local Record* current_;
  const RecordContext& context_;
  Recording recording_;
  Record* outer_;
  uint16_t body_ = 0, lifetime_ = 0;
  int32_t step_ = 0;
  std::vector<uint32_t> made_;
};

template <template <class> class K>
isa::TaskProgram record_task(const typename K<Record>::Args& args, const Tuning& tuning,
                             uint32_t task, const RecordContext& context) {
  using Kernel = K<Record>;
  Record record(context);
  Kernel::Pipeline::template run<Kernel>(record, args, int(task), tuning);
  return record.program(Kernel::kName, task);
}

}  // namespace daybreak::kernels
