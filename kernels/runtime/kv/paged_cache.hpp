// One paged cache of many requests: pages handed out by reference count, shared by forks and equal
// prefixes, copied when written while shared, offloaded to the host and brought back. A change that
// takes a page from a position raises the generation of each request that maps the block, in the
// same call that changes its entry: an index table translated before is then refused by the gather
// (isa/instructions/gather.hpp).
//
// The page table in memory is what the kernels walk (isa/instructions/translate.hpp): request
// entries {first block entry, block entries, generation, 0}, and block entries {page, -1 =
// unmapped}. Each request owns `blocks_per_request` entries.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "kernels/runtime/kv/layout.hpp"

namespace daybreak::kernels::kv {

struct CacheShape {
  CacheLayout layout;
  int64_t pages = 0;               // of device memory
  int64_t requests = 0;            // rows of the request level
  int64_t blocks_per_request = 0;  // longest request
};

// What has happened since the start.
struct CacheCounters {
  int64_t copied = 0, offloaded = 0, restored = 0;  // pages
  int64_t generations = 0;                          // times a request's tables became stale
};

class PagedCache {
 public:
  // Writes an empty page table. Throws UserError for shapes without pages, requests or tokens.
  PagedCache(CacheShape, DeviceBytes& data, DeviceBytes& requests, DeviceBytes& blocks);

  const CacheShape& shape() const { return shape_; }
  const CacheCounters& counters() const { return counters_; }
  int64_t free_pages() const { return int64_t(free_.size()); }
  int64_t blocks(int request) const { return int64_t(maps_[size_t(request)].size()); }
  int32_t generation(int request) const { return generations_[size_t(request)]; }
  bool resident(int request, int64_t block) const;
  // Row of the cache that holds a position; -1 while its block is offloaded.
  int64_t slot(int request, int64_t position) const;
  bool shared(int request, int64_t block) const;

  // Pages that writing positions [from, to) takes: new blocks, copies of shared ones, offloaded
  // ones.
  int64_t pages_to_write(int request, int64_t from, int64_t to) const;
  // Makes them this request's own, resident and mapped. Needs pages_to_write() free pages.
  void prepare_write(int request, int64_t from, int64_t to);
  // Unmaps every block past the first `tokens` positions.
  void shrink(int request, int64_t tokens);
  // The first `count` blocks of `from` become those of `to`, which must be empty.
  void share(int from, int to, int64_t count);

  // Moves a block's bytes to the host for every request that maps it and frees its page.
  void offload(int request, int64_t block);
  // Brings it back; needs a free page.
  void restore(int request, int64_t block);
  // The resident block longest unused, in none of the requests that `keep` names.
  struct Victim {
    int request;
    int64_t block;
  };
  std::optional<Victim> coldest(const std::set<int>& keep) const;
  void touch(int request, uint64_t time);

  // A token's bytes, wherever they are; all fields in order.
  void read_token(int request, int64_t position, std::span<std::byte> to) const;
  void write_token(int request, int64_t position, std::span<const std::byte> from);

 private:
  struct Block {
    int32_t page = -1;            // -1: on the host
    std::vector<std::byte> host;  // bytes while offloaded
    std::vector<Victim> users;    // places that map it
    uint64_t used = 0;
  };
  using BlockRef = std::shared_ptr<Block>;

  int32_t take_page();
  void give_page(int32_t page);
  void unmap(int request, int64_t block);
  void write_entry(int request, int64_t block);
  void write_request(int request);
  void stale(int request);
  BlockRef& at(int request, int64_t block);
  const BlockRef& at(int request, int64_t block) const;

  CacheShape shape_;
  DeviceBytes &data_, &requests_, &blocks_;
  CacheCounters counters_;
  std::set<int32_t> free_;  // lowest first: the same history gives the same placement
  std::vector<std::vector<BlockRef>> maps_;
  std::vector<int32_t> generations_;
};

}  // namespace daybreak::kernels::kv
