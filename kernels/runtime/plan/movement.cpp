#include "kernels/runtime/plan/movement.hpp"

#include <algorithm>

#include "configs/reader/errors.hpp"
#include "kernels/library/dsa/layouts.hpp"

namespace daybreak::kernels {
namespace {

constexpr int64_t kDescriptorsOfTask = 2048;  // bounds the size of a program
// What a core has on its way: tiles of so many bytes together, at least two.
constexpr int64_t kBuffer = 64 * 1024;

int64_t parts(int64_t whole, int64_t part) { return (whole + part - 1) / part; }

// Loads regions whose shape is data; kernels have shapes that are types.
struct Mover : Record {
  using Record::Record;
  void load_block(const isa::TileRef& to, const Tensor& from, int64_t row, int64_t col) {
    issue(isa::Load{.to = to, .from = at(from, row, col)});
  }
};

// The blocks of an array in reading order, and which of them a core reads when.
class Blocks {
 public:
  Blocks(const Movement& m, int64_t cores)
      : m_(m),
        cores_(cores),
        columns_(parts(m.row_bytes, m.block_bytes)),
        all_(parts(m.rows, m.block_rows) * columns_) {
    of_slice_ =
        m.kind == Movement::Kind::reread
            ? std::min(all_, std::max<int64_t>(1, m.slice_bytes / (m.block_rows * m.block_bytes)))
            : all_;
  }

  bool whole() const {
    return m_.kind == Movement::Kind::same || m_.kind == Movement::Kind::staggered;
  }
  // Blocks that `core` reads altogether.
  int64_t count(int64_t core) const {
    if (whole()) return all_;
    int64_t sum = 0;
    for (int64_t first = 0; first < all_; first += of_slice_)
      sum += m_.passes * share(core, std::min(of_slice_, all_ - first));
    return sum;
  }
  // f(row, byte) of the blocks number [from, to) that `core` reads.
  template <class F> void each(int64_t core, int64_t from, int64_t to, F&& f) const {
    int64_t n = 0;
    auto visit = [&](int64_t block) {
      if (n >= from && n < to)
        f(block / columns_ * m_.block_rows, block % columns_ * m_.block_bytes);
      ++n;
    };
    if (whole()) {
      const int64_t start = m_.kind == Movement::Kind::staggered ? begin(core, all_) : 0;
      for (int64_t i = 0; i < all_; ++i) visit((start + i) % all_);
      return;
    }
    for (int64_t first = 0; first < all_; first += of_slice_) {
      const int64_t blocks = std::min(of_slice_, all_ - first);
      for (int64_t pass = 0; pass < m_.passes; ++pass)
        for (int64_t b = begin(core, blocks); b < begin(core + 1, blocks); ++b) visit(first + b);
    }
  }

 private:
  int64_t begin(int64_t core, int64_t blocks) const { return core * blocks / cores_; }
  int64_t share(int64_t core, int64_t blocks) const {
    return begin(core + 1, blocks) - begin(core, blocks);
  }
  Movement m_;
  int64_t cores_, columns_, all_, of_slice_ = 0;
};

}  // namespace

void add_movement(Plan& plan, const DecodeInputs& in, const std::string& name,
                  const Movement& movement, int64_t cores) {
  const int64_t bytes = movement.rows * movement.pitch;
  const uint16_t array = in.add(name + ".array", bytes + movement.misalignment);
  isa::TensorDesc tensor = dsa::matrix(array, Format::u8, movement.rows, movement.pitch);
  tensor.offset = movement.misalignment;
  const Blocks blocks(movement, cores);
  int64_t longest = 0;
  for (int64_t core = 0; core < cores; ++core) longest = std::max(longest, blocks.count(core));
  // Task t is part t / cores of core t % cores' blocks.
  const int64_t rounds = std::max<int64_t>(1, parts(longest, kDescriptorsOfTask));
  plan.add(
      {.name = name,
       .tasks = uint32_t(cores * rounds),
       .cores = uint32_t(cores),
       .reads = {array},
       .writes = {},
       .steers = {},
       .floor = {.bytes = movement.rows * movement.row_bytes},
       .record =
           [=](uint32_t task, const Tuning&, const RecordContext& context) {
             Mover m(context);
             m.enter(name.c_str(), 0);
             const isa::TileRef shape{
                 .space = movement.operand ? isa::Space::operand : isa::Space::vector,
                 .format = Format::u8,
                 .pitch = uint32_t(movement.block_bytes),
                 .rows = uint32_t(movement.block_rows),
                 .cols = uint32_t(movement.block_bytes)};
             const int64_t block = movement.block_rows * movement.block_bytes;
             std::vector<isa::TileRef> tiles(size_t(std::max<int64_t>(2, kBuffer / block)));
             for (isa::TileRef& tile : tiles) tile = m.create(shape);
             const int64_t from = task / cores * kDescriptorsOfTask;
             int64_t n = 0;
             blocks.each(
                 task % cores, from, from + kDescriptorsOfTask, [&](int64_t row, int64_t byte) {
                   isa::TileRef to = tiles[size_t(n++) % tiles.size()];
                   to.rows = uint32_t(std::min(movement.block_rows, movement.rows - row));
                   to.cols = uint32_t(std::min(movement.block_bytes, movement.row_bytes - byte));
                   m.load_block(to, tensor, row, byte);
                 });
             return m.program(name.c_str(), task);
           },
       .check = {}});
}

}  // namespace daybreak::kernels
