// Layout: magic (8), version (4), payload bytes (8), CRC-32 (4) of the three before and the payload, then
// the payload: names and labels as length and bytes, tables as count and rows, an instruction as its
// opcode and its fields in declaration order.
#include "isa/program/binary.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>

#include "configs/reader/errors.hpp"
#include "isa/program/codec.hpp"
#include "isa/program/limits.hpp"

namespace daybreak::isa {

namespace {

constexpr std::array<uint8_t, 8> kMagic = {'D', 'A', 'Y', 'B', 'R', 'K', 0x0D, 0x0A};
constexpr size_t kHeader = 24;
constexpr size_t kChecked = 20;  // bytes of the header before the CRC

constexpr std::array<uint32_t, 256> kCrcTable = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t c = i;
    for (int b = 0; b < 8; ++b) c = c & 1 ? 0xEDB88320u ^ (c >> 1) : c >> 1;
    table[i] = c;
  }
  return table;
}();

class Writer {
 public:
  template <class T> void number(T v) {
    using U = std::make_unsigned_t<T>;
    for (size_t i = 0; i < sizeof(T); ++i)
      out.push_back(std::byte(uint8_t(uint64_t(U(v)) >> (8 * i))));
  }
  void text(const std::string& s) {
    if (s.size() > kMaxText)
      throw InvariantError("a label or kernel name has more than 65535 bytes");
    number(uint16_t(s.size()));
    for (char ch : s) out.push_back(std::byte(ch));
  }
  void field(const TileRef& t) {
    number(t.id);
    number(uint8_t(t.space));
    number(uint8_t(t.format));
    number(t.offset);
    number(t.pitch);
    number(t.rows);
    number(t.cols);
  }
  void field(const TensorRef& r) {
    number(r.tensor);
    number(r.row);
    number(r.col);
  }
  void field(int32_t v) { number(v); }
  void field(float v) { number(std::bit_cast<uint32_t>(v)); }
  template <class E>
    requires std::is_enum_v<E>
  void field(E v) {
    number(uint8_t(v));
  }

  std::vector<std::byte> out;
};

class Reader {
 public:
  Reader(std::span<const std::byte> bytes, const std::string& file) : bytes_(bytes), file_(file) {}

  [[noreturn]] void fail(const std::string& what) const {
    throw UserError({.file = file_}, fmt::format("byte {}: {}", at_, what));
  }
  size_t left() const { return bytes_.size() - at_; }
  void skip(size_t n) { at_ += n; }

  template <class T> T number(const char* what) {
    if (left() < sizeof(T))
      fail(fmt::format("the program ends inside {} ({} bytes needed)", what, sizeof(T)));
    uint64_t v = 0;
    for (size_t i = 0; i < sizeof(T); ++i) v |= uint64_t(bytes_[at_ + i]) << (8 * i);
    at_ += sizeof(T);
    return T(v);
  }
  std::string text(const char* what) {
    const size_t n = number<uint16_t>(what);
    if (left() < n) fail(fmt::format("{} of {} bytes is longer than the program", what, n));
    std::string s(reinterpret_cast<const char*>(bytes_.data()) + at_, n);
    at_ += n;
    return s;
  }
  // A count of things of at least `each` bytes, refused before anything is allocated for it.
  template <class T> size_t count(const char* what, size_t each, size_t most) {
    const size_t n = number<T>(what);
    if (n > most) fail(fmt::format("{} {}; at most {} are allowed", n, what, most));
    if (n > left() / each)
      fail(fmt::format("{} {} are more than the {} bytes left hold", n, what, left()));
    return n;
  }
  template <class E> E choice(const char* what) {
    const int v = number<uint8_t>(what);
    if (v >= count_of(E{}))
      fail(fmt::format("{} {}; 0 to {} are allowed", what, v, count_of(E{}) - 1));
    return E(v);
  }
  bool flag(const char* what) {
    const int v = number<uint8_t>(what);
    if (v > 1) fail(fmt::format("{} {}; 0 or 1 is allowed", what, v));
    return v;
  }

  void field(TileRef& t) {
    t.id = number<uint32_t>("a tile");
    t.space = choice<Space>("scratchpad");
    t.format = choice<Format>("format");
    t.offset = number<uint32_t>("a tile");
    t.pitch = number<uint32_t>("a tile");
    t.rows = number<uint32_t>("a tile");
    t.cols = number<uint32_t>("a tile");
    check("tile", t);
  }
  void field(TensorRef& r) {
    r.tensor = number<uint16_t>("a tensor view");
    r.row = number<int64_t>("a tensor view");
    r.col = number<int64_t>("a tensor view");
    check("tensor view", r);
  }
  void field(int32_t& v) { v = number<int32_t>("a number"); }
  void field(float& v) { v = std::bit_cast<float>(number<uint32_t>("a number")); }
  template <class E>
    requires std::is_enum_v<E>
  void field(E& v) {
    v = choice<E>("choice");
  }
  template <class T> void check(const char* what, const T& v) const {
    if (const std::string fault = fault_of(v); !fault.empty())
      fail(fmt::format("{} {}", what, fault));
  }

 private:
  std::span<const std::byte> bytes_;
  const std::string& file_;
  size_t at_ = 0;
};

void write_tensor(Writer& w, const TensorDesc& t) {
  if (const std::string fault = fault_of(t); !fault.empty())
    throw InvariantError("a tensor " + fault);
  w.number(t.binding);
  w.field(t.format);
  w.field(t.out_of_bounds);
  w.number(t.rank);
  w.number(t.offset);
  w.number(t.scale);
  for (int d = 0; d < t.rank; ++d) {
    w.number(t.dims[d]);
    w.number(t.strides[d]);
  }
}

TensorDesc read_tensor(Reader& r) {
  TensorDesc t;
  t.binding = r.number<uint16_t>("a tensor");
  t.format = r.choice<Format>("format");
  t.out_of_bounds = r.choice<OutOfBounds>("out-of-bounds rule");
  t.rank = r.number<uint8_t>("a tensor");
  if (t.rank > 5) r.fail(fmt::format("a tensor of rank {}; at most 5 dims are allowed", t.rank));
  t.offset = r.number<int64_t>("a tensor");
  t.scale = r.number<int32_t>("a tensor");
  for (int d = 0; d < t.rank; ++d) {
    t.dims[d] = r.number<int64_t>("a tensor");
    t.strides[d] = r.number<int64_t>("a tensor");
  }
  r.check("tensor", t);
  return t;
}

void write_semaphores(Writer& w, const std::vector<SemaphoreId>& list) {
  if (list.size() > 65535) throw InvariantError("an entry has more than 65535 waits or signals");
  w.number(uint16_t(list.size()));
  for (SemaphoreId s : list) w.number(s.value);
}

std::vector<SemaphoreId> read_semaphores(Reader& r, const char* what) {
  std::vector<SemaphoreId> list(r.count<uint16_t>(what, 1, 65535));
  for (SemaphoreId& s : list) s.value = r.number<uint8_t>(what);
  return list;
}

void write_entry(Writer& w, const Entry& e) {
  w.number(uint8_t(opcode_of(e.instruction)));
  w.number(uint8_t(e.fence));
  w.number(uint8_t(e.live));
  write_semaphores(w, e.waits);
  write_semaphores(w, e.signals);
  w.text(e.label);
  std::visit(
      [&](const auto& i) { for_each_field(i, [&](const auto&, const auto& m) { w.field(m); }); },
      e.instruction);
}

Entry read_entry(Reader& r) {
  Entry e;
  const uint8_t opcode = r.number<uint8_t>("an opcode");
  if (!make_instruction(e.instruction, [&](auto type) {
        return uint8_t(decltype(type)::type::kOpcode) == opcode;
      }))
    r.fail(fmt::format("opcode {:#04x} is no instruction", opcode));
  e.fence = r.flag("fence flag");
  e.live = r.flag("live flag");
  e.waits = read_semaphores(r, "waits");
  e.signals = read_semaphores(r, "signals");
  e.label = r.text("a label");
  std::visit([&](auto& i) { for_each_field(i, [&](const auto&, auto& m) { r.field(m); }); },
             e.instruction);
  return e;
}

}  // namespace

uint32_t crc32(std::span<const std::byte> bytes, uint32_t crc) {
  crc = ~crc;
  for (std::byte b : bytes) crc = kCrcTable[(crc ^ uint32_t(b)) & 0xFF] ^ (crc >> 8);
  return ~crc;
}

bool is_binary(std::span<const std::byte> bytes) {
  return bytes.size() >= kMagic.size() &&
         std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
}

std::vector<std::byte> encode(const TaskProgram& program) {
  if (program.tensors.size() > kMaxTensors)
    throw InvariantError("a program has more than 65535 tensors");
  Writer payload;
  payload.text(program.kernel);
  payload.number(program.task);
  payload.number(program.semaphores);
  for (Bytes b : program.scratch) payload.number(b.value);
  payload.number(uint32_t(program.tensors.size()));
  for (const TensorDesc& t : program.tensors) write_tensor(payload, t);
  payload.number(uint32_t(program.code.size()));
  for (const Entry& e : program.code) write_entry(payload, e);

  Writer all;
  for (uint8_t m : kMagic) all.number(m);
  all.number(kBinaryVersion);
  all.number(uint64_t(payload.out.size()));
  all.number(crc32(payload.out, crc32(all.out)));
  all.out.insert(all.out.end(), payload.out.begin(), payload.out.end());
  return std::move(all.out);
}

TaskProgram decode(std::span<const std::byte> bytes, const std::string& filename) {
  Reader r(bytes, filename);
  if (bytes.size() < kHeader)
    r.fail(fmt::format("{} bytes are no program; its header alone has {}", bytes.size(), kHeader));
  if (!is_binary(bytes)) r.fail("this is no Daybreak program (the first 8 bytes are not its mark)");
  r.skip(kMagic.size());
  const uint32_t version = r.number<uint32_t>("the version");
  if (version != kBinaryVersion)
    r.fail(fmt::format("version {}; this build reads version {}", version, kBinaryVersion));
  const uint64_t size = r.number<uint64_t>("the payload size");
  if (size != bytes.size() - kHeader)
    r.fail(fmt::format("the header promises {} bytes, {} follow", size, bytes.size() - kHeader));
  const uint32_t want = r.number<uint32_t>("the checksum");
  const uint32_t got = crc32(bytes.subspan(kHeader), crc32(bytes.first(kChecked)));
  if (want != got) r.fail(fmt::format("checksum {:#010x}, the contents give {:#010x}", want, got));

  TaskProgram p;
  p.kernel = r.text("the kernel name");
  p.task = r.number<uint32_t>("the task number");
  p.semaphores = r.number<uint32_t>("the semaphore count");
  for (Bytes& b : p.scratch) b = Bytes(r.number<int64_t>("a scratchpad size"));
  p.tensors.resize(r.count<uint32_t>("tensors", 17, kMaxTensors));
  for (TensorDesc& t : p.tensors) t = read_tensor(r);
  // The smallest entry: opcode, flags, three counts, one number.
  const size_t entries = r.count<uint32_t>("entries", 13, ~uint32_t{0});
  for (size_t i = 0; i < entries; ++i) p.code.push_back(read_entry(r));
  if (r.left()) r.fail(fmt::format("{} bytes follow the last entry", r.left()));
  return p;
}

}  // namespace daybreak::isa
