#include "sim/chip/address_fields.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <sstream>

#include "configs/reader/words.hpp"
#include "sim/chip/config.hpp"

namespace daybreak::sim {
namespace {

using configs::in_quotes;

const std::vector<std::string> kNames = {"column", "channel", "stack", "pc",
                                         "group",  "bank",    "sid",   "row"};

const std::string& name_of(AddressField field) { return kNames[size_t(field)]; }

[[noreturn]] void refuse(const Position& at, const std::string& what) {
  throw UserError(at,
                  "an address map is fine64, coarse256, rowlinear or a list of fields like "
                  "'column:3 channel stack pc group column bank sid row': " +
                      what);
}

AddressPart part_of(const std::string& word, const Position& at) {
  const size_t colon = word.find(':');
  const std::string name = word.substr(0, colon);
  const auto known = std::find(kNames.begin(), kNames.end(), name);
  if (known == kNames.end())
    refuse(at, in_quotes(name) + " is no field" + configs::did_you_mean(name, kNames));
  AddressPart part{AddressField(known - kNames.begin()), 0};
  if (colon == std::string::npos) return part;
  int bits = 0;
  const char* first = word.data() + colon + 1;
  const char* last = word.data() + word.size();
  const auto [end, error] = std::from_chars(first, last, bits);
  if (error != std::errc() || end != last || bits < 1 || bits > 20)
    refuse(at, in_quotes(word) + " needs 1 to 20 bits behind the colon");
  part.values = int64_t{1} << bits;
  return part;
}

std::vector<AddressPart> parse(const std::string& text, const Position& at) {
  std::vector<AddressPart> parts;
  std::array<bool, kAddressFields> whole{};
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const AddressPart part = part_of(word, at);
    bool& done = whole[size_t(part.field)];
    if (done) refuse(at, in_quotes(word) + " stands behind the whole rest of its field");
    done = part.values == 0;
    parts.push_back(part);
    if (parts.size() > 32) refuse(at, "more than 32 parts");
  }
  for (int f = 0; f < kAddressFields; ++f) {
    if (!whole[f]) refuse(at, in_quotes(kNames[f]) + " is missing as a whole or as a rest");
  }
  return parts;
}

}  // namespace

int64_t field_values(const HbmConfig& c, AddressField field) {
  switch (field) {
    case AddressField::column: return c.row_bytes / c.atom;
    case AddressField::channel: return c.channels;
    case AddressField::stack: return c.stacks;
    case AddressField::pc: return c.pseudo_channels;
    case AddressField::group: return c.bank_groups;
    case AddressField::bank: return c.banks;
    case AddressField::sid: return c.stack_ids;
    case AddressField::row: return c.rows;
  }
  throw InvariantError("no such address field");
}

void check_address_map(const std::string& text, const Position& at) { parse(text, at); }

std::vector<AddressPart> address_parts(const HbmConfig& c) {
  using enum AddressField;
  if (c.map == "rowlinear")
    return {{channel, 0}, {stack, 0}, {column, 0}, {pc, 0},
            {sid, 0},     {group, 0}, {bank, 0},   {row, 0}};
  if (c.map == "fine64" || c.map == "coarse256") {
    // As many atoms as the name says, or the largest part of them that divides a row.
    const int64_t named = std::max<int64_t>((c.map == "fine64" ? 64 : 256) / c.atom, 1);
    return {{column, std::gcd(named, field_values(c, column))},
            {channel, 0},
            {stack, 0},
            {pc, 0},
            {group, 0},
            {column, 0},
            {bank, 0},
            {sid, 0},
            {row, 0}};
  }
  auto parts = parse(c.map, {});
  std::array<int64_t, kAddressFields> left;
  for (int f = 0; f < kAddressFields; ++f) left[f] = field_values(c, AddressField(f));
  for (const AddressPart& part : parts) {
    int64_t& rest = left[size_t(part.field)];
    if (part.values > 0 && rest % part.values != 0)
      refuse({}, std::to_string(part.values) + " values of " + in_quotes(name_of(part.field)) +
                     " do not divide the " + std::to_string(rest) + " there are");
    if (part.values > 0) rest /= part.values;
  }
  return parts;
}

}  // namespace daybreak::sim
