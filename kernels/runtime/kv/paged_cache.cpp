#include "kernels/runtime/kv/paged_cache.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "configs/reader/errors.hpp"

namespace daybreak::kernels::kv {
namespace {

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

void write_words(DeviceBytes& to, uint64_t at, std::span<const int32_t> words) {
  to.write(at, std::as_bytes(words));
}

}  // namespace

PagedCache::PagedCache(CacheShape shape, DeviceBytes& data, DeviceBytes& requests,
                       DeviceBytes& blocks)
    : shape_(std::move(shape)),
      data_(data),
      requests_(requests),
      blocks_(blocks),
      maps_(size_t(std::max<int64_t>(shape_.requests, 0))),
      generations_(maps_.size(), 1) {
  const CacheLayout& l = shape_.layout;
  if (shape_.pages < 1 || shape_.requests < 1 || shape_.blocks_per_request < 1 ||
      l.page_tokens < 1 || l.token_bytes() < 1)
    throw UserError("cache of " + l.name + ": pages, requests, blocks and tokens are at least 1");
  if (shape_.pages > std::numeric_limits<int32_t>::max() / l.page_tokens ||
      shape_.requests > std::numeric_limits<int32_t>::max() / shape_.blocks_per_request)
    throw UserError("cache of " + l.name + ": rows and block entries are numbered in 32 bits");
  for (int64_t p = 0; p < shape_.pages; ++p) free_.insert(free_.end(), int32_t(p));
  for (int r = 0; r < int(maps_.size()); ++r) write_request(r);
  const std::vector<int32_t> none(size_t(shape_.blocks_per_request), -1);
  for (int64_t r = 0; r < shape_.requests; ++r)
    write_words(blocks_, uint64_t(r * shape_.blocks_per_request) * 4, none);
}

PagedCache::BlockRef& PagedCache::at(int request, int64_t block) {
  return const_cast<BlockRef&>(std::as_const(*this).at(request, block));
}
const PagedCache::BlockRef& PagedCache::at(int request, int64_t block) const {
  const auto& map = maps_.at(size_t(request));
  if (block < 0 || block >= int64_t(map.size()))
    throw InvariantError("request " + std::to_string(request) + " has " +
                         std::to_string(map.size()) + " blocks of " + shape_.layout.name +
                         ", not block " + std::to_string(block));
  return map[size_t(block)];
}

bool PagedCache::resident(int request, int64_t block) const {
  return at(request, block)->page >= 0;
}
bool PagedCache::shared(int request, int64_t block) const {
  return at(request, block)->users.size() > 1;
}

int64_t PagedCache::slot(int request, int64_t position) const {
  const int64_t tokens = shape_.layout.page_tokens;
  const Block& b = *at(request, position / tokens);
  return b.page < 0 ? -1 : b.page * tokens + position % tokens;
}

int64_t PagedCache::pages_to_write(int request, int64_t from, int64_t to) const {
  const int64_t tokens = shape_.layout.page_tokens;
  int64_t pages = 0;
  for (int64_t b = from / tokens; b < ceil_div(to, tokens); ++b) {
    const bool fresh = b >= blocks(request);
    pages += fresh || at(request, b)->page < 0 || at(request, b)->users.size() > 1;
  }
  return pages;
}

void PagedCache::prepare_write(int request, int64_t from, int64_t to) {
  const int64_t tokens = shape_.layout.page_tokens, end = ceil_div(to, tokens);
  auto& map = maps_.at(size_t(request));
  if (end > shape_.blocks_per_request)
    throw InvariantError("request " + std::to_string(request) + " has room for " +
                         std::to_string(shape_.blocks_per_request * tokens) + " tokens of " +
                         shape_.layout.name + ", not " + std::to_string(to));
  if (from / tokens > int64_t(map.size()))
    throw InvariantError("positions of a request are written in order");
  for (int64_t b = from / tokens; b < end; ++b) {
    if (b == int64_t(map.size())) {
      map.push_back(std::make_shared<Block>());
      map.back()->page = take_page();
      map.back()->users.push_back({request, b});
      write_entry(request, b);
    } else if (map[size_t(b)]->users.size() > 1) {
      std::vector<std::byte> bytes(size_t(shape_.layout.page_bytes));
      const Block& old = *map[size_t(b)];
      if (old.page >= 0)
        data_.read(uint64_t(old.page) * uint64_t(shape_.layout.page_bytes), bytes);
      else
        bytes = old.host;
      auto own = std::make_shared<Block>();
      own->page = take_page();
      own->used = old.used;
      data_.write(uint64_t(own->page) * uint64_t(shape_.layout.page_bytes), bytes);
      unmap(request, b);
      own->users.push_back({request, b});
      map[size_t(b)] = std::move(own);
      write_entry(request, b);
      stale(request);
      ++counters_.copied;
    } else if (map[size_t(b)]->page < 0) {
      restore(request, b);
    }
  }
  write_request(request);
}

void PagedCache::shrink(int request, int64_t tokens) {
  auto& map = maps_.at(size_t(request));
  const int64_t keep = ceil_div(tokens, shape_.layout.page_tokens);
  if (int64_t(map.size()) <= keep) return;
  while (int64_t(map.size()) > keep) {
    const int64_t b = int64_t(map.size()) - 1;
    unmap(request, b);
    map.pop_back();
    write_words(blocks_, uint64_t(request * shape_.blocks_per_request + b) * 4,
                std::vector<int32_t>{-1});
  }
  stale(request);
}

void PagedCache::share(int from, int to, int64_t count) {
  auto& map = maps_.at(size_t(to));
  if (!map.empty()) throw InvariantError("a request that shares a prefix must be empty");
  for (int64_t b = 0; b < count; ++b) {
    map.push_back(at(from, b));
    map.back()->users.push_back({to, b});
    write_entry(to, b);
  }
  write_request(to);
}

void PagedCache::offload(int request, int64_t block) {
  const BlockRef b = at(request, block);
  if (b->page < 0) return;
  b->host.resize(size_t(shape_.layout.page_bytes));
  data_.read(uint64_t(b->page) * uint64_t(shape_.layout.page_bytes), b->host);
  give_page(b->page);
  b->page = -1;
  for (const Victim& user : b->users) {
    write_entry(user.request, user.block);
    stale(user.request);
  }
  ++counters_.offloaded;
}

// No table becomes stale: while the block was away, no translation could name it.
void PagedCache::restore(int request, int64_t block) {
  const BlockRef b = at(request, block);
  if (b->page >= 0) return;
  b->page = take_page();
  data_.write(uint64_t(b->page) * uint64_t(shape_.layout.page_bytes), b->host);
  b->host = {};
  for (const Victim& user : b->users) write_entry(user.request, user.block);
  ++counters_.restored;
}

std::optional<PagedCache::Victim> PagedCache::coldest(const std::set<int>& keep) const {
  std::optional<Victim> best;
  uint64_t used = 0;
  for (int r = 0; r < int(maps_.size()); ++r) {
    for (int64_t i = 0; i < blocks(r); ++i) {
      const Block& b = *maps_[size_t(r)][size_t(i)];
      const bool wanted = std::any_of(b.users.begin(), b.users.end(), [&](const Victim& user) {
        return keep.contains(user.request);
      });
      if (b.page < 0 || wanted || (best && b.used >= used)) continue;
      best = {r, i};
      used = b.used;
    }
  }
  return best;
}

void PagedCache::touch(int request, uint64_t time) {
  for (const BlockRef& b : maps_.at(size_t(request))) b->used = time;
}

void PagedCache::read_token(int request, int64_t position, std::span<std::byte> to) const {
  const CacheLayout& l = shape_.layout;
  const Block& b = *at(request, position / l.page_tokens);
  for (const Field& f : l.fields) {
    const int64_t within = f.offset + position % l.page_tokens * f.stride;
    if (b.page >= 0)
      data_.read(uint64_t(b.page) * uint64_t(l.page_bytes) + uint64_t(within),
                 to.first(size_t(f.bytes)));
    else
      std::copy_n(b.host.begin() + within, f.bytes, to.begin());
    to = to.subspan(size_t(f.bytes));
  }
}

void PagedCache::write_token(int request, int64_t position, std::span<const std::byte> from) {
  const CacheLayout& l = shape_.layout;
  const Block& b = *at(request, position / l.page_tokens);
  if (b.page < 0 || b.users.size() > 1)
    throw InvariantError("position " + std::to_string(position) + " of request " +
                         std::to_string(request) + " is written without prepare_write");
  for (const Field& f : l.fields) {
    const int64_t within = f.offset + position % l.page_tokens * f.stride;
    data_.write(uint64_t(b.page) * uint64_t(l.page_bytes) + uint64_t(within),
                from.first(size_t(f.bytes)));
    from = from.subspan(size_t(f.bytes));
  }
}

int32_t PagedCache::take_page() {
  if (free_.empty()) throw InvariantError("no free page of " + shape_.layout.name);
  const int32_t page = *free_.begin();
  free_.erase(free_.begin());
  return page;
}

void PagedCache::give_page(int32_t page) { free_.insert(page); }

// The place no longer maps its block; the last one to leave frees its page.
void PagedCache::unmap(int request, int64_t block) {
  Block& b = *at(request, block);
  std::erase_if(b.users, [&](const Victim& u) { return u.request == request && u.block == block; });
  if (b.users.empty() && b.page >= 0) give_page(b.page);
}

void PagedCache::write_entry(int request, int64_t block) {
  const int32_t page = at(request, block)->page;
  write_words(blocks_, uint64_t(request * shape_.blocks_per_request + block) * 4,
              std::span(&page, 1));
}

void PagedCache::write_request(int request) {
  const int32_t entry[] = {int32_t(request * shape_.blocks_per_request),
                           int32_t(maps_[size_t(request)].size()), generations_[size_t(request)],
                           0};
  write_words(requests_, uint64_t(request) * sizeof(entry), entry);
}

void PagedCache::stale(int request) {
  int32_t& generation = generations_[size_t(request)];
  generation = generation == std::numeric_limits<int32_t>::max() ? 1 : generation + 1;
  ++counters_.generations;
  write_request(request);
}

}  // namespace daybreak::kernels::kv
