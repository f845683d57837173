// A chip, as its YAML states it. A knob is one line: name, member, default, unit, range, sentence,
// source. Defaults are the datasheet of mx-dma (spec/accelerator.md section 6). The path of a knob names
// a kind: chip.core.dma.outstanding. Schema, documentation, `--set`, `explain` derive from these lines.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "isa/program/program.hpp"
#include "sim/chip/address_fields.hpp"

namespace daybreak::sim {

// Visitor form: v.knob(name, member, default, unit, low, high, sentence, source) for numbers,
// v.choice(name, member, default, {allowed...}, sentence, source) for words, v.text(name, member, default,
// {names...}, check, sentence, source) for names or what `check` lets pass, v.part(name, struct) below.
// Units: "GHz" "B/cycle" "cycles" "ns" "us" "B" "KB" "MB" "GB" "count" "1/cycle" "ratio" "flag".

inline constexpr const char* kDatasheet = "mx-dma datasheet";

// One knob, one line.
// clang-format off
struct MatrixConfig {
  int64_t m, n, k_bf16, k_fp8, head, latch_a_kb, latch_b_kb, latch_fill, drain, scale_read;
  bool fp8;
  template <class V> void knobs(V& v) {
    v.knob("m", m, 16, "count", 1, 256, "rows of the product per cycle", kDatasheet);
    v.knob("n", n, 16, "count", 1, 256, "columns of the product per cycle", kDatasheet);
    v.knob("k_bf16", k_bf16, 16, "count", 1, 256, "BF16 reduction length per cycle", kDatasheet);
    v.knob("k_fp8", k_fp8, 32, "count", 1, 512, "FP8 reduction length per cycle", kDatasheet);
    v.knob("head", head, 6, "cycles", 0, 1000, "cycles before the first product of an instruction", kDatasheet);
    v.knob("latch_a", latch_a_kb, 64, "KB", 1, 4096, "operand latch for the left operand", kDatasheet);
    v.knob("latch_b", latch_b_kb, 64, "KB", 1, 4096, "operand latch for the right operand", kDatasheet);
    v.knob("latch_fill", latch_fill, 256, "B/cycle", 1, 8192, "operand scratchpad to latches", kDatasheet);
    v.knob("drain", drain, 64, "1/cycle", 1, 4096, "accumulator elements drained", kDatasheet);
    v.knob("scale_read", scale_read, 32, "B/cycle", 1, 4096, "group scales read beside the operands", kDatasheet);
    v.knob("fp8", fp8, true, "flag", 0, 1, "the unit multiplies FP8", kDatasheet);
  }
};

struct VectorConfig {
  int64_t units, bytes_per_cycle, startup, special_divisor, cast_per_cycle, dequantise_per_cycle;
  template <class V> void knobs(V& v) {
    v.knob("units", units, 2, "count", 1, 16, "vector units of a core; an instruction is split over them", kDatasheet);
    v.knob("bytes_per_cycle", bytes_per_cycle, 256, "B/cycle", 16, 8192, "width of one unit", kDatasheet);
    v.knob("startup", startup, 20, "cycles", 0, 1000, "start-up of an instruction", kDatasheet);
    v.knob("special_divisor", special_divisor, 4, "count", 1, 64, "simple rate divided by this for exp, rsqrt, divide", kDatasheet);
    v.knob("cast", cast_per_cycle, 64, "1/cycle", 1, 4096, "elements converted per unit", "accelerator.md 1.3");
    v.knob("dequantise", dequantise_per_cycle, 64, "1/cycle", 1, 4096, "E4M3 elements dequantised per unit", kDatasheet);
  }
};

struct SortConfig {
  int64_t units;
  std::string method;
  double records_per_cycle;
  int64_t head, extract_per_cycle, select_levels, select_per_cycle;
  template <class V> void knobs(V& v) {
    v.knob("units", units, 1, "count", 1, 16, "sort units of a core", kDatasheet);
    v.choice("method", method, "merge", {"merge", "histogram"}, "how the best k are found", kDatasheet);
    v.knob("records_per_cycle", records_per_cycle, 2, "1/cycle", 0.1, 64, "8-byte records per pass", kDatasheet);
    v.knob("head", head, 20, "cycles", 0, 1000, "cycles before the first record of a pass", kDatasheet);
    v.knob("extract", extract_per_cycle, 32, "1/cycle", 1, 1024, "records reduced to positions", "accelerator.md 4.2");
    v.knob("select_levels", select_levels, 4, "count", 1, 8, "histogram passes over the scores", "accelerator.md 1.4");
    v.knob("select_per_cycle", select_per_cycle, 64, "1/cycle", 1, 1024, "scores binned by histogram select", "accelerator.md 1.3");
  }
};

struct TlbConfig {
  int64_t entries, ways, walkers, fill_entries;
  bool walker;
  template <class V> void knobs(V& v) {
    v.knob("walker", walker, true, "flag", 0, 1, "the DMA engine walks page tables itself", kDatasheet);
    v.knob("entries", entries, 64, "count", 1, 65536, "block entries held", kDatasheet);
    v.knob("ways", ways, 4, "count", 1, 64, "associativity", kDatasheet);
    v.knob("walkers", walkers, 2, "count", 1, 64, "page-table reads in flight", kDatasheet);
    v.knob("fill_entries", fill_entries, 16, "count", 1, 128, "block entries one read brings", kDatasheet);
  }
};

struct DmaConfig {
  int64_t bytes_per_cycle, outstanding, request, row_issue, descriptor_issue, merge_max, align;
  double align_derate;
  bool gather_engine, gather_to_operand, pair_link, convert;
  int64_t pair_latency;
  int64_t convert_lanes, workspace_write, scale_cache_kb;
  std::string workspace;
  TlbConfig tlb;
  template <class V> void knobs(V& v) {
    v.knob("bytes_per_cycle", bytes_per_cycle, 128, "B/cycle", 1, 4096, "port to the scratchpads, each direction", kDatasheet);
    v.knob("outstanding", outstanding, 64, "count", 1, 4096, "requests in flight", kDatasheet);
    v.knob("request", request, 512, "B", 32, 65536, "largest request", kDatasheet);
    v.knob("row_issue", row_issue, 4, "cycles", 0, 10000, "per row named by an index table", kDatasheet);
    v.knob("descriptor_issue", descriptor_issue, 20, "cycles", 0, 10000, "per descriptor", kDatasheet);
    v.knob("merge_max", merge_max, 1, "count", 1, 64, "neighbouring rows of a table merged into one request", kDatasheet);
    v.knob("align", align, 1, "B", 1, 4096, "segments that do not start on it are derated", "accelerator.md 4.2");
    v.knob("align_derate", align_derate, 1, "ratio", 0.1, 1, "rate of a segment off alignment", "accelerator.md 4.2");
    v.knob("gather_engine", gather_engine, true, "flag", 0, 1, "index tables are read by the engine", kDatasheet);
    v.knob("gather_to_operand", gather_to_operand, true, "flag", 0, 1, "gathered rows may go straight to the operand scratchpad", kDatasheet);
    v.knob("pair_link", pair_link, true, "flag", 0, 1, "rows gathered by one core of a pair reach the other too", "ours");
    v.knob("pair_latency", pair_latency, 40, "cycles", 0, 10000, "from one core of a pair to the other: rows and permissions", "ours");
    v.knob("convert", convert, true, "flag", 0, 1, "MXFP4 becomes FP8 in flight", kDatasheet);
    v.knob("convert_lanes", convert_lanes, 128, "1/cycle", 1, 4096, "elements converted in flight", kDatasheet);
    v.knob("workspace_write", workspace_write, 128, "B/cycle", 1, 8192, "converted codes written to the workspace", "accelerator.md 4.2");
    v.choice("workspace", workspace, "scratchpad", {"scratchpad", "l2", "hbm"}, "where converted weights lie until a product reads them", "ours");
    v.knob("scale_cache", scale_cache_kb, 8, "KB", 1, 1024, "cache of group scales", kDatasheet);
    v.part("tlb", tlb);
  }
};

struct ScratchConfig {
  int64_t operand_kb, vector_kb, accumulator_kb, banks, bank_width;
  template <class V> void knobs(V& v) {
    v.knob("operand", operand_kb, 512, "KB", 1, 1048576, "matrix operand scratchpad", kDatasheet);
    v.knob("vector", vector_kb, 512, "KB", 1, 1048576, "vector scratchpad, all units of the core", kDatasheet);
    v.knob("accumulator", accumulator_kb, 256, "KB", 1, 1048576, "accumulator", kDatasheet);
    v.knob("banks", banks, 16, "count", 1, 1024, "banks of a scratchpad: operands of one instruction that start in the same bank take turns", "accelerator.md 1.1");
    v.knob("bank_width", bank_width, 32, "B", 1, 1024, "bytes of a bank per cycle: how far apart two operands start in other banks; ports have rates of their own", "accelerator.md 1.1");
  }
};

struct ExchangeConfig {
  std::string path;
  int64_t bytes_per_cycle, latency;
  template <class V> void knobs(V& v) {
    v.choice("path", path, "direct", {"direct", "l2"}, "accumulator to vector scratchpad and back", kDatasheet);
    v.knob("bytes_per_cycle", bytes_per_cycle, 128, "B/cycle", 1, 4096, "rate of the path", kDatasheet);
    v.knob("latency", latency, 40, "cycles", 0, 100000, "latency of the path", "accelerator.md 4.2");
  }
};

struct ControlConfig {
  int64_t issue_cycles, queue_depth, scalar_load, semaphores, semaphore_max, semaphore_latency;
  template <class V> void knobs(V& v) {
    v.knob("issue_cycles", issue_cycles, 1, "cycles", 1, 1000, "per instruction issued", kDatasheet);
    v.knob("queue_depth", queue_depth, 32, "count", 1, 4096, "entries of each instruction FIFO", kDatasheet);
    v.knob("scalar_load", scalar_load, 60, "cycles", 0, 10000, "scalar load from memory", kDatasheet);
    v.knob("semaphores", semaphores, 64, "count", 1, 256, "semaphores of a core", "accelerator.md 4.1");
    v.knob("semaphore_max", semaphore_max, 15, "count", 1, 65535, "largest count", "accelerator.md 4.1");
    v.knob("semaphore_latency", semaphore_latency, 8, "cycles", 0, 10000, "signal to wait inside a core", kDatasheet);
  }
};

struct CoreConfig {
  MatrixConfig matrix;
  VectorConfig vector;
  SortConfig sort;
  DmaConfig dma;
  ScratchConfig scratch;
  ExchangeConfig exchange;
  ControlConfig control;
  template <class V> void knobs(V& v) {
    v.part("matrix", matrix); v.part("vector", vector); v.part("sort", sort); v.part("dma", dma);
    v.part("scratch", scratch); v.part("exchange", exchange); v.part("control", control);
  }
};

struct L2Config {
  int64_t capacity_mb, line, sector, ways, hit_latency, slices, slice_bytes_per_cycle, same_line;
  std::string write;
  bool write_allocate;
  template <class V> void knobs(V& v) {
    v.knob("capacity", capacity_mb, 128, "MB", 1, 65536, "all slices together", kDatasheet);
    v.knob("line", line, 512, "B", 32, 65536, "bytes of a line", kDatasheet);
    v.knob("sector", sector, 64, "B", 32, 65536, "bytes fetched on a miss, per touched sector", kDatasheet);
    v.knob("ways", ways, 16, "count", 1, 1024, "associativity", kDatasheet);
    v.knob("hit_latency", hit_latency, 120, "cycles", 0, 100000, "request at the slice to data", kDatasheet);
    v.knob("slices", slices, 32, "count", 1, 1024, "address-interleaved slices", kDatasheet);
    v.knob("slice_bytes_per_cycle", slice_bytes_per_cycle, 95, "B/cycle", 1, 65536, "rate of one slice: 32 of them give 5.0 TB/s", kDatasheet);
    v.knob("same_line", same_line, 0, "cycles", 0, 10000, "between two accesses to one line: others go on meanwhile", "assumed");
    v.choice("write", write, "back", {"back", "through"}, "written sectors go to HBM when their line leaves, or at once", "assumed");
    v.knob("write_allocate", write_allocate, true, "flag", 0, 1, "a write to an absent line brings the line in", "assumed");
  }
};

struct NocConfig {
  std::string topology;
  int64_t bytes_per_cycle, latency, columns, hop_latency, link_bytes_per_cycle;
  template <class V> void knobs(V& v) {
    v.choice("topology", topology, "crossbar", {"crossbar", "mesh", "ring"}, "shape of the network", kDatasheet);
    v.knob("bytes_per_cycle", bytes_per_cycle, 128, "B/cycle", 1, 65536, "per core and direction", kDatasheet);
    v.knob("latency", latency, 40, "cycles", 0, 100000, "core to slice, one way; of a mesh or ring without its hops", kDatasheet);
    v.knob("columns", columns, 0, "count", 0, 1024, "cores in a row of a mesh; 0: as square as it gets", "assumed");
    v.knob("hop_latency", hop_latency, 2, "cycles", 1, 1000, "router to router of a mesh or ring", "assumed");
    v.knob("link_bytes_per_cycle", link_bytes_per_cycle, 256, "B/cycle", 1, 65536, "between two routers, each direction", "assumed");
  }
};

struct HbmConfig {
  int64_t stacks, capacity_gb;             // capacity of one stack
  int64_t channels, pseudo_channels, pc_bits;  // per stack; data bits of one pseudo-channel
  int64_t bank_groups, banks, stack_ids, rows, row_bytes, atom;
  double tck;                               // ns; every time below is in ns and rounded up to tck
  int64_t burst;                            // tck of one atom on the data bus
  double cl, cwl, rcd_rd, rcd_wr, rp, ras, rc, ccd_s, ccd_l, ccd_r, rrd_s, rrd_l, faw, wr, rtp, wtr_s,
      wtr_l, rtw, refi, rfc_ab, rfc_pb, rrefd;
  double act_command, pre_command, ref_command;  // ns on the row bus, rounded up to half a tck
  std::string refresh, page, map;
  bool bank_hash;
  int64_t controller, queue, starvation;
  double write_high, write_low;
  template <class V> void knobs(V& v) {
    const char* geometry = "memory.md section 1, hbm2e_3200";
    v.knob("stacks", stacks, 4, "count", 1, 64, "HBM stacks", kDatasheet);
    v.knob("capacity", capacity_gb, 16, "GB", 1, 1024, "capacity of one stack", kDatasheet);
    v.knob("channels", channels, 8, "count", 1, 64, "channels of a stack", geometry);
    v.knob("pseudo_channels", pseudo_channels, 2, "count", 1, 4, "pseudo-channels of a channel", geometry);
    v.knob("pc_bits", pc_bits, 64, "count", 8, 1024, "data bits of a pseudo-channel", geometry);
    v.knob("bank_groups", bank_groups, 4, "count", 1, 16, "bank groups of a pseudo-channel", geometry);
    v.knob("banks", banks, 4, "count", 1, 16, "banks of a bank group", geometry);
    v.knob("stack_ids", stack_ids, 1, "count", 1, 8, "stack ids of a pseudo-channel", geometry);
    v.knob("rows", rows, 65536, "count", 1, 1048576, "rows of a bank", geometry);
    v.knob("row_bytes", row_bytes, 1024, "B", 64, 65536, "bytes of a row of one pseudo-channel", geometry);
    v.knob("atom", atom, 32, "B", 8, 256, "bytes of one column access", geometry);
    v.knob("tck", tck, 0.625, "ns", 0.01, 100, "clock of the command bus", geometry);
    v.knob("burst", burst, 2, "count", 1, 16, "clocks of one atom on the data bus", geometry);
    v.knob("cl", cl, 14.375, "ns", 0, 1000, "read latency", geometry);
    v.knob("cwl", cwl, 5, "ns", 0, 1000, "write latency", geometry);
    v.knob("rcd_rd", rcd_rd, 14.375, "ns", 0, 1000, "activate to read", geometry);
    v.knob("rcd_wr", rcd_wr, 12.5, "ns", 0, 1000, "activate to write", geometry);
    v.knob("rp", rp, 14.375, "ns", 0, 1000, "precharge", geometry);
    v.knob("ras", ras, 34.375, "ns", 0, 1000, "activate to precharge", geometry);
    v.knob("rc", rc, 48.125, "ns", 0, 1000, "activate to activate, one bank", geometry);
    v.knob("ccd_s", ccd_s, 1.25, "ns", 0, 1000, "column to column, other bank group", geometry);
    v.knob("ccd_l", ccd_l, 2.5, "ns", 0, 1000, "column to column, same bank group", geometry);
    v.knob("ccd_r", ccd_r, 1.25, "ns", 0, 1000, "column to column, other stack id", geometry);
    v.knob("rrd_s", rrd_s, 4.375, "ns", 0, 1000, "activate to activate, other bank group", geometry);
    v.knob("rrd_l", rrd_l, 4.375, "ns", 0, 1000, "activate to activate, same bank group", geometry);
    v.knob("faw", faw, 15, "ns", 0, 1000, "window of four activates", geometry);
    v.knob("wr", wr, 16.25, "ns", 0, 1000, "write recovery", geometry);
    v.knob("rtp", rtp, 5, "ns", 0, 1000, "read to precharge", geometry);
    v.knob("wtr_s", wtr_s, 6.25, "ns", 0, 1000, "write to read, other bank group", geometry);
    v.knob("wtr_l", wtr_l, 8.125, "ns", 0, 1000, "write to read, same bank group", geometry);
    v.knob("rtw", rtw, 11.875, "ns", 0, 1000, "read to write", geometry);
    v.knob("refi", refi, 3900, "ns", 1, 1000000, "refresh interval", geometry);
    v.knob("rfc_ab", rfc_ab, 350, "ns", 0, 100000, "all-bank refresh", geometry);
    v.knob("rfc_pb", rfc_pb, 160, "ns", 0, 100000, "per-bank refresh", geometry);
    v.knob("rrefd", rrefd, 8.125, "ns", 0, 1000, "per-bank refresh to the next one", geometry);
    v.knob("act_command", act_command, 1.25, "ns", 0, 100, "row bus time of an activate, rounded up to half a clock", geometry);
    v.knob("pre_command", pre_command, 0.625, "ns", 0, 100, "row bus time of a precharge, rounded up to half a clock", geometry);
    v.knob("ref_command", ref_command, 0.625, "ns", 0, 100, "row bus time of a refresh, rounded up to half a clock", geometry);
    v.choice("refresh", refresh, "per-bank", {"all-bank", "per-bank", "off"}, "kind of refresh", kDatasheet);
    v.choice("page", page, "open", {"open", "closed"}, "row policy", kDatasheet);
    v.text("map", map, "coarse256", {"fine64", "coarse256", "rowlinear"}, check_address_map, "order of the address's fields: a name or a list", kDatasheet);
    v.knob("bank_hash", bank_hash, false, "flag", 0, 1, "banks and bank groups XORed with the low bits of the row", "assumed");
    v.knob("controller", controller, 60, "cycles", 0, 10000, "controller pipeline, core cycles", kDatasheet);
    v.knob("queue", queue, 128, "count", 1, 4096, "reads and, separately, writes queued per channel", "memory.md section 2");
    v.knob("starvation", starvation, 16, "count", 0, 65536, "row hits of one bank that may pass its oldest request", "assumed");
    v.knob("write_high", write_high, 0.8, "ratio", 0, 1, "share of the write queue that starts a write drain", "memory.md section 2");
    v.knob("write_low", write_low, 0.2, "ratio", 0, 1, "share of the write queue that ends a write drain", "memory.md section 2");
  }
};

struct SchedulerConfig {
  double launch_us, dispatch_cold_us, dispatch_warm_us, acknowledge_us, poll_us;
  int64_t threads, streams, core_semaphore_latency;
  template <class V> void knobs(V& v) {
    v.knob("launch", launch_us, 5, "us", 0, 10000, "launch whose dependencies are met to its first dispatch", kDatasheet);
    v.knob("dispatch_cold", dispatch_cold_us, 2.3, "us", 0, 10000, "dispatch to start, first task of a core in a launch", kDatasheet);
    v.knob("dispatch_warm", dispatch_warm_us, 0.3, "us", 0, 10000, "dispatch to start, later tasks", kDatasheet);
    v.knob("acknowledge", acknowledge_us, 0.6, "us", 0, 10000, "end of a task to the scheduler's knowledge of it", kDatasheet);
    v.knob("poll", poll_us, 0.1, "us", 0, 10000, "one thread's time for one dispatch or one acknowledge", kDatasheet);
    v.knob("threads", threads, 1, "count", 1, 64, "scheduler threads", kDatasheet);
    v.knob("streams", streams, 8, "count", 1, 1024, "hardware streams", kDatasheet);
    v.knob("core_semaphore_latency", core_semaphore_latency, 80, "cycles", 0, 100000, "signal to wait between cores", kDatasheet);
  }
};

// The host the chip sits in. Rates in powers of ten, as vendors state them.
struct HostConfig {
  double storage, memory, link, link_latency_us;
  template <class V> void knobs(V& v) {
    v.knob("storage", storage, 14, "GB/s", 0.001, 100000, "a file read into host memory, or written from it", "assumed");
    v.knob("memory", memory, 100, "GB/s", 0.001, 100000, "host memory, read and written bytes together", "assumed");
    v.knob("link", link, 64, "GB/s", 0.001, 100000, "host memory to the chip's, each direction", "assumed");
    v.knob("link_latency", link_latency_us, 1, "us", 0, 10000, "of a transfer between host and chip", "accelerator.md 3.1");
  }
};

struct ChipConfig {
  std::string name;               // of the preset or file
  int64_t cores;
  double clock_ghz;
  CoreConfig core;
  L2Config l2;
  NocConfig noc;
  HbmConfig hbm;
  SchedulerConfig scheduler;
  HostConfig host;
  // Knobs the chip's own file does not state (they keep mx-dma's figure): printed as assumed.
  std::vector<std::string> assumed;
  // (path, source) of knobs whose file says where the figure comes from.
  std::vector<std::pair<std::string, std::string>> sources;

  ChipConfig();                   // every knob at its default
  template <class V> void knobs(V& v) {
    v.knob("cores", cores, 32, "count", 1, 1024, "core groups", kDatasheet);
    v.knob("clock", clock_ghz, 1.65, "GHz", 0.01, 100, "core clock", kDatasheet);
    v.part("core", core); v.part("l2", l2); v.part("noc", noc); v.part("hbm", hbm); v.part("scheduler", scheduler);
    v.part("host", host);
  }
  isa::Capabilities capabilities() const;
  Femtoseconds period() const;    // of the core clock, rounded to 1 fs
  double hbm_bytes_per_second() const;   // peak of all stacks
  // Peak of all matrix units, FLOP/s: f16 and bf16; e4m3, e5m2 and e2m1 (which reaches the unit as FP8) at
  // the FP8 rate, or the BF16 rate where the unit has no FP8. Other formats are an InvariantError.
  double flops(Format) const;
};
// clang-format on

}  // namespace daybreak::sim
