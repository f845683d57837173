// What pipelines share: tiles of one lifetime held together, rings of them, checks of a Tuning.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "configs/reader/errors.hpp"
#include "kernels/tile/elements.hpp"
#include "kernels/tile/tuning.hpp"

namespace daybreak::kernels {

// A struct of tiles and the ids its machine gave them.
template <class T, class M> struct Owned {
  std::vector<uint32_t> ids;
  T value;
  Owned(M& m, const char* lifetime) : ids(begin(m, lifetime)), value(), done_(m, ids) {}
  Owned(const Owned&) = delete;

 private:
  // Member order makes this run after `value` exists: it closes the collection that begin() opened.
  struct Done {
    Done(M& m, std::vector<uint32_t>& ids) { ids = m.end_lifetime(); }
  } done_;
  static std::vector<uint32_t> begin(M& m, const char* lifetime) {
    m.begin_lifetime(lifetime);
    return {};
  }
};

// `depth` copies of a lifetime, used round robin.
template <class T, class M> class Ring {
 public:
  Ring(M& m, const char* lifetime, int depth) {
    if (depth < 1)
      throw UserError(std::string("a ring of ") + lifetime + " needs at least one slot");
    for (int i = 0; i < depth; ++i) slots_.push_back(std::make_unique<Owned<T, M>>(m, lifetime));
  }
  int depth() const { return int(slots_.size()); }
  T& at(int step) { return slots_[step % depth()]->value; }
  const std::vector<uint32_t>& slot(int step) const { return slots_[step % depth()]->ids; }

 private:
  std::vector<std::unique_ptr<Owned<T, M>>> slots_;
};

// Task number `number` of a kernel: the only body that may read memory as numbers.
template <class K, class M>
typename K::Task read_task(M& m, const typename K::Args& args, int number) {
  m.enter("task", number);
  return K::task(m, args, number);
}

// `dim` is the reduction length that score_ahead cuts; 0 where a pipeline only knows whole steps.
inline void check_tuning(const std::string& kernel, const Tuning& t, int dim) {
  auto refuse = [&](const std::string& why) {
    throw UserError("tuning of " + kernel + ": " + why);
  };
  if (t.ring < 1 || t.boards < 1)
    refuse("ring and boards count slots and must be at least 1, not " + std::to_string(t.ring) +
           " and " + std::to_string(t.boards));
  if (t.score_ahead < 0 || (dim > 0 && (t.score_ahead > dim || t.score_ahead % 64 != 0)))
    refuse("score_ahead must be a multiple of 64 from 0 to " + std::to_string(dim) + ", not " +
           std::to_string(t.score_ahead));
  if (t.score_ahead > 0 && t.ring < 2) refuse("scoring ahead needs ring of at least 2");
}

}  // namespace daybreak::kernels
