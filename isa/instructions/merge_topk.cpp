#include "isa/instructions/merge_topk.hpp"

#include <algorithm>

#include "isa/instructions/detail/records.hpp"
#include "isa/instructions/detail/rows.hpp"

namespace daybreak::isa {

namespace {

constexpr uint64_t kEnd = ~uint64_t{0};

// A sorted list being consumed.
struct Cursor {
  std::vector<detail::Record> list;
  size_t next = 0;
  uint64_t head = kEnd;

  void advance() { head = next < list.size() ? detail::rank(list[next]) : kEnd; }
};

Cursor open(Context& c, const TileRef& t) {
  Cursor cursor{.list = detail::read_records(c, t, MergeTopk::kName)};
  auto& list = cursor.list;
  std::erase_if(list, [](const detail::Record& r) { return !detail::selectable(r); });
  for (size_t i = 1; i < list.size(); ++i)
    if (detail::rank(list[i]) < detail::rank(list[i - 1]))
      detail::fail(MergeTopk::kName,
                   "list " + detail::describe(t) + " is not sorted at record " + std::to_string(i));
  cursor.advance();
  return cursor;
}

}  // namespace

// One pass writes each kept record once.
Work MergeTopk::work() const {
  const int64_t all = a.elements() + b.elements() + c.elements() + d.elements();
  return {.merge_records = std::min<int64_t>(all, k), .sort_passes = 1};
}

void MergeTopk::execute(Context& context) const {
  if (k < 0 || to.elements() != k)
    detail::fail(kName, detail::describe(to) + " must hold " + std::to_string(k) + " records");
  std::vector<Cursor> lists;
  for (const TileRef* t : {&a, &b, &c, &d})
    if (!t->empty()) lists.push_back(open(context, *t));
  std::vector<detail::Record> out;
  out.reserve(size_t(k));
  while (int64_t(out.size()) < k && !lists.empty()) {
    Cursor* best = &lists[0];
    for (Cursor& l : lists)
      if (l.head < best->head) best = &l;
    if (best->head == kEnd) break;
    out.push_back(best->list[best->next++]);
    best->advance();
  }
  detail::write_records(context, to, out, kName);
}

}  // namespace daybreak::isa
