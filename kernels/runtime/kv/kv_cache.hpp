// The life of sequences over several paged caches that grow in step (latents and index keys, whose
// pages may hold different numbers of tokens): open with prefix sharing, append, fork, roll back,
// close, and pressure: blocks of sequences that do not take part in a step move to the host when
// pages run short, and come back before the step that gathers from them.
//
//   KvCache kv({&index, &latents});
//   const auto opened = kv.open(prompt);                  // shares what a living sequence holds
//   kv.append(opened->request, rest, {opened->request});  // pages for the new tokens
//   ... the step writes them: kv.cache(1).slot(request, position) is their slot mapping ...
//   kv.commit(opened->request);                           // now others may share them
#pragma once
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "kernels/runtime/kv/paged_cache.hpp"

namespace daybreak::kernels::kv {

class KvCache {
 public:
  // The caches are not owned and have equally many requests; UserError otherwise.
  explicit KvCache(std::vector<PagedCache*> caches);

  struct Opened {
    int request;
    int64_t shared;  // leading tokens of the prompt that are there already
  };
  // A new sequence. At least one token of the prompt is left to append, since a step needs a query.
  // None when every request is taken.
  std::optional<Opened> open(std::span<const int32_t> prompt);
  // Pages for further tokens, resident and this sequence's own. Sequences not in `active` may lose
  // theirs to the host. False, with the sequence unchanged, when the pages of the active ones do
  // not leave enough, or the sequence would pass its longest length.
  bool append(int request, std::span<const int32_t> tokens, const std::set<int>& active);
  // What has been appended is written: others may share it.
  void commit(int request);
  // Another sequence with the same committed tokens; what either writes from there on is its own.
  std::optional<int> fork(int request);
  // Forgets tokens from the end (rejected speculation).
  void truncate(int request, int64_t length);
  void close(int request);
  // Every block of the active sequences is in device memory afterwards. False when they do not fit
  // together.
  bool make_resident(const std::set<int>& active);

  bool open(int request) const { return sequences_[size_t(request)].open; }
  int64_t length(int request) const { return int64_t(sequences_[size_t(request)].tokens.size()); }
  int64_t committed(int request) const { return sequences_[size_t(request)].committed; }
  std::span<const int32_t> tokens(int request) const { return sequences_[size_t(request)].tokens; }
  int requests() const { return int(sequences_.size()); }
  int64_t longest() const;  // tokens one sequence can hold
  PagedCache& cache(size_t which) const { return *caches_[which]; }
  size_t caches() const { return caches_.size(); }
  // Opaque bytes that belong to a sequence beside its caches (recurrent state).
  std::vector<std::byte>& state(int request) { return sequences_[size_t(request)].state; }
  const std::vector<std::byte>& state(int request) const {
    return sequences_[size_t(request)].state;
  }

 private:
  struct Sequence {
    bool open = false;
    std::vector<int32_t> tokens;
    int64_t committed = 0;
    std::vector<uint64_t> hashes;  // of the tokens up to the end of each whole segment, committed
    std::vector<std::byte> state;
  };
  Sequence& at(int request);
  int free_request() const;
  // The living sequence that shares most tokens with the prompt, and how many.
  std::pair<int, int64_t> longest_prefix(std::span<const int32_t> prompt) const;
  void share(int from, int to, int64_t tokens);
  void hash_new_segments(int request);
  void forget_hashes(int request, size_t keep);
  bool make_room(PagedCache&, int64_t pages, const std::set<int>& keep);

  std::vector<PagedCache*> caches_;
  std::vector<Sequence> sequences_;
  std::unordered_multimap<uint64_t, int> by_hash_;  // segments of living sequences
  int64_t segment_ = 1;
  uint64_t time_ = 0;
};

}  // namespace daybreak::kernels::kv
