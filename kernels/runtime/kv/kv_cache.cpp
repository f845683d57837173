#include "kernels/runtime/kv/kv_cache.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "configs/reader/errors.hpp"

namespace daybreak::kernels::kv {
namespace {

// FNV-1a over the tokens of a segment, continuing from the segments before it.
uint64_t hash(std::span<const int32_t> tokens, uint64_t h) {
  for (int32_t token : tokens)
    for (int byte = 0; byte < 4; ++byte)
      h = (h ^ (uint32_t(token) >> (8 * byte) & 0xFF)) * 0x100000001B3u;
  return h;
}
constexpr uint64_t kHashStart = 0xCBF29CE484222325u;

int64_t common_prefix(std::span<const int32_t> a, std::span<const int32_t> b) {
  return std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
}

}  // namespace

KvCache::KvCache(std::vector<PagedCache*> caches) : caches_(std::move(caches)) {
  if (caches_.empty()) throw UserError("a KV cache has at least one cache");
  for (const PagedCache* c : caches_) {
    if (c->shape().requests != caches_[0]->shape().requests)
      throw UserError("the caches of a sequence have equally many requests");
    segment_ = std::max(segment_, c->shape().layout.page_tokens);
  }
  sequences_.resize(size_t(caches_[0]->shape().requests));
}

int64_t KvCache::longest() const {
  int64_t tokens = std::numeric_limits<int64_t>::max();
  for (const PagedCache* c : caches_) {
    const CacheShape& s = c->shape();
    tokens = std::min(tokens, std::min(s.blocks_per_request, s.pages) * s.layout.page_tokens);
  }
  return tokens;
}

KvCache::Sequence& KvCache::at(int request) {
  if (request < 0 || request >= requests() || !sequences_[size_t(request)].open)
    throw InvariantError("request " + std::to_string(request) + " is not open");
  return sequences_[size_t(request)];
}

int KvCache::free_request() const {
  const auto free =
      std::find_if(sequences_.begin(), sequences_.end(), [](const Sequence& s) { return !s.open; });
  return free == sequences_.end() ? -1 : int(free - sequences_.begin());
}

std::optional<KvCache::Opened> KvCache::open(std::span<const int32_t> prompt) {
  const int request = free_request();
  if (request < 0) return std::nullopt;
  auto [from, shared] = longest_prefix(prompt.first(prompt.empty() ? 0 : prompt.size() - 1));
  sequences_[size_t(request)] = {};
  sequences_[size_t(request)].open = true;
  if (shared > 0) share(from, request, shared);
  return Opened{request, shared};
}

std::pair<int, int64_t> KvCache::longest_prefix(std::span<const int32_t> prompt) const {
  std::pair<int, int64_t> best{-1, 0};
  uint64_t h = kHashStart;
  for (int64_t end = segment_; end <= int64_t(prompt.size()); end += segment_) {
    h = hash(prompt.subspan(size_t(end - segment_), size_t(segment_)), h);
    const int64_t before = best.second;
    for (auto [it, last] = by_hash_.equal_range(h); it != last; ++it) {
      const Sequence& s = sequences_[size_t(it->second)];
      const int64_t common = common_prefix(prompt, std::span(s.tokens).first(size_t(s.committed)));
      // Equal lengths: the lower request, so that the map's order does not matter.
      if (common > best.second || (common == best.second && it->second < best.first))
        best = {it->second, common};
    }
    if (best.second == before && best.second < end) break;
  }
  return best;
}

void KvCache::share(int from, int to, int64_t tokens) {
  const Sequence& source = sequences_[size_t(from)];
  Sequence& s = sequences_[size_t(to)];
  for (PagedCache* c : caches_) {
    const int64_t page = c->shape().layout.page_tokens;
    c->share(from, to, (tokens + page - 1) / page);
  }
  s.tokens.assign(source.tokens.begin(), source.tokens.begin() + tokens);
  s.committed = tokens;
  hash_new_segments(to);
}

bool KvCache::append(int request, std::span<const int32_t> tokens, const std::set<int>& active) {
  Sequence& s = at(request);
  const int64_t from = length(request), to = from + int64_t(tokens.size());
  if (to > longest()) return false;
  std::set<int> keep = active;
  keep.insert(request);
  for (PagedCache* c : caches_)
    if (!make_room(*c, c->pages_to_write(request, from, to), keep)) return false;
  for (PagedCache* c : caches_) c->prepare_write(request, from, to);
  s.tokens.insert(s.tokens.end(), tokens.begin(), tokens.end());
  return true;
}

bool KvCache::make_room(PagedCache& cache, int64_t pages, const std::set<int>& keep) {
  while (cache.free_pages() < pages) {
    const auto victim = cache.coldest(keep);
    if (!victim) return false;
    cache.offload(victim->request, victim->block);
  }
  return true;
}

void KvCache::commit(int request) {
  at(request).committed = length(request);
  hash_new_segments(request);
}

void KvCache::hash_new_segments(int request) {
  Sequence& s = sequences_[size_t(request)];
  while (int64_t(s.hashes.size() + 1) * segment_ <= s.committed) {
    const auto tokens =
        std::span(s.tokens).subspan(s.hashes.size() * size_t(segment_), size_t(segment_));
    s.hashes.push_back(hash(tokens, s.hashes.empty() ? kHashStart : s.hashes.back()));
    by_hash_.emplace(s.hashes.back(), request);
  }
}

void KvCache::forget_hashes(int request, size_t keep) {
  Sequence& s = sequences_[size_t(request)];
  for (; s.hashes.size() > keep; s.hashes.pop_back())
    for (auto [it, last] = by_hash_.equal_range(s.hashes.back()); it != last; ++it)
      if (it->second == request) {
        by_hash_.erase(it);
        break;
      }
}

std::optional<int> KvCache::fork(int request) {
  at(request);
  const int child = free_request();
  if (child < 0) return std::nullopt;
  sequences_[size_t(child)] = {};
  sequences_[size_t(child)].open = true;
  sequences_[size_t(child)].state = sequences_[size_t(request)].state;
  if (committed(request) > 0) share(request, child, committed(request));
  return child;
}

void KvCache::truncate(int request, int64_t length) {
  Sequence& s = at(request);
  if (length < 0 || length > int64_t(s.tokens.size()))
    throw InvariantError("a sequence of " + std::to_string(s.tokens.size()) +
                         " tokens cannot be cut to " + std::to_string(length));
  s.tokens.resize(size_t(length));
  s.committed = std::min(s.committed, length);
  forget_hashes(request, size_t(s.committed / segment_));
  for (PagedCache* c : caches_) c->shrink(request, length);
}

void KvCache::close(int request) {
  truncate(request, 0);
  sequences_[size_t(request)] = {};
}

bool KvCache::make_resident(const std::set<int>& active) {
  ++time_;
  for (PagedCache* c : caches_) {
    for (int r : active) {
      at(r);
      c->touch(r, time_);
    }
    for (int r : active)
      for (int64_t b = 0; b < c->blocks(r); ++b) {
        if (c->resident(r, b)) continue;
        if (!make_room(*c, 1, active)) return false;
        c->restore(r, b);
      }
  }
  return true;
}

}  // namespace daybreak::kernels::kv
