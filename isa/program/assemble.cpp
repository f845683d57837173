#include <fmt/format.h>

#include <limits>

#include "isa/program/codec.hpp"
#include "isa/program/limits.hpp"
#include "isa/program/scanner.hpp"
#include "isa/program/text.hpp"

namespace daybreak::isa {

namespace {

template <class T> void check(const Scanner& s, const char* what, const T& v) {
  if (const std::string fault = fault_of(v); !fault.empty())
    s.fail(fmt::format("{} {}", what, fault));
}

// ---- values of fields ------------------------------------------------------------------------

void parse(Scanner& s, int32_t& v) { v = s.integer<int32_t>("the value"); }
void parse(Scanner& s, float& v) { v = s.real("the value"); }
template <class E>
  requires std::is_enum_v<E>
void parse(Scanner& s, E& v) {
  v = s.choice<E>("choice");
}
void parse(Scanner& s, TileRef& t) {
  t.space = s.choice<Space>("scratchpad");
  s.expect('[');
  s.expect('0');
  s.expect('x');
  t.offset = s.integer<uint32_t>("the offset", 0, ~uint32_t{0}, 16);
  s.expect(':');
  t.rows = s.integer<uint32_t>("rows", 0, kMaxTileExtent);
  s.expect('x');
  t.cols = s.integer<uint32_t>("columns", 0, kMaxTileExtent);
  s.expect(':');
  t.format = s.choice<Format>("format");
  s.expect('/');
  t.pitch = s.integer<uint32_t>("the pitch");
  s.expect(']');
  s.expect('#');
  t.id = s.integer<uint32_t>("the tile's number");
}
void parse(Scanner& s, TensorRef& r) {
  if (s.accept('t')) {
    r.tensor = s.integer<uint16_t>("the tensor's number", 0, kMaxTensors - 1);
  } else if (const auto word = s.name(); word != "none") {
    s.fail("a tensor view is tN(row,col) or none(row,col)");
  }
  s.expect('(');
  r.row = s.integer<int64_t>("the row", -kMaxTensorExtent, kMaxTensorExtent);
  s.expect(',');
  r.col = s.integer<int64_t>("the column", -kMaxTensorExtent, kMaxTensorExtent);
  s.expect(')');
}

// ---- lines -----------------------------------------------------------------------------------

SemaphoreId semaphore(Scanner& s) {
  s.expect('s');
  return {s.integer<uint8_t>("the semaphore's number")};
}

void parse_list(Scanner& s, const char* what, std::array<int64_t, 5>& to, int& count) {
  count = 0;
  do {
    if (count == 5) s.fail(fmt::format("at most 5 {} are allowed", what));
    to[count++] = s.integer<int64_t>(what);
  } while (s.accept('x'));
}

TensorDesc parse_tensor(Scanner& s, size_t index) {
  if (!s.next_word() || !s.accept('t')) s.fail("a tensor's name is expected: t and its number");
  if (s.integer<size_t>("the tensor's number") != index)
    s.fail(fmt::format("tensors are declared in order; this one is t{}", index));
  s.end_of_word();
  static const std::vector<std::string> known = {"binding", "format",  "dims", "strides",
                                                 "offset",  "outside", "scale"};
  TensorDesc t;
  unsigned seen = 0;
  int dims = 0, strides = 0;
  while (s.next_word()) {
    const size_t key = s.pick("property of a tensor", known);
    if (seen >> key & 1) s.fail(fmt::format("{} is given twice", known[key]));
    seen |= 1u << key;
    s.expect('=');
    switch (key) {
      case 0: t.binding = s.integer<uint16_t>("the binding"); break;
      case 1: t.format = s.choice<Format>("format"); break;
      case 2: parse_list(s, "dims", t.dims, dims); break;
      case 3: parse_list(s, "strides", t.strides, strides); break;
      case 4: t.offset = s.integer<int64_t>("the offset"); break;
      case 5: t.out_of_bounds = s.choice<OutOfBounds>("out-of-bounds rule"); break;
      default: t.scale = s.integer<int32_t>("the scale's number");
    }
    s.end_of_word();
  }
  if (dims != strides) s.fail(fmt::format("{} dims but {} strides", dims, strides));
  t.rank = uint8_t(dims);
  check(s, "this tensor", t);
  return t;
}

// The names of all fields and of what may follow them.
template <class I> std::vector<std::string> names_of_fields() {
  std::vector<std::string> names;
  I i;
  for_each_field(i, [&](const auto& field, auto&) { names.emplace_back(field.name); });
  for (const char* more : {"wait", "signal", "fence", "dead"}) names.emplace_back(more);
  return names;
}

template <class I> void parse_fields(Scanner& s, Entry& e, I& instruction) {
  uint64_t seen = 0;
  while (s.next_word()) {
    if (s.at_quote()) {
      if (!e.label.empty()) s.fail("an entry has one label");
      e.label = s.quoted();
      if (e.label.size() > kMaxText) s.fail("a label has at most 65535 bytes");
      s.end_of_word();
      continue;
    }
    const std::string_view key = s.name();
    if (key == "fence" || key == "dead") {
      (key == "fence" ? e.fence : e.live) = key == "fence";
    } else if (key == "wait" || key == "signal") {
      s.expect('=');
      (key == "wait" ? e.waits : e.signals).push_back(semaphore(s));
    } else {
      bool found = false;
      uint64_t bit = 1;
      for_each_field(instruction, [&](const auto& field, auto& member) {
        if (field.name == key) {
          found = true;
          if (seen & bit) s.fail(fmt::format("{} is given twice", key));
          seen |= bit;
          s.expect('=');
          parse(s, member);
        }
        bit <<= 1;
      });
      if (!found)
        s.unknown(fmt::format("field of {}", I::kName).c_str(), key, names_of_fields<I>());
    }
    s.end_of_word();
  }
}

Entry parse_entry(Scanner& s, std::string_view name) {
  Entry e;
  if (!make_instruction(e.instruction,
                        [&](auto type) { return decltype(type)::type::kName == name; })) {
    std::vector<std::string> known = {"program", "semaphores", "scratch", "tensor"};
    for_each_instruction_type([&](auto type) { known.emplace_back(decltype(type)::type::kName); });
    s.unknown("instruction", name, known);
  }
  s.end_of_word();
  std::visit([&](auto& i) { parse_fields(s, e, i); }, e.instruction);
  return e;
}

void parse_scratch(Scanner& s, TaskProgram& p) {
  while (s.next_word()) {
    const Space space = s.choice<Space>("scratchpad");
    s.expect('=');
    p.scratch[int(space)] = Bytes(s.integer<int64_t>("the size"));
    s.end_of_word();
  }
}

void parse_line(Scanner& s, TaskProgram& p) {
  const std::string_view word = s.name();
  if (word == "program") {
    if (!s.next_word()) s.fail("the kernel's name in quotes is expected");
    p.kernel = s.quoted();
    if (p.kernel.size() > kMaxText) s.fail("a kernel's name has at most 65535 bytes");
    if (!s.next_word() || s.name() != "task" || !s.next_word())
      s.fail("'task' and its number are expected");
    p.task = s.integer<uint32_t>("the task's number");
    s.end_of_word();
  } else if (word == "semaphores") {
    if (!s.next_word()) s.fail("the number of semaphores is expected");
    p.semaphores = s.integer<uint32_t>("the number of semaphores");
    s.end_of_word();
  } else if (word == "scratch") {
    parse_scratch(s, p);
  } else if (word == "tensor") {
    if (!p.code.empty()) s.fail("tensors are declared before the first instruction");
    if (p.tensors.size() == kMaxTensors) s.fail("at most 65535 tensors are allowed");
    p.tensors.push_back(parse_tensor(s, p.tensors.size()));
  } else {
    p.code.push_back(parse_entry(s, word));
  }
  if (s.next_word()) s.fail("nothing more is expected on this line");
}

}  // namespace

TaskProgram assemble(std::string_view text, const std::string& filename) {
  TaskProgram p;
  int number = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    Scanner s(text.substr(0, end), filename, ++number);
    if (s.next_word()) parse_line(s, p);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return p;
}

}  // namespace daybreak::isa
