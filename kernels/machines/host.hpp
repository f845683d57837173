// Machine Host: every operation at once, on the CPU, with the code the simulator executes. It is
// the readable definition of a kernel and stricter than hardware. These are InvariantErrors that
// name body, operation and tile:
//  - reading bytes of a tile that nothing has filled, or that were released;
//  - reading or writing an accumulator that the matrix unit still holds (not settled);
//  - reading a Board in the body that wrote it;
//  - waiting for a counter that lower-numbered tasks have not raised that far.
#pragma once
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "isa/memory/image.hpp"
#include "kernels/machines/emit.hpp"
#include "kernels/tile/tuning.hpp"

namespace daybreak::kernels {

struct HostOptions {
  bool fp8_matrix =
      true;  // false: FP8 operands are cast to BF16 first, as legalise does for a chip
             // without FP8 (chunks of 64 products instead of 128: other roundings)
};

class Host : public Emit<Host> {
 public:
  Host(isa::MemoryImage& memory, const isa::BindingTable& bindings, HostOptions options = {});
  ~Host();
  Host(const Host&) = delete;
  static Host& current();

  // One word of memory, in task() only.
  int32_t read(const Tensor& t, int64_t row, int64_t col);

  // ---- for pipelines (kernels/tile/machine.hpp) -------------------------------------------------
  void enter(const char* body, int step);
  void settle();
  void release(const std::vector<uint32_t>& tiles);
  void guard_board(const std::vector<uint32_t>& tiles);
  void begin_lifetime(const char* name);
  std::vector<uint32_t> end_lifetime();
  void begin_task(const char* kernel, uint32_t task);

  // ---- for tiles and the front-end --------------------------------------------------------------
  isa::TileRef create(isa::TileRef shape);
  void destroy(uint32_t id);
  void issue(const isa::Instruction& instruction);

 private:
  struct State;
  void execute(const isa::Instruction& instruction);
  void execute_wide(const isa::Mma& product);
  std::unique_ptr<State> state_;
  Host* outer_;
};

// All tasks of a kernel, one after the other.
template <template <class> class K>
void run_on_host(const typename K<Host>::Args& args, const Tuning& tuning, isa::MemoryImage& memory,
                 const isa::BindingTable& bindings, HostOptions options = {}) {
  using Kernel = K<Host>;
  Host host(memory, bindings, options);
  const int tasks = int(Kernel::tasks(args));
  for (int number = 0; number < tasks; ++number) {
    host.begin_task(Kernel::kName, uint32_t(number));
    Kernel::Pipeline::template run<Kernel>(host, args, number, tuning);
  }
}

}  // namespace daybreak::kernels
