// How a pipeline schedules a kernel. Data per (kernel, machine): none of it but `wide` changes a
// result's bits.
#pragma once

namespace daybreak::kernels {

struct Tuning {
  bool operator==(const Tuning&) const = default;

  int ring = 2;    // Stage slots: loads run up to this many steps ahead of the last reader (>= 1)
  int boards = 2;  // Board copies: the owner of a step may write one while another is read (>= 1)
  int score_ahead =
      0;  // columns of the next step's scores issued before this step is weighed: 0, kDim
          // (a whole step), or a multiple of 64 between; more than 0 needs ring >= 2.
          // The selection pipeline knows 0 and "more than 0" (a whole step).
  bool wide = false;  // the variant with longer steps, where the kernel has one: other partial sums
  bool pair = false;  // gathered attention: two cores share the rows that both gather
  int left = 1;       // left tiles of the grouped GEMM: the next is loaded while one is read (>= 1)
};

}  // namespace daybreak::kernels
