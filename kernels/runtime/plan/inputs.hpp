// The tensors a decode step starts from: caches behind their page tables, the step's raw vectors,
// constants; all seeded. One DecodeInputs serves several chains over the same image.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "isa/memory/image.hpp"
#include "kernels/library/dsa/layouts.hpp"
#include "kernels/runtime/kv/kv_cache.hpp"
#include "kernels/runtime/plan/seeds.hpp"
#include "kernels/runtime/plan/workload.hpp"

namespace daybreak::kernels {

class DecodeInputs {
 public:
  // Reserves and seeds everything. Throws UserError for shapes the kernels do not take.
  DecodeInputs(const Workload&, isa::MemoryImage&, isa::BindingTable&);
  // The same with pages where the caller puts them.
  DecodeInputs(const Workload&, isa::MemoryImage&, isa::BindingTable&,
               std::shared_ptr<const PagePlacement> index,
               std::shared_ptr<const PagePlacement> latent);
  // A step over the caches of `base`, whose requests are the sequences of the step's token groups. A
  // token's raw vectors depend on its sequence and position alone, whatever the grouping.
  DecodeInputs(const Workload& step, const DecodeInputs& base);
  // A step over the caches of `base` whose page tables `kv` keeps (cache 0: index keys, 1: latents), for
  // the requests it calls 0, 1, ... Its raw vectors are the seeded streams' rows from `first_row` on.
  DecodeInputs(const Workload& step, const DecodeInputs& base, const kv::KvCache& kv,
               int64_t first_row);

  Workload workload;
  int64_t index_head_tile = 64;  // index heads padded to a kernel's tile: 32 or 64
  int64_t padded_heads = 64;     // attention heads, a multiple of 64
  std::shared_ptr<const PagePlacement> index_pages, latent_pages;
  std::shared_ptr<const RopeTable> rope;

  // Bindings of what is given (each stands for one tensor).
  uint16_t index_cache, index_requests, index_blocks, index_slots;
  uint16_t latent_cache, latent_requests, latent_blocks, latent_slots;
  uint16_t contexts, token_positions, angles;
  uint16_t index_q_raw, index_k_raw, head_weights, norm_weight, norm_bias;
  uint16_t q_raw, latent_raw, rope_raw, latent_weight, sinks;
  uint16_t selected, selected_count;  // positions and counts of a synthetic or replayed selection

  isa::MemoryImage& image() const { return image_; }
  isa::BindingTable& bindings() const { return bindings_; }
  // A new tensor's binding: seeded, or zeros to be written.
  uint16_t add(const std::string& name, int64_t bytes, isa::Generator generator = nullptr) const;
  // Copies values into a binding from its start.
  template <class T> void put(uint16_t binding, const std::vector<T>& values) const {
    image_.write(bindings_[binding].base, std::as_bytes(std::span(values)));
  }
  // The first `count` values of a binding.
  template <class T> std::vector<T> get(uint16_t binding, int64_t count, int64_t first = 0) const {
    std::vector<T> values(static_cast<size_t>(count));
    image_.read(Address(bindings_[binding].base.value + uint64_t(first) * sizeof(T)),
                std::as_writable_bytes(std::span(values)));
    return values;
  }

  isa::TensorDesc index_codes() const;  // fp8: codes; bf16: rows
  isa::TensorDesc index_scales() const;
  isa::TensorDesc latents() const;

  // Bytes of both caches: taken, and of the positions that are there.
  struct CacheBytes {
    int64_t taken = 0, used = 0;
  };
  CacheBytes cache_bytes() const;

 private:
  uint16_t add_blocks(const PagePlacement&, const std::string& name);
  void add_request_entries(const PagePlacement&, const std::string& name, uint16_t& requests,
                           uint16_t& slots);
  void add_constants();
  void add_step_vectors();
  // Row of the seeded stream that a token's raw vectors come from; -1: padding, zeros.
  std::function<int64_t(int64_t token)> stream_rows() const;
  void add_selection();

  std::vector<int64_t> stream_first_;  // row of a sequence's first token in the seeded streams
  int64_t first_row_ = 0;              // of token 0, where sequences have none of their own
  isa::MemoryImage& image_;
  isa::BindingTable& bindings_;
};

}  // namespace daybreak::kernels
