// Where a byte lies in the HBM stacks. Fields from the least significant on, above the atom:
//   fine64     column low (64 B), channel, stack, pc, bank group, column high, bank, stack id, row
//   coarse256  column low (256 B), channel, stack, pc, bank group, column high, bank, stack id, row
//   rowlinear  channel, stack, column, pc, stack id, bank group, bank, row
// (memory.md section 2, with the stacks above the channels so that neighbouring chunks spread over
// all of them.) Counts need not be powers of two; rows beyond the last wrap round. With bank_hash,
// bank group and bank are XORed with the row's low bits (added modulo their count where that is no
// power of two), so that equal offsets of neighbouring rows lie in different banks.
#pragma once
#include <bit>
#include <cstdint>
#include <numeric>

#include "isa/program/types.hpp"
#include "sim/memory/hbm_timing.hpp"

namespace daybreak::sim {

// Division by a number fixed at construction; powers of two are shifts.
class Divisor {
 public:
  explicit Divisor(int64_t n = 1)
      : n_(uint64_t(n)), shift_(std::has_single_bit(n_) ? std::countr_zero(n_) : -1) {}
  uint64_t count() const { return n_; }
  // Divides `value`, returns the remainder.
  uint64_t take(uint64_t& value) const {
    if (shift_ >= 0) {
      const uint64_t rest = value & (n_ - 1);
      value >>= shift_;
      return rest;
    }
    const uint64_t rest = value % n_;
    value /= n_;
    return rest;
  }

 private:
  uint64_t n_;
  int shift_;
};

// Atoms of one open row that one request touches.
struct RowPiece {
  uint32_t stack = 0, channel = 0;
  uint32_t bank = 0;  // of the channel: ((pc * sids + sid) * groups + group) * banks + bank
  uint32_t row = 0, column = 0;  // first atom
  uint32_t atoms = 0;            // consecutive columns
};

class AddressMap {
 public:
  explicit AddressMap(const HbmConfig&);

  int64_t chunk_bytes() const { return int64_t(low_.count()) * atom_; }
  // Where the atom that holds `address` lies (atoms = 1).
  RowPiece decode(uint64_t address) const;

  // Calls sink(RowPiece) for the pieces of [address, address + bytes); every atom touched is in
  // exactly one piece.
  template <class Sink> void split(uint64_t address, uint64_t bytes, Sink&& sink) const {
    uint64_t first = address / uint64_t(atom_);
    const uint64_t last = (address + bytes - 1) / uint64_t(atom_);
    if (linear_) return split_linear(first, last, sink);
    while (first <= last) {
      RowPiece piece = decode_atom(first);
      const uint64_t room = low_.count() - first % low_.count();
      piece.atoms = uint32_t(room < last - first + 1 ? room : last - first + 1);
      sink(piece);
      first += piece.atoms;
    }
  }

 private:
  RowPiece decode_atom(uint64_t atom) const;

  // rowlinear: atoms `units` apart are neighbours in a row.
  template <class Sink> void split_linear(uint64_t first, uint64_t last, Sink& sink) const {
    const uint64_t units = channel_.count() * stack_.count();
    for (uint64_t lane = first; lane <= last && lane < first + units; ++lane) {
      for (uint64_t at = lane; at <= last;) {
        RowPiece piece = decode_atom(at);
        const uint64_t in_request = (last - at) / units + 1, in_row = columns_ - piece.column;
        piece.atoms = uint32_t(in_request < in_row ? in_request : in_row);
        sink(piece);
        at += piece.atoms * units;
      }
    }
  }

  bool linear_, hash_;
  int64_t atom_;
  uint64_t columns_;
  Divisor low_, channel_, stack_, pc_, group_, high_, bank_, sid_, row_;
};

}  // namespace daybreak::sim
