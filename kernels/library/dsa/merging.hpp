// Folding selection lists into a running one, four ways at a time.
#pragma once
#include "kernels/tile/machine.hpp"

namespace daybreak::kernels::dsa {

inline constexpr int kFold = 3;  // lists that join the running one in one merge

// best = the best of itself and the first `count` of kFold lists.
template <class M, class List> void fold(M& m, List& best, List (&more)[kFold], int count) {
  if (count == 1) m.merge_topk(best, best, more[0]);
  if (count == 2) m.merge_topk(best, best, more[0], more[1]);
  if (count == 3) m.merge_topk(best, best, more[0], more[1], more[2]);
}

// A list without records.
template <class M, class List> void clear(M& m, List& list) {
  typename M::template Tile<float, 1, 32> none;
  m.fill(none, 0.f);
  m.topk_block(list, none, 0, 0);
}

// The selection of one token: positions ascending, -1 last, and how many there are.
template <class M, class List>
void store_selection(M& m, const typename M::Tensor& positions, const typename M::Tensor& valid,
                     int token, List& list) {
  typename M::template Tile<int32_t, 1, List::kCols> chosen;
  typename M::template Tile<int32_t, 1, 1> count;
  m.extract(chosen, count, list);
  m.store(positions, token, 0, chosen);
  m.store(valid, 0, token, count);
}

}  // namespace daybreak::kernels::dsa
