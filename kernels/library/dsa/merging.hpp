// Folding selection lists into a running one, four ways at a time.
#pragma once
#include "kernels/tile/machine.hpp"

namespace daybreak::kernels::dsa {

inline constexpr int kFold = 3;  // lists that join the running one in one merge, unless tuned

// best = the best of itself and the first `count` of the lists.
template <class M, class List, int kMore>
DAYBREAK_DEVICE void fold(M& m, List& best, List (&more)[kMore], int count) {
  static_assert(kMore >= 1 && kMore <= 3, "a merge takes two to four lists");
  if (count == 1) m.merge_topk(best, best, more[0]);
  if constexpr (kMore > 1)
    if (count == 2) m.merge_topk(best, best, more[0], more[1]);
  if constexpr (kMore > 2)
    if (count == 3) m.merge_topk(best, best, more[0], more[1], more[2]);
}

// A list without records.
template <class M, class List> DAYBREAK_DEVICE void clear(M& m, List& list) {
  typename M::template Local<float, 1, 32> none(m);
  m.fill(none, 0.f);
  m.topk_block(list, none, 0, 0);
}

// The selection of one token: positions ascending, -1 last, and how many there are.
template <class M, class List>
DAYBREAK_DEVICE void store_selection(M& m, const typename M::Tensor& positions,
                                     const typename M::Tensor& valid, int token, List& list) {
  typename M::template Local<int32_t, 1, List::kCols> chosen(m);
  typename M::template Local<int32_t, 1, 1> count(m);
  m.extract(chosen, count, list);
  m.store(positions, token, 0, chosen);
  m.store(valid, 0, token, count);
}

}  // namespace daybreak::kernels::dsa
