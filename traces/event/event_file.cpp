#include "traces/event/event_file.hpp"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <deque>
#include <fstream>
#include <unordered_map>

#include "configs/reader/errors.hpp"
#include "traces/event/atomic_file.hpp"

namespace daybreak::traces {
namespace {

constexpr std::string_view kMagic = "DBEVENTS";
constexpr uint64_t kVersion = 1;
constexpr size_t kBlock = 1 << 20;

enum class Tag : uint8_t { unit = 1, span, instruction, flow, task, job, launch, end };

uint64_t hash_of(uint64_t hash, std::string_view bytes) {
  for (const char c : bytes) hash = (hash ^ uint8_t(c)) * 0x100000001b3u;
  return hash;
}
constexpr uint64_t kHashStart = 0xcbf29ce484222325u;

// The fields of each record, written and read by the same function: `f` takes integers, enums and
// texts by reference.
template <class F, class T> void number(F& f, T& v) {
  int64_t wide = int64_t(v);
  f.integer(wide);
  v = T(wide);
}

template <class F> void fields(F& f, UnitInfo& u) {
  number(f, u.id), number(f, u.core), f.text(u.path), f.text(u.kind), number(f, u.slots);
}

template <class F> void fields(F& f, UnitSpan& s) {
  number(f, s.unit), f.time(s.begin), f.after(s.begin, s.end), number(f, s.cause);
  number(f, s.launch), number(f, s.waits_for);
}

template <class F> void fields(F& f, MoveStages& m, int64_t started, int64_t retired) {
  for (int64_t* at : {&m.named, &m.began, &m.allowed, &m.asked}) f.optional(started, *at);
  f.optional(retired, m.landed);
  number(f, m.decoding), number(f, m.issuing), number(f, m.requests), number(f, m.walks);
  number(f, m.share);
  number(f, m.unloaded);
  uint32_t present = 0;
  for (size_t i = 0; i < m.waited.size(); ++i) present |= uint32_t(m.waited[i] != 0) << i;
  number(f, present);
  for (size_t i = 0; i < m.waited.size(); ++i)
    if (present >> i & 1) number(f, m.waited[i]);
}

template <class F> void fields(F& f, InstructionEvent& e) {
  number(f, e.unit), number(f, e.slot), number(f, e.launch), number(f, e.task);
  number(f, e.entry), f.view(e.name), f.view(e.label);
  f.time(e.started), f.after(e.started, e.issued), f.after(e.started, e.retired);
  number(f, e.read_bytes), number(f, e.write_bytes), number(f, e.macs), number(f, e.descriptors);
  number(f, e.parts.fixed), number(f, e.parts.streamed), number(f, e.parts.stalled);
  number(f, e.parts.tail);
  bool moves = e.move.named != kNone;
  number(f, moves);
  if (moves) fields(f, e.move, e.started, e.retired);
}

template <class F> void fields(F& f, FlowEvent& e) {
  number(f, e.from_unit), number(f, e.to_unit), f.time(e.to_time), f.after(e.to_time, e.from_time);
}

template <class F> void fields(F& f, TaskEvent& e) {
  number(f, e.core), number(f, e.launch), number(f, e.task), f.time(e.ended);
  f.after(e.ended, e.started), f.after(e.ended, e.dispatched);
}

template <class F> void fields(F& f, JobEvent& e) {
  number(f, e.dispatch), number(f, e.launch), number(f, e.task), number(f, e.count);
  number(f, e.core), f.time(e.from), f.after(e.from, e.until);
}

// A launch and the list it points to.
struct LaunchRecord {
  LaunchEvent event;
  std::vector<uint32_t> after;
};
template <class F> void fields(F& f, LaunchRecord& r) {
  LaunchEvent& e = r.event;
  number(f, e.launch), f.view(e.kernel), f.time(e.ended), f.after(e.ended, e.ready);
  f.after(e.ended, e.started), number(f, e.tasks);
  f.list(r.after);
}

template <class F> void fields(F& f, RunFacts& r) {
  f.text(r.chip), f.real(r.clock_hz), f.real(r.hbm_bytes_per_second), f.real(r.flops);
  f.list(r.kernels, [&](std::string& s) { f.text(s); });
  f.list(r.knobs, [&](auto& k) { f.text(k.first), f.text(k.second); });
}

struct EndRecord {
  int64_t cycles = 0, records = 0, dropped = 0;
};
template <class F> void fields(F& f, EndRecord& e) {
  number(f, e.cycles), number(f, e.records), number(f, e.dropped);
}

// Writing: integers are zigzag varints, times differences to the last one.
class Encoder {
 public:
  void integer(int64_t v) { varint(uint64_t(v) << 1 ^ uint64_t(v >> 63)); }
  void time(int64_t v) { integer(v - std::exchange(last_, v)); }
  void after(int64_t base, int64_t v) { integer(v - base); }
  void optional(int64_t base, int64_t v) {
    varint(v == kNone ? 0 : 1);
    if (v != kNone) after(base, v);
  }
  void real(double v) { varint(std::bit_cast<uint64_t>(v)); }
  void text(const std::string& s) { varint(s.size()), bytes += s; }
  void view(std::string_view s) {
    const auto [at, fresh] = texts_.try_emplace(std::string(s), texts_.size());
    varint(at->second);
    if (fresh) text(at->first);
  }
  template <class T> void list(std::vector<T>& v) {
    list(v, [&](T& item) { integer(int64_t(item)); });
  }
  template <class T, class G> void list(std::vector<T>& v, G&& item) {
    varint(v.size());
    for (T& i : v) item(i);
  }
  void varint(uint64_t v) {
    for (; v >= 0x80; v >>= 7) bytes.push_back(char(v | 0x80));
    bytes.push_back(char(v));
  }
  std::string bytes;

 private:
  int64_t last_ = 0;
  std::unordered_map<std::string, uint64_t> texts_;  // looked up only, never iterated
};

// Reading; everything is bounded by the file's own bytes.
class Decoder {
 public:
  Decoder(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}
  [[noreturn]] void fail(const std::string& what) const {
    throw UserError(fmt::format("{}: byte {}: {}; it is not an event file of this version, whole",
                                name_, at_, what));
  }
  bool done() const { return at_ == bytes_.size(); }
  uint8_t byte() { return done() ? uint8_t(0) : uint8_t(bytes_[at_++]); }
  uint64_t varint() {
    uint64_t v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at_ >= bytes_.size()) fail("the file ends inside a record");
      const uint8_t b = uint8_t(bytes_[at_++]);
      v |= uint64_t(b & 0x7f) << shift;
      if (b < 0x80) return v;
    }
    fail("a number is too long");
  }
  void integer(int64_t& v) {
    const uint64_t z = varint();
    v = int64_t(z >> 1) ^ -int64_t(z & 1);
  }
  void time(int64_t& v) { integer(v), v = last_ += v; }
  void after(int64_t base, int64_t& v) { integer(v), v += base; }
  void optional(int64_t base, int64_t& v) {
    v = kNone;
    if (varint()) after(base, v);
  }
  void real(double& v) { v = std::bit_cast<double>(varint()); }
  void text(std::string& s) {
    const uint64_t n = varint();
    if (n > bytes_.size() - at_) fail("a text is longer than the file");
    s.assign(bytes_.substr(at_, n));
    at_ += n;
  }
  void view(std::string_view& s) {
    const uint64_t n = varint();
    if (n > texts_.size()) fail("a text is named before it is given");
    if (n == texts_.size()) text(texts_.emplace_back());
    s = texts_[n];
  }
  template <class T> void list(std::vector<T>& v) {
    list(v, [&](T& item) { number(*this, item); });
  }
  template <class T, class G> void list(std::vector<T>& v, G&& item) {
    const uint64_t n = varint();
    if (n > bytes_.size() - at_) fail("a list is longer than the file");
    v.resize(n);
    for (T& i : v) item(i);
  }

 private:
  std::string_view bytes_;
  const std::string& name_;
  size_t at_ = 0;
  int64_t last_ = 0;
  std::deque<std::string> texts_;  // views of them stay valid
};

}  // namespace

std::string RunFacts::kernel(int64_t launch) const {
  return launch >= 0 && size_t(launch) < kernels.size() ? kernels[size_t(launch)]
                                                        : fmt::format("launch {}", launch);
}

double RunFacts::knob(const std::string& path) const {
  for (const auto& [name, value] : knobs) {
    if (name != path) continue;
    double out = 0;
    std::from_chars(value.data(), value.data() + value.size(), out);
    return out;
  }
  throw InvariantError("the run has no knob " + path);
}

struct EventFileWriter::Impl {
  AtomicFile file;
  int64_t max_bytes;
  Encoder out;
  EndRecord last;
  uint64_t hash = kHashStart;

  Impl(std::string path, EventFileOptions options)
      : file(std::move(path)), max_bytes(options.max_bytes) {
    out.bytes = kMagic;
    out.varint(kVersion);
    fields(out, options.facts);
  }
  void flush() {
    hash = hash_of(hash, out.bytes);
    file.write(out.bytes);
    out.bytes.clear();
  }
  bool capped() {
    if (max_bytes == 0 || file.size() + int64_t(out.bytes.size()) < max_bytes) return false;
    ++last.dropped;
    return true;
  }
  template <class T> void record(Tag tag, T event) {
    ++last.records;
    out.bytes.push_back(char(tag));
    fields(out, event);
    if (out.bytes.size() >= kBlock) flush();
  }
};

EventFileWriter::EventFileWriter(std::string path, EventFileOptions options)
    : impl_(std::make_unique<Impl>(std::move(path), std::move(options))) {}
EventFileWriter::~EventFileWriter() = default;

void EventFileWriter::unit(const UnitInfo& u) { impl_->record(Tag::unit, u); }
void EventFileWriter::span(const UnitSpan& s) { impl_->record(Tag::span, s); }
void EventFileWriter::instruction(const InstructionEvent& e) {
  if (!impl_->capped()) impl_->record(Tag::instruction, e);
}
void EventFileWriter::flow(const FlowEvent& e) {
  if (!impl_->capped()) impl_->record(Tag::flow, e);
}
void EventFileWriter::task(const TaskEvent& e) { impl_->record(Tag::task, e); }
void EventFileWriter::job(const JobEvent& e) { impl_->record(Tag::job, e); }
void EventFileWriter::launch(const LaunchEvent& e) {
  impl_->record(Tag::launch, LaunchRecord{e, {e.after.begin(), e.after.end()}});
}
void EventFileWriter::end(int64_t cycles) {
  impl_->last.cycles = cycles;
  EndRecord last = impl_->last;
  ++last.records;  // this one
  impl_->record(Tag::end, last);
  impl_->flush();
  std::string sum;
  for (int i = 0; i < 64; i += 8) sum.push_back(char(impl_->hash >> i));
  impl_->file.write(sum);
  impl_->file.commit();
}

namespace {

std::string whole_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw UserError(path + ": the file cannot be read; a run with --out DIR leaves it");
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  const auto bad = [&](const char* what) { return UserError(path + ": " + what); };
  if (!bytes.starts_with(kMagic)) throw bad("this is not an event file of daybreak");
  if (bytes.size() < kMagic.size() + 9) throw bad("the file is cut short");
  uint64_t sum = 0;
  for (size_t i = 0; i < 8; ++i) sum |= uint64_t(uint8_t(bytes[bytes.size() - 8 + i])) << 8 * i;
  bytes.resize(bytes.size() - 8);
  if (hash_of(kHashStart, bytes) != sum)
    throw bad("the checksum does not match: the file is damaged or cut short");
  return bytes;
}

RunFacts head(Decoder& in) {
  const uint64_t version = in.varint();
  if (version != kVersion)
    in.fail(fmt::format("version {}, this program reads {}", version, kVersion));
  RunFacts facts;
  fields(in, facts);
  return facts;
}

template <class T> T read(Decoder& in) {
  T out;
  fields(in, out);
  return out;
}

}  // namespace

RunFacts read_facts(const std::string& path) {
  const std::string bytes = whole_file(path);
  Decoder in(std::string_view(bytes).substr(kMagic.size()), path);
  return head(in);
}

ReplayedRun replay_events(const std::string& path, std::span<Observer* const> observers) {
  const std::string bytes = whole_file(path);
  Decoder in(std::string_view(bytes).substr(kMagic.size()), path);
  ReplayedRun run{.facts = head(in)};
  const auto tell = [&](auto&& call) {
    for (Observer* o : observers) call(*o);
  };
  while (!in.done()) {
    ++run.records;
    const uint8_t tag = in.byte();
    switch (Tag(tag)) {
      case Tag::unit: tell([e = read<UnitInfo>(in)](Observer& o) { o.unit(e); }); break;
      case Tag::span: tell([e = read<UnitSpan>(in)](Observer& o) { o.span(e); }); break;
      case Tag::instruction:
        tell([e = read<InstructionEvent>(in)](Observer& o) { o.instruction(e); });
        break;
      case Tag::flow: tell([e = read<FlowEvent>(in)](Observer& o) { o.flow(e); }); break;
      case Tag::task: tell([e = read<TaskEvent>(in)](Observer& o) { o.task(e); }); break;
      case Tag::job: tell([e = read<JobEvent>(in)](Observer& o) { o.job(e); }); break;
      case Tag::launch: {
        LaunchRecord r = read<LaunchRecord>(in);
        r.event.after = r.after;
        tell([&](Observer& o) { o.launch(r.event); });
        break;
      }
      case Tag::end: {
        const EndRecord e = read<EndRecord>(in);
        if (e.records != run.records || !in.done()) in.fail("records are missing");
        run.cycles = e.cycles, run.dropped = e.dropped;
        tell([&](Observer& o) { o.end(e.cycles); });
        return run;
      }
      default: in.fail(fmt::format("unknown record {}", tag));
    }
  }
  in.fail("the end is missing");
}

}  // namespace daybreak::traces
