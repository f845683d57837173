#include "sim/units/transfer.hpp"

#include <algorithm>

namespace daybreak::sim {

bool RequestCache::holds(Address entry) {
  if (std::find(entries_.begin(), entries_.end(), entry.value) != entries_.end()) return true;
  if (entries_.size() < kEntries) {
    entries_.push_back(entry.value);
  } else {
    entries_[next_] = entry.value;
    next_ = (next_ + 1) % kEntries;
  }
  return false;
}

namespace {

constexpr int64_t kIndexBytes = 4, kRequestBytes = 16;

// Rows of a table that lie side by side become one request, up to `merge_max` of them.
void merge_rows(std::vector<isa::Segment>& pieces, size_t first, int64_t merge_max) {
  if (merge_max <= 1) return;
  size_t out = first;
  int64_t merged = 0;
  for (size_t i = first; i < pieces.size(); ++i) {
    const bool joins = i > first && merged < merge_max &&
                       pieces[out - 1].address.value + uint64_t(pieces[out - 1].bytes.value) ==
                           pieces[i].address.value;
    if (joins) {
      pieces[out - 1].bytes += pieces[i].bytes;
      ++merged;
    } else {
      pieces[out++] = pieces[i];
      merged = 1;
    }
  }
  pieces.resize(out);
}

// Sectors of a piece of block scales that the cache lacks, neighbours as one request.
void fetch_scales(ScaleCache& cache, const isa::Segment& s, Transfer& t, LaunchResult& result) {
  const uint64_t size = uint64_t(cache.sector());
  const uint64_t first = s.address.value / size;
  const uint64_t last = (s.address.value + uint64_t(s.bytes.value) - 1) / size;
  bool joins = false;
  for (uint64_t sector = first; sector <= last; ++sector) {
    if (cache.holds(sector)) {
      ++result.scale_hits;
      joins = false;
      continue;
    }
    ++result.scale_misses;
    result.read_bytes += int64_t(size);
    if (joins)
      t.pieces.back().bytes += Bytes(int64_t(size));
    else
      t.pieces.push_back({Address(sector * size), Bytes(int64_t(size)), false});
    joins = true;
  }
  t.fetches = t.pieces.size();
}

bool passes_l2_by(const RunState& run, const isa::Instruction& i, const isa::Context& c) {
  if (!run.options.workspace) return false;
  const auto* load = std::get_if<isa::Load>(&i);
  const auto* store = std::get_if<isa::Store>(&i);
  return (load && run.around_l2(c.tensor(load->from).binding)) ||
         (store && run.around_l2(c.tensor(store->to).binding));
}

}  // namespace

void plan_transfer(CoreState& core, isa::Queue queue, Lookups& lookups, Transfer& t) {
  const CoreConfig& config = core.run.config.core;
  const isa::Instruction& instruction = core.entry(t.flight.entry).instruction;
  const isa::Work& work = t.flight.work;
  const isa::Context context = core.context();
  const Toucher by = core.toucher(queue, t.flight.entry, t.flight.sequence);
  core.check_scratch(queue, t.flight.entry, t.flight.sequence, t.flight.knowledge.seen);

  t.pieces.clear();
  t.walks.clear();
  t.fetches = t.piece = t.walk = 0;
  t.offset = t.pending = 0;
  t.issued = false;
  t.inside = t.tail = t.data_at = 0;
  const auto* gather = std::get_if<isa::Gather>(&instruction);
  const auto* translate = std::get_if<isa::Translate>(&instruction);
  const auto* stream = std::get_if<isa::StreamMxfp4>(&instruction);
  const bool software = gather && gather->software;
  t.sharing = gather ? isa::Sharing(gather->sharing) : isa::Sharing::alone;
  t.converts = stream != nullptr;
  t.around_l2 = passes_l2_by(core.run, instruction, context);
  t.late = traces::Cause::busy;
  t.by_row = gather || std::holds_alternative<isa::Scatter>(instruction);

  LaunchResult& result = core.run.results[core.task.launch];
  if (translate && !lookups.requests.holds(translate->request_entry(context))) {
    t.pieces.push_back({translate->request_entry(context), Bytes(kRequestBytes), false});
    result.read_bytes += kRequestBytes;
  }
  // Of a software gather the control processor reads the index; its segments come all the same.
  int64_t index_bytes =
      t.by_row ? std::max(work.index_entries, work.scalar_loads) * kIndexBytes : 0;
  int64_t scale_bytes = stream ? stream->scale_bytes(context) : 0;
  t.fetches = t.pieces.size();
  isa::for_each_segment(instruction, context, [&](const isa::Segment& s) {
    core.check_memory(by, t.flight.knowledge, s.address, s.bytes.value, s.write);
    if (t.sharing == isa::Sharing::receives) return;
    const bool fetch = !s.write && (translate || index_bytes > 0);
    if (fetch) index_bytes -= s.bytes.value;
    if (fetch && software) return;
    if (scale_bytes > 0) {  // block scales come first
      scale_bytes -= s.bytes.value;
      return fetch_scales(lookups.scales, s, t, result);
    }
    (s.write ? result.write_bytes : result.read_bytes) += s.bytes.value;
    t.pieces.push_back(s);
    if (fetch) t.fetches = t.pieces.size();
  });
  core.check_hidden_reads(queue, t.flight.entry, t.flight.sequence, t.flight.knowledge);
  if (translate) translate->for_each_walk(context, [&](Address a) { t.walks.push_back(a); });
  if (software) t.by_row = false;  // every row has a descriptor of its own already
  if (t.by_row) merge_rows(t.pieces, t.fetches, config.dma.merge_max);
  if (const auto* move = std::get_if<isa::Move>(&instruction)) {
    t.inside = ceil_div(move->from.bytes(), config.exchange.bytes_per_cycle);
    t.tail = config.exchange.latency;
  }
}

}  // namespace daybreak::sim
