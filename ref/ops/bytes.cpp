#include "ref/ops/bytes.hpp"

#include <fmt/format.h>

#include "configs/reader/errors.hpp"

namespace daybreak::ref {

const uint8_t* ByteSource::at(uint64_t offset, uint64_t count, std::vector<uint8_t>& room) const {
  if (count > size_ || offset > size_ - count)
    throw InvariantError(fmt::format("reference reads bytes {} to {} of a tensor of {} bytes",
                                     offset, offset + count, size_));
  if (!read_) return bytes_.data() + offset;
  room.resize(count);
  read_(offset, room);
  return room.data();
}

}  // namespace daybreak::ref
