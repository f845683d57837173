// d.walk: logical positions of one request to physical rows, through the two-level page table (design.md section 3).
// Request entry (16 bytes, i32 x 4): {first block entry, block entries, generation, 0}. Block entry: i32 physical
// page, -1 = unmapped. Row = page * page_tokens + position % page_tokens, in 64 bits, must fit int32.
#pragma once
#include "isa/instructions/common.hpp"

namespace daybreak::isa {

struct Translate {
  static constexpr Opcode kOpcode = Opcode::translate;
  static constexpr std::string_view kName = "translate";
  static constexpr std::string_view kSentence =
      "Walks logical positions through the page table into physical rows and records the generation.";

  TensorRef to;
  TensorRef generation;
  TensorRef positions;
  TensorRef requests;
  TensorRef blocks;
  int32_t request = 0;
  int32_t count = 0;
  int32_t page_tokens = 64;
  int32_t on_control = 0;

  static constexpr auto fields() {
    return std::tuple(
        operand("to", &Translate::to, Access::write,
                "int32 physical rows, (to.row, to.col + i); -1 stays -1"),
        operand("generation", &Translate::generation, Access::write,
                "int32 pair {table generation, request}: what gather compares"),
        steering("positions", &Translate::positions, Access::read,
                 "int32 logical positions, -1 = none"),
        steering("requests", &Translate::requests, Access::read,
                 "request entries, (requests, 4) int32"),
        steering("blocks", &Translate::blocks, Access::read, "block entries, (1, entries) int32"),
        number("request", &Translate::request, "request whose row of the request level is walked"),
        number("count", &Translate::count, "positions to translate"),
        number("page_tokens", &Translate::page_tokens, "tokens of one page"),
        number("on_control", &Translate::on_control,
               "1 if the control processor walks (a chip without a walker)"));
  }
  Queue queue() const { return on_control ? Queue::control : Queue::dma_in; }
  Work work() const;
  void execute(Context&) const;
  // Reads of the positions and writes of the table and its stamp. Reads of the page table are not in
  // it: whoever models the walk takes them from the two functions below.
  void for_each_segment(const Context&, const SegmentSink&) const;
  // The request level's entry (16 bytes).
  Address request_entry(const Context&) const;
  // The block entry (4 bytes) each valid position needs, in order, repeats included.
  void for_each_walk(const Context&, const std::function<void(Address)>&) const;
};

}  // namespace daybreak::isa
