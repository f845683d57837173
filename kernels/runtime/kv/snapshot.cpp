#include "kernels/runtime/kv/snapshot.hpp"

#include <cstring>

#include "configs/reader/errors.hpp"
#include "isa/program/binary.hpp"

namespace daybreak::kernels::kv {
namespace {

constexpr char kMagic[4] = {'D', 'B', 'K', 'V'};
constexpr uint32_t kVersion = 1;

class Writer {
 public:
  explicit Writer(const ByteSink& sink) : sink_(sink) {}
  void bytes(std::span<const std::byte> b) {
    crc_ = isa::crc32(b, crc_);
    sink_(b);
  }
  template <class T> void number(T v) { bytes(std::as_bytes(std::span(&v, 1))); }
  uint32_t crc() const { return crc_; }

 private:
  const ByteSink& sink_;
  uint32_t crc_ = 0;
};

class Reader {
 public:
  Reader(std::span<const std::byte> bytes, const std::string& file) : rest_(bytes), file_(file) {}
  std::span<const std::byte> take(uint64_t count, const char* what) {
    if (count > rest_.size())
      fail(std::string("it ends within ") + what + "; the snapshot is cut or altered");
    const auto out = rest_.first(size_t(count));
    rest_ = rest_.subspan(size_t(count));
    return out;
  }
  template <class T> T number(const char* what) {
    T v;
    std::memcpy(&v, take(sizeof(T), what).data(), sizeof(T));
    return v;
  }
  bool empty() const { return rest_.empty(); }
  [[noreturn]] void fail(const std::string& sentence) const {
    throw UserError("snapshot " + file_ + ": " + sentence);
  }

 private:
  std::span<const std::byte> rest_;
  const std::string& file_;
};

// One sequence of the file, pointing into its bytes.
struct Stored {
  std::vector<int32_t> tokens;
  std::span<const std::byte> state;
  std::vector<std::span<const std::byte>> data;  // per cache
};

void read_head(Reader& r, const KvCache& kv) {
  if (std::memcmp(r.take(sizeof(kMagic), "its first bytes").data(), kMagic, sizeof(kMagic)) != 0)
    r.fail("it is not a snapshot of a KV cache");
  const auto version = r.number<uint32_t>("the version");
  if (version != kVersion)
    r.fail("version " + std::to_string(version) + "; this program reads version " +
           std::to_string(kVersion));
  if (r.number<uint32_t>("the number of caches") != kv.caches())
    r.fail("it holds another number of caches than " + std::to_string(kv.caches()));
  for (size_t c = 0; c < kv.caches(); ++c) {
    const auto text = r.take(r.number<uint32_t>("a cache's name"), "a cache's name");
    const std::string name(reinterpret_cast<const char*>(text.data()), text.size());
    const auto bytes = r.number<uint64_t>("a cache's token");
    const CacheLayout& want = kv.cache(c).shape().layout;
    if (name != want.name || bytes != uint64_t(want.token_bytes()))
      r.fail("its cache of " + name + " with " + std::to_string(bytes) +
             " bytes a token is not one of " + want.name + " with " +
             std::to_string(want.token_bytes()));
  }
}

std::vector<Stored> read_sequences(Reader& r, const KvCache& kv) {
  const auto count = r.number<uint32_t>("the number of sequences");
  if (count > uint32_t(kv.requests()))
    r.fail("it holds " + std::to_string(count) + " sequences, the cache takes " +
           std::to_string(kv.requests()));
  std::vector<Stored> all(count);
  for (Stored& s : all) {
    const auto tokens = r.number<uint64_t>("a sequence's length");
    if (tokens > uint64_t(kv.longest()))
      r.fail("a sequence of " + std::to_string(tokens) + " tokens, the cache takes " +
             std::to_string(kv.longest()));
    const auto ids = r.take(tokens * 4, "token ids");
    s.tokens.resize(size_t(tokens));
    std::memcpy(s.tokens.data(), ids.data(), ids.size());
    s.state = r.take(r.number<uint64_t>("a sequence's state"), "a sequence's state");
    for (size_t c = 0; c < kv.caches(); ++c)
      s.data.push_back(
          r.take(tokens * uint64_t(kv.cache(c).shape().layout.token_bytes()), "cached tokens"));
  }
  return all;
}

int load(KvCache& kv, const Stored& stored) {
  const auto opened = kv.open(stored.tokens);
  if (!opened) throw InvariantError("a cache that takes the snapshot has no request left");
  const int request = opened->request;
  if (!kv.append(request, std::span(stored.tokens).subspan(size_t(opened->shared)), {request}))
    throw InvariantError("a cache that takes the snapshot has no pages left");
  for (size_t c = 0; c < kv.caches(); ++c) {
    const auto bytes = size_t(kv.cache(c).shape().layout.token_bytes());
    for (int64_t p = opened->shared; p < kv.length(request); ++p)
      kv.cache(c).write_token(request, p, stored.data[c].subspan(size_t(p) * bytes, bytes));
  }
  kv.state(request).assign(stored.state.begin(), stored.state.end());
  kv.commit(request);
  return request;
}

}  // namespace

void write_snapshot(const KvCache& kv, const ByteSink& sink) {
  Writer w(sink);
  w.bytes(std::as_bytes(std::span(kMagic)));
  w.number(kVersion);
  w.number(uint32_t(kv.caches()));
  for (size_t c = 0; c < kv.caches(); ++c) {
    const CacheLayout& l = kv.cache(c).shape().layout;
    w.number(uint32_t(l.name.size()));
    w.bytes(std::as_bytes(std::span(l.name)));
    w.number(uint64_t(l.token_bytes()));
  }
  uint32_t open = 0;
  for (int r = 0; r < kv.requests(); ++r) open += kv.open(r);
  w.number(open);
  for (int r = 0; r < kv.requests(); ++r) {
    if (!kv.open(r)) continue;
    const int64_t tokens = kv.committed(r);
    w.number(uint64_t(tokens));
    w.bytes(std::as_bytes(kv.tokens(r).first(size_t(tokens))));
    w.number(uint64_t(kv.state(r).size()));
    w.bytes(kv.state(r));
    for (size_t c = 0; c < kv.caches(); ++c) {
      std::vector<std::byte> token(size_t(kv.cache(c).shape().layout.token_bytes()));
      for (int64_t p = 0; p < tokens; ++p) {
        kv.cache(c).read_token(r, p, token);
        w.bytes(token);
      }
    }
  }
  const uint32_t crc = w.crc();
  sink(std::as_bytes(std::span(&crc, 1)));
}

std::vector<int> read_snapshot(KvCache& kv, std::span<const std::byte> bytes,
                               const std::string& file) {
  for (int r = 0; r < kv.requests(); ++r)
    if (kv.open(r)) throw InvariantError("a snapshot is read into a cache without sequences");
  Reader r(bytes.first(bytes.size() - std::min<size_t>(bytes.size(), 4)), file);
  read_head(r, kv);
  const auto sequences = read_sequences(r, kv);
  if (!r.empty()) r.fail("bytes follow its last sequence; the snapshot is altered");
  uint32_t want;
  std::memcpy(&want, bytes.last(4).data(), 4);
  if (isa::crc32(bytes.first(bytes.size() - 4)) != want)
    r.fail("its checksum does not fit its contents; the snapshot is altered");
  std::vector<int> requests;
  for (const Stored& s : sequences) requests.push_back(load(kv, s));
  return requests;
}

}  // namespace daybreak::kernels::kv
