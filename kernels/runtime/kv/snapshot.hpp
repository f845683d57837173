// A KV cache as bytes: tokens, latents, index keys with their scales, and each sequence's further
// state, token by token, so that a cache of other pages can take it up and go on to the bit.
//
//   "DBKV"  u32 version  u32 caches  { u32 length, name, u64 token bytes } per cache
//   u32 sequences  { u64 tokens, i32 ids, u64 state bytes, state, per cache: token bytes }
//   u32 CRC-32 of all before it
// Little-endian. Tokens that are appended and not committed are not kept.
#pragma once
#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "kernels/runtime/kv/kv_cache.hpp"

namespace daybreak::kernels::kv {

using ByteSink = std::function<void(std::span<const std::byte>)>;
// Sequences in the order of their requests.
void write_snapshot(const KvCache&, const ByteSink&);
// Opens the snapshot's sequences in `kv`, which has none open; returns their requests, in order.
// UserError, naming `file`, for bytes that are cut, altered, of another version or of other caches,
// and for sequences that do not fit; nothing is loaded then.
std::vector<int> read_snapshot(KvCache& kv, std::span<const std::byte> bytes,
                               const std::string& file);

}  // namespace daybreak::kernels::kv
