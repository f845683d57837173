#include "sim/memory/address_map.hpp"

namespace daybreak::sim {
namespace {

// Atoms of the lowest column field: as many as the map names, or the largest part of them that
// divides a row.
int64_t low_columns(const HbmConfig& c) {
  if (c.map == "rowlinear") return 1;
  const int64_t named = (c.map == "fine64" ? 64 : 256) / c.atom;
  return std::gcd(named < 1 ? 1 : named, c.row_bytes / c.atom);
}

// A bijection of [0, count) for every digit.
uint64_t mixed(uint64_t value, uint64_t digit, uint64_t count) {
  return std::has_single_bit(count) ? value ^ digit : (value + digit) % count;
}

}  // namespace

AddressMap::AddressMap(const HbmConfig& c)
    : linear_(c.map == "rowlinear"),
      hash_(c.bank_hash),
      atom_(c.atom),
      columns_(uint64_t(c.row_bytes / c.atom)),
      low_(low_columns(c)),
      channel_(c.channels),
      stack_(c.stacks),
      pc_(c.pseudo_channels),
      group_(c.bank_groups),
      high_(c.row_bytes / c.atom / low_columns(c)),
      bank_(c.banks),
      sid_(c.stack_ids),
      row_(c.rows) {}

RowPiece AddressMap::decode(uint64_t address) const {
  return decode_atom(address / uint64_t(atom_));
}

RowPiece AddressMap::decode_atom(uint64_t atom) const {
  uint64_t rest = atom, pc, group, bank, sid, column;
  RowPiece out;
  out.atoms = 1;
  if (linear_) {
    out.channel = uint32_t(channel_.take(rest));
    out.stack = uint32_t(stack_.take(rest));
    column = high_.take(rest);
    pc = pc_.take(rest);
    sid = sid_.take(rest);
    group = group_.take(rest);
    bank = bank_.take(rest);
  } else {
    const uint64_t low = low_.take(rest);
    out.channel = uint32_t(channel_.take(rest));
    out.stack = uint32_t(stack_.take(rest));
    pc = pc_.take(rest);
    group = group_.take(rest);
    column = high_.take(rest) * low_.count() + low;
    bank = bank_.take(rest);
    sid = sid_.take(rest);
  }
  out.row = uint32_t(row_.take(rest));
  if (hash_) {
    uint64_t digits = out.row;
    group = mixed(group, group_.take(digits), group_.count());
    bank = mixed(bank, bank_.take(digits), bank_.count());
  }
  out.column = uint32_t(column);
  out.bank = uint32_t(((pc * sid_.count() + sid) * group_.count() + group) * bank_.count() + bank);
  return out;
}

}  // namespace daybreak::sim
