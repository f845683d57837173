// What a channel's controller knows of a bank and of the requests that wait for it, and which of
// them is next: row hits first, oldest first, with a cap on how often the oldest is passed.
#pragma once
#include <cstdint>
#include <vector>

namespace daybreak::sim {

// The atoms of one request in one row that the controller's queue has taken. Times are ticks.
struct HbmRun {
  uint64_t owner = 0;
  int64_t arrived = 0, admitted = 0;
  uint32_t row = 0;
  uint16_t bank = 0, atoms = 0;
  int32_t next = -1;  // of the same bank and direction, younger
  bool write = false;
  bool more = false;  // atoms of the request wait in front of the queue
};

struct HbmBank {
  struct List {
    int32_t head = -1, tail = -1;
    bool empty() const { return head < 0; }
  };
  int64_t act_ok = 0, pre_ok = 0;  // ticks
  int64_t column_ok[2] = {0, 0};   // reads, writes
  int64_t ready = 0;               // last column booked: no decision before
  int64_t refresh_due = 0, refresh_begin = 0, refresh_end = 0;
  int64_t open = -1;                    // row, -1 when precharged
  List queue[2];                        // reads, writes
  int32_t passed = 0;                   // row hits taken before the oldest run
  int32_t opener = -1;                  // the run that the open row was opened for, until served
  uint16_t pc = 0, group = 0, sid = 0;  // group counts over stack ids
};

// The run to serve next, and the one before it in its list (-1: it is the oldest).
struct HbmChoice {
  int32_t run = -1, before = -1;
  bool hit = false;
};

inline HbmChoice fr_fcfs(const HbmBank& bank, const HbmBank::List& list,
                         const std::vector<HbmRun>& runs, int64_t starvation) {
  if (list.empty()) return {};
  const HbmChoice oldest{list.head, -1, bank.open == runs[list.head].row};
  if (bank.open < 0 || oldest.hit || bank.passed >= starvation) return oldest;
  for (int32_t before = list.head, run = runs[before].next; run >= 0;
       before = run, run = runs[run].next) {
    if (bank.open == runs[run].row) return {run, before, true};
  }
  return oldest;
}

}  // namespace daybreak::sim
