// Where a byte lies in the HBM stacks: its address taken apart into the fields that chip.hbm.map
// orders (address_fields.hpp). Counts need not be powers of two; rows beyond the last wrap round.
// With bank_hash, bank group and bank are XORed with the row's low bits (added modulo their count
// where that is no power of two), so that equal offsets of neighbouring rows lie in different banks.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "isa/program/types.hpp"
#include "sim/chip/address_fields.hpp"
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

  // Neighbouring bytes of one row.
  int64_t chunk_bytes() const { return int64_t((units_ == 1 ? run_.count() : 1) * atom_.count()); }
  // Where the atom that holds `address` lies (atoms = 1).
  RowPiece decode(uint64_t address) const;

  // Calls sink(RowPiece) for the pieces of [address, address + bytes); every atom touched is in
  // exactly one piece.
  template <class Sink> void split(uint64_t address, uint64_t bytes, Sink&& sink) const {
    const uint64_t first = atom_of(address), last = atom_of(address + bytes - 1);
    for (uint64_t lane = first; lane <= last && lane < first + units_; ++lane) {
      for (uint64_t at = lane; at <= last;) {
        RowPiece piece = decode_atom(at);
        uint64_t column = piece.column;
        const uint64_t in_request = units_ == 1 ? last - at + 1 : (last - at) / units_ + 1;
        const uint64_t in_row = run_.count() - run_.take(column);
        piece.atoms = uint32_t(in_request < in_row ? in_request : in_row);
        sink(piece);
        at += piece.atoms * units_;
      }
    }
  }

 private:
  uint64_t atom_of(uint64_t address) const {
    atom_.take(address);
    return address;
  }
  RowPiece decode_atom(uint64_t atom) const;
  void hash(RowPiece&) const;
  void tabulate();

  // All fields of a place in one number, so that they are summed up together: each has room for its
  // largest value (config.hpp).
  struct Packed {
    static constexpr int kColumn = 0, kBank = 13, kChannel = 26, kStack = 32, kRow = 38;
    static constexpr uint64_t of(uint64_t packed, int from, int to) {
      return packed >> from & ((uint64_t{1} << (to - from)) - 1);
    }
  };
  // One part of one field: `radix` values that count `weight` each.
  struct Digit {
    Divisor radix;
    uint64_t weight;
  };
  static constexpr int kTableBits = 6;
  using Table = std::array<uint64_t, 1 << kTableBits>;

  Divisor atom_;
  bool hash_;
  uint64_t units_ = 1;         // atoms so many apart are neighbours in a row
  Divisor run_;                // and so many of them follow each other
  std::vector<Table> tables_;  // the lowest bits, so many at a time
  int tabled_bits_ = 0;
  std::vector<Digit> digits_;  // what is above them
  Divisor group_, bank_;
};

}  // namespace daybreak::sim
