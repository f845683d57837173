#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "configs/reader/errors.hpp"
#include "isa/program/codec.hpp"
#include "isa/program/limits.hpp"
#include "isa/program/text.hpp"

namespace daybreak::isa {

namespace {

std::string quoted(const std::string& s) {
  std::string out = "\"";
  for (char ch : s) {
    const uint8_t byte = uint8_t(ch);
    if (ch == '"' || ch == '\\')
      out += '\\', out += ch;
    else if (byte < 0x20 || byte >= 0x7F)
      out += fmt::format("\\x{:02x}", byte);
    else
      out += ch;
  }
  return out + '"';
}

std::string value(int32_t v) { return fmt::format("{}", v); }
std::string value(float v) {
  return std::isnan(v) ? fmt::format("nan:{:08x}", std::bit_cast<uint32_t>(v))
                       : fmt::format("{}", v);
}
template <class E>
  requires std::is_enum_v<E>
std::string value(E v) {
  return std::string(name_of(v));
}
std::string value(const TileRef& t) {
  return fmt::format("{}[{:#x}:{}x{}:{}/{}]#{}", name_of(t.space), t.offset, t.rows, t.cols,
                     daybreak::name_of(t.format), t.pitch, t.id);
}
std::string value(const TensorRef& r) {
  return r.empty() ? fmt::format("none({},{})", r.row, r.col)
                   : fmt::format("t{}({},{})", r.tensor, r.row, r.col);
}

bool same(float a, float b) { return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b); }
template <class T> bool same(const T& a, const T& b) { return a == b; }

std::string list(const TensorDesc& t, const std::array<int64_t, 5>& numbers) {
  std::string out;
  for (int d = 0; d < t.rank; ++d) out += (d ? "x" : "") + fmt::format("{}", numbers[d]);
  return out;
}

std::string line_of(const TensorDesc& t, size_t index) {
  if (const std::string fault = fault_of(t); !fault.empty())
    throw InvariantError(fmt::format("tensor t{} {}", index, fault));
  const TensorDesc plain;
  std::string out =
      fmt::format("tensor t{} binding={} format={}", index, t.binding, daybreak::name_of(t.format));
  if (t.rank) out += " dims=" + list(t, t.dims) + " strides=" + list(t, t.strides);
  if (t.offset != plain.offset) out += fmt::format(" offset={}", t.offset);
  if (t.out_of_bounds != plain.out_of_bounds)
    out += fmt::format(" outside={}", name_of(t.out_of_bounds));
  if (t.scale != plain.scale) out += fmt::format(" scale={}", t.scale);
  return out;
}

}  // namespace

std::string disassemble(const Entry& e) {
  std::string out(name_of(e.instruction));
  std::visit(
      [&](const auto& i) {
        const std::remove_cvref_t<decltype(i)> plain{};
        for_each_field(i, [&](const auto& field, const auto& member) {
          if (!same(member, plain.*(field.member)))
            out += fmt::format(" {}={}", field.name, value(member));
        });
      },
      e.instruction);
  for (SemaphoreId s : e.waits) out += fmt::format(" wait=s{}", s.value);
  for (SemaphoreId s : e.signals) out += fmt::format(" signal=s{}", s.value);
  if (e.fence) out += " fence";
  if (!e.live) out += " dead";
  if (!e.label.empty()) out += " " + quoted(e.label);
  return out;
}

std::string disassemble(const TaskProgram& p) {
  std::string out = fmt::format("program {} task {}\nsemaphores {}\nscratch", quoted(p.kernel),
                                p.task, p.semaphores);
  for (int s = 0; s < kSpaces; ++s)
    out += fmt::format(" {}={}", name_of(Space(s)), p.scratch[s].value);
  out += '\n';
  for (size_t i = 0; i < p.tensors.size(); ++i) out += line_of(p.tensors[i], i) + '\n';
  for (const Entry& e : p.code) out += disassemble(e) + '\n';
  return out;
}

}  // namespace daybreak::isa
