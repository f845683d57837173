#include "kernels/machines/host.hpp"

#include <cstring>
#include <map>

#include "kernels/machines/coverage.hpp"

namespace daybreak::kernels {

namespace {

thread_local Host* current_host = nullptr;

constexpr uint32_t kAlign = 64;    // of a tile, bytes
constexpr uint8_t kPoison = 0xFF;  // NaN in fp32, BF16 and E4M3, -1 in an index

struct HostTile {
  isa::TileRef whole;
  const char* lifetime = "";
  Coverage coverage;
  bool released = false;  // poisoned by its pipeline, not merely fresh
  bool held = false;      // the matrix unit writes it, not settled
  bool board = false;
  uint64_t written_in = 0;  // serial of the body that wrote it last
};

}  // namespace

struct Host::State {
  State(isa::MemoryImage& m, const isa::BindingTable& b, HostOptions o)
      : memory(m), bindings(b), options(o) {}

  isa::MemoryImage& memory;
  const isa::BindingTable& bindings;
  HostOptions options;
  isa::Scratch scratch{{Bytes(1 << 20), Bytes(1 << 20), Bytes(1 << 20)}};
  std::array<uint32_t, isa::kSpaces> used{};
  std::array<std::map<uint32_t, std::vector<uint32_t>>, isa::kSpaces> free;  // size -> offsets
  std::vector<HostTile> tiles;
  std::vector<uint32_t> free_ids, held, made;
  const char* lifetime = "local";
  bool collecting = false;  // between begin_lifetime and end_lifetime
  const char* body = "";
  const char* kernel = "";
  uint32_t task = 0;
  int step = 0;
  uint64_t serial = 0;
  std::map<int32_t, int64_t> counters;  // shared between the tasks of the launch

  uint32_t allocate(isa::Space space, uint32_t bytes) {
    auto& list = free[int(space)][bytes];
    if (!list.empty()) {
      const uint32_t at = list.back();
      list.pop_back();
      return at;
    }
    const uint32_t at = used[int(space)];
    used[int(space)] += bytes;
    grow(space);
    return at;
  }
  void grow(isa::Space space) {
    if (scratch.bytes(space).size() >= used[int(space)]) return;
    std::array<Bytes, isa::kSpaces> sizes;
    for (int s = 0; s < isa::kSpaces; ++s) {
      int64_t size = int64_t(scratch.bytes(isa::Space(s)).size());
      while (size < used[s]) size *= 2;
      sizes[s] = Bytes(size);
    }
    isa::Scratch larger(sizes);
    for (int s = 0; s < isa::kSpaces; ++s) {
      auto old = scratch.bytes(isa::Space(s));
      std::memcpy(larger.bytes(isa::Space(s)).data(), old.data(), old.size());
    }
    scratch = std::move(larger);
  }
  static uint32_t padded(const isa::TileRef& t) {
    return (t.rows * t.pitch + kAlign - 1) / kAlign * kAlign;
  }
  void poison(HostTile& tile) {
    std::memset(scratch.bytes(tile.whole.space).data() + tile.whole.offset, kPoison,
                size_t(tile.whole.rows) * tile.whole.pitch);
    tile.coverage.clear();
  }

  std::string where(std::string_view operation) const {
    return std::string("host: ") + kernel + " task " + std::to_string(task) + ", " + body +
           " step " + std::to_string(step) + ", " + std::string(operation) + ": ";
  }
  std::string describe(const HostTile& tile) const {
    const isa::TileRef& t = tile.whole;
    return "tile " + std::to_string(t.id) + " (" + std::string(name_of(t.format)) + " " +
           std::to_string(t.rows) + "x" + std::to_string(t.cols) + ", " + tile.lifetime + ")";
  }
  [[noreturn]] void refuse(std::string_view operation, const HostTile& tile,
                           const char* why) const {
    throw InvariantError(where(operation) + describe(tile) + " " + why);
  }

  void check_read(const isa::TileRef& r, std::string_view operation, bool by_matrix) {
    HostTile& tile = tiles[r.id];
    if (tile.held && !by_matrix)
      refuse(operation, tile, "is read before the matrix unit has settled");
    if (tile.board && tile.written_in == serial)
      refuse(operation, tile, "of a Board is read in the body that writes it");
    const uint32_t at = r.offset - tile.whole.offset;
    if (!tile.coverage.holds(at / r.pitch, at % r.pitch, r.rows, uint32_t(r.row_bytes())))
      refuse(operation, tile,
             tile.released ? "is read after its release" : "is read, but nothing has filled it");
  }
  void note_write(const isa::TileRef& r, std::string_view operation, bool by_matrix) {
    HostTile& tile = tiles[r.id];
    if (tile.held && !by_matrix)
      refuse(operation, tile, "is written before the matrix unit has settled");
    const uint32_t at = r.offset - tile.whole.offset;
    tile.coverage.fill(at / r.pitch, at % r.pitch, r.rows, uint32_t(r.row_bytes()));
    tile.written_in = serial;
    if (by_matrix && !tile.held) tile.held = true, held.push_back(r.id);
  }
};

Host::Host(isa::MemoryImage& memory, const isa::BindingTable& bindings, HostOptions options)
    : state_(new State(memory, bindings, options)), outer_(current_host) {
  current_host = this;
}

Host::~Host() { current_host = outer_; }

Host& Host::current() {
  if (!current_host) throw InvariantError("a tile is made while no Host machine is current");
  return *current_host;
}

int32_t Host::read(const Tensor& t, int64_t row, int64_t col) {
  if (row < 0 || row >= t.rows() || col < 0 || col >= t.cols())
    throw InvariantError(state_->where("read") + "element (" + std::to_string(row) + ", " +
                         std::to_string(col) + ") lies outside the tensor");
  const isa::Binding& b = state_->bindings.at(t.binding);
  return state_->memory.get<int32_t>(Address(b.base.value + uint64_t(t.offset_of(row, col))));
}

void Host::enter(const char* body, int step) {
  state_->body = body, state_->step = step, ++state_->serial;
}

void Host::settle() {
  for (uint32_t id : state_->held) state_->tiles[id].held = false;
  state_->held.clear();
}

void Host::release(const std::vector<uint32_t>& tiles) {
  for (uint32_t id : tiles) state_->poison(state_->tiles[id]), state_->tiles[id].released = true;
}

void Host::guard_board(const std::vector<uint32_t>& tiles) {
  for (uint32_t id : tiles) state_->tiles[id].board = true;
}

void Host::begin_lifetime(const char* name) { state_->lifetime = name, state_->collecting = true; }

std::vector<uint32_t> Host::end_lifetime() {
  state_->lifetime = "local", state_->collecting = false;
  return std::exchange(state_->made, {});
}

void Host::begin_task(const char* kernel, uint32_t task) {
  state_->kernel = kernel, state_->task = task;
}

isa::TileRef Host::create(isa::TileRef shape) {
  State& s = *state_;
  if (s.free_ids.empty()) {
    s.free_ids.push_back(uint32_t(s.tiles.size()));
    s.tiles.emplace_back();
  }
  shape.id = s.free_ids.back();
  s.free_ids.pop_back();
  shape.offset = s.allocate(shape.space, State::padded(shape));
  HostTile& tile = s.tiles[shape.id];
  tile = {.whole = shape, .lifetime = s.lifetime, .coverage = Coverage(shape.rows, shape.pitch)};
  s.poison(tile);
  if (s.collecting) s.made.push_back(shape.id);
  return shape;
}

void Host::destroy(uint32_t id) {
  State& s = *state_;
  if (s.tiles[id].held) std::erase(s.held, id);
  const isa::TileRef& t = s.tiles[id].whole;
  s.free[int(t.space)][State::padded(t)].push_back(t.offset);
  s.free_ids.push_back(id);
}

void Host::execute(const isa::Instruction& instruction) {
  isa::Context context{state_->scratch, state_->memory, tensors(), state_->bindings};
  isa::execute(instruction, context);
}

// An FP8 product of a chip without FP8: both operands cast to BF16, as the rule of legalise does.
void Host::execute_wide(const isa::Mma& product) {
  isa::Mma wide = product;
  std::vector<uint32_t> temporary;
  for (isa::TileRef* operand : {&wide.a, &wide.b}) {
    if (operand->format == Format::bf16) continue;
    const isa::TileRef to = create({.space = isa::Space::vector,
                                    .format = Format::bf16,
                                    .pitch = operand->cols * 2,
                                    .rows = operand->rows,
                                    .cols = operand->cols});
    execute(isa::Cast{.to = to, .from = *operand});
    *operand = to;
    temporary.push_back(to.id);
  }
  execute(wide);
  for (uint32_t id : temporary) destroy(id);
}

void Host::issue(const isa::Instruction& instruction) {
  State& s = *state_;
  std::visit(
      [&](const auto& i) {
        using I = std::remove_cvref_t<decltype(i)>;
        constexpr bool kMatrix = std::is_same_v<I, isa::Mma>;
        bool overwrites = false;
        if constexpr (kMatrix) overwrites = !i.accumulate;
        isa::for_each_operand(i, [&](const auto& operand, isa::Access access, bool) {
          if constexpr (std::is_same_v<std::remove_cvref_t<decltype(operand)>, isa::TileRef>)
            if (isa::reads(access) && !(overwrites && isa::writes(access)))
              s.check_read(operand, I::kName, kMatrix);
        });
        if constexpr (std::is_same_v<I, isa::Signal>) ++s.counters[i.semaphore];
        if constexpr (std::is_same_v<I, isa::Wait>)
          if (s.counters[i.semaphore] < i.count)
            throw InvariantError(s.where(I::kName) + "counter " + std::to_string(i.semaphore) +
                                 " stands at " + std::to_string(s.counters[i.semaphore]) + " of " +
                                 std::to_string(i.count) +
                                 "; only what lower-numbered tasks signal may be waited for");
        bool wide = false;
        if constexpr (kMatrix)
          wide =
              !s.options.fp8_matrix && (i.a.format != Format::bf16 || i.b.format != Format::bf16);
        if constexpr (kMatrix)
          if (wide) execute_wide(i);
        if (!wide) execute(instruction);
        isa::for_each_operand(i, [&](const auto& operand, isa::Access access, bool) {
          if constexpr (std::is_same_v<std::remove_cvref_t<decltype(operand)>, isa::TileRef>)
            if (isa::writes(access)) s.note_write(operand, I::kName, kMatrix);
        });
      },
      instruction);
}

}  // namespace daybreak::kernels
