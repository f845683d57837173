#include "traces/event/perfetto_packets.hpp"

#include <protozero/pbf_writer.hpp>
#include <utility>

namespace daybreak::traces {
namespace {

using protozero::pbf_writer;

// Field numbers, by message (spec/perfetto.md).
namespace trace {
constexpr uint32_t packet = 1;
}
namespace packet_field {
constexpr uint32_t timestamp = 8, sequence_id = 10, track_event = 11, interned_data = 12,
                   sequence_flags = 13, track_descriptor = 60;
}
namespace descriptor {
constexpr uint32_t uuid = 1, name = 2, process = 3, parent_uuid = 5, counter = 8,
                   child_ordering = 11, sibling_order_rank = 12;
constexpr uint32_t process_pid = 1, process_name = 6, counter_unit_name = 6;
constexpr int32_t explicit_order = 3;
}  // namespace descriptor
namespace event {
constexpr uint32_t category_iids = 3, annotations = 4, type = 9, name_iid = 10, track_uuid = 11,
                   double_counter_value = 44, flow_ids = 47, terminating_flow_ids = 48;
constexpr int32_t begin = 1, end = 2, counter = 4;
}  // namespace event
namespace annotation {
constexpr uint32_t name_iid = 1, int_value = 4, string_value = 6;
}
namespace interned {
constexpr uint32_t categories = 1, event_names = 2, annotation_names = 3;
constexpr uint32_t iid = 1, name = 2;
}  // namespace interned

constexpr uint32_t kSequence = 1;                  // one writer, one sequence
constexpr uint32_t kCleared = 1, kNeedsState = 2;  // sequence_flags
constexpr size_t kBlock = 1 << 20;                 // bytes collected before they go to the file

}  // namespace

PacketFile::PacketFile(std::string path) : file_(std::move(path)) {
  // An empty first packet that declares the interned names of this sequence void.
  packet({}, true);
}

void PacketFile::packet(std::string_view body, bool first) {
  body_.assign(body);
  pbf_writer out(body_);
  out.add_uint32(packet_field::sequence_id, kSequence);
  out.add_uint32(packet_field::sequence_flags, first ? kCleared : kNeedsState);
  pbf_writer(block_).add_message(trace::packet, body_);
  if (block_.size() >= kBlock) {
    file_.write(block_);
    block_.clear();
  }
}

uint64_t PacketFile::add_track(std::string body) {
  const uint64_t uuid = ++tracks_;
  pbf_writer(body).add_uint64(descriptor::uuid, uuid);
  event_.clear();
  pbf_writer(event_).add_message(packet_field::track_descriptor, body);
  packet(event_);
  return uuid;
}

uint64_t PacketFile::process(std::string_view name, int32_t pid) {
  std::string process, body;
  pbf_writer p(process), out(body);
  p.add_int32(descriptor::process_pid, pid);
  p.add_string(descriptor::process_name, name.data(), name.size());
  out.add_message(descriptor::process, process);
  out.add_int32(descriptor::child_ordering, descriptor::explicit_order);
  return add_track(std::move(body));
}

uint64_t PacketFile::track(std::string_view name, uint64_t parent, int32_t rank) {
  std::string body;
  pbf_writer out(body);
  out.add_string(descriptor::name, name.data(), name.size());
  out.add_uint64(descriptor::parent_uuid, parent);
  out.add_int32(descriptor::sibling_order_rank, rank);
  return add_track(std::move(body));
}

uint64_t PacketFile::counter(std::string_view name, std::string_view unit, uint64_t parent,
                             int32_t rank) {
  std::string counter, body;
  pbf_writer(counter).add_string(descriptor::counter_unit_name, unit.data(), unit.size());
  pbf_writer out(body);
  out.add_string(descriptor::name, name.data(), name.size());
  out.add_uint64(descriptor::parent_uuid, parent);
  out.add_message(descriptor::counter, counter);
  out.add_int32(descriptor::sibling_order_rank, rank);
  return add_track(std::move(body));
}

uint64_t PacketFile::intern(Names& names, std::string_view name) {
  const auto [at, fresh] = names.ids.try_emplace(std::string(name), names.ids.size() + 1);
  if (fresh) names.fresh.emplace_back(at->second, at->first);  // map nodes do not move
  return at->second;
}

void PacketFile::slice(const Slice& s) {
  event_.clear();
  {
    pbf_writer out(event_);
    out.add_enum(event::type, event::begin);
    out.add_uint64(event::track_uuid, s.track);
    out.add_uint64(event::name_iid, intern(events_, s.name));
    out.add_uint64(event::category_iids, intern(categories_, s.category));
    for (const SliceArg& a : s.args) {
      arg_.clear();
      pbf_writer arg(arg_);
      arg.add_uint64(annotation::name_iid, intern(args_, a.name));
      if (a.text.empty())
        arg.add_int64(annotation::int_value, a.number);
      else
        arg.add_string(annotation::string_value, a.text.data(), a.text.size());
      out.add_message(event::annotations, arg_);
    }
    for (const uint64_t id : s.flows_out) out.add_fixed64(event::flow_ids, id);
    for (const uint64_t id : s.flows_in) out.add_fixed64(event::terminating_flow_ids, id);
  }
  std::string begin, end;
  interned_.clear();
  for (const auto& [names, field] :
       {std::pair{&categories_, interned::categories}, std::pair{&events_, interned::event_names},
        std::pair{&args_, interned::annotation_names}}) {
    for (const auto& [id, name] : names->fresh) {
      arg_.clear();
      pbf_writer entry(arg_);
      entry.add_uint64(interned::iid, id);
      entry.add_string(interned::name, name.data(), name.size());
      pbf_writer(interned_).add_message(field, arg_);
    }
    names->fresh.clear();
  }
  pbf_writer first(begin);
  first.add_uint64(packet_field::timestamp, uint64_t(s.begin));
  if (!interned_.empty()) first.add_message(packet_field::interned_data, interned_);
  first.add_message(packet_field::track_event, event_);
  packet(begin);

  event_.clear();
  pbf_writer last(event_);
  last.add_enum(event::type, event::end);
  last.add_uint64(event::track_uuid, s.track);
  pbf_writer second(end);
  second.add_uint64(packet_field::timestamp, uint64_t(s.end));
  second.add_message(packet_field::track_event, event_);
  packet(end);
}

void PacketFile::count(uint64_t track, int64_t time, double value) {
  event_.clear();
  pbf_writer out(event_);
  out.add_enum(event::type, event::counter);
  out.add_uint64(event::track_uuid, track);
  out.add_double(event::double_counter_value, value);
  std::string body;
  pbf_writer top(body);
  top.add_uint64(packet_field::timestamp, uint64_t(time));
  top.add_message(packet_field::track_event, event_);
  packet(body);
}

void PacketFile::commit() {
  file_.write(block_);
  block_.clear();
  file_.commit();
}

}  // namespace daybreak::traces
