// The steps of one routed expert layer over one memory image: quantise, route, place, expert products,
// shared experts, combine; with a latent width also the products to and from it.
#pragma once
#include <memory>
#include <string>

#include "kernels/runtime/plan/expert_steps.hpp"
#include "kernels/runtime/plan/expert_workload.hpp"
#include "kernels/runtime/plan/step.hpp"

namespace daybreak::kernels {

// A weight matrix of every expert: (experts, rows, cols).
struct ExpertMatrix {
  WeightFormat format = WeightFormat::mxfp4;
  int64_t experts = 1, rows = 0, cols = 0;
  uint16_t values = 0, scales = 0;  // scales: none for bf16

  // Rows first, first + step, ... of each expert as the products take them.
  moe::Weights<isa::TensorDesc> planes(int64_t rows, int64_t first = 0, int64_t step = 1) const;
  std::vector<uint16_t> bindings() const;
  int64_t bytes() const;  // of one expert
};

// What a layer owns. Bindings of values no model has are 0.
struct ExpertTensors {
  uint16_t x, router, router_bias, logits;
  uint16_t experts, weights, counts;               // of the router
  uint16_t chosen, chosen_weights, chosen_counts;  // what the layer uses: the router's, or given
  uint16_t table, token_numbers, row_of, totals, list, grid;
  uint16_t latent, width_codes, width_scales;  // what routed experts read
  uint16_t codes, scales;                      // x quantised, at the model's width
  uint16_t middle, middle_scales, outputs;
  uint16_t shared_middle, shared_middle_scales, shared_out;
  uint16_t combined, normed, norm_weight, y;
  uint16_t gate_up_bias, down_bias;
  ExpertMatrix gate_up, down, shared_gate_up, shared_down, to_latent, from_latent;
};

class ExpertLayer {
 public:
  // Reserves and seeds everything of layer `number`. `x`: binding of its input, or none: seeded.
  ExpertLayer(const ExpertWorkload&, const isa::Capabilities&, isa::MemoryImage&,
              isa::BindingTable&, int64_t number, const uint16_t* x);

  void add_to(Plan&);
  const ExpertTensors& tensors() const { return t_; }
  const ExpertWorkload& workload() const { return w_; }
  int64_t rows() const { return rows_; }    // capacity of the row table
  int64_t slots() const { return slots_; }  // experts per token as stored

  template <class T> std::vector<T> get(uint16_t binding, int64_t count, int64_t first = 0) const {
    std::vector<T> values(static_cast<size_t>(count));
    image_.read(Address(bindings_[binding].base.value + uint64_t(first) * sizeof(T)),
                std::as_writable_bytes(std::span(values)));
    return values;
  }
  isa::MemoryImage& image() const { return image_; }
  const isa::BindingTable& bindings() const { return bindings_; }
  // Rows that each expert got; after routing.
  std::vector<int64_t> rows_of_experts() const;

 private:
  GemmSize size_of(bool few_rows) const;
  uint16_t add(const std::string& name, int64_t bytes, isa::Generator generator = nullptr);
  ExpertMatrix weights(const std::string& name, WeightFormat, int64_t experts, int64_t rows,
                       int64_t cols);
  void reserve(const uint16_t* x);
  void reserve_weights();
  void give_routing();
  void quantise(Plan&, uint16_t x, uint16_t codes, uint16_t scales, int64_t cols);
  void route(Plan&);
  void place(Plan&);
  void routed_experts(Plan&);
  void shared_experts(Plan&);
  void combine(Plan&);
  // A dense product of all tokens: x (tokens, k) times `w`.
  void dense(Plan&, const std::string& name, uint16_t x, const ExpertMatrix& w, moe::Leaves,
             uint16_t out, Format out_format, uint16_t addend = 0);
  void gated(GemmArgs&) const;
  void grouped(Step&, GemmArgs&) const;
  Floor routed_floor(const ExpertMatrix&, int64_t left_cols, int64_t out_bytes) const;

  ExpertWorkload w_;
  const ExpertModel& m_ = w_.model;
  isa::Capabilities chip_;
  isa::MemoryImage& image_;
  isa::BindingTable& bindings_;
  std::string prefix_;
  uint64_t stream_;
  ExpertTensors t_{};
  int64_t rows_ = 0, pieces_ = 0, slots_ = 0, padded_experts_ = 0, blocks_ = 1;
  int piece_ = 0;
  GemmSize size_ = GemmSize::few_rows;
  int most_ = 1;
};

}  // namespace daybreak::kernels
