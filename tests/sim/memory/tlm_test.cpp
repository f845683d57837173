// TLM-2.0 AT (4-phase) in both directions. Ours under a foreign initiator, and a foreign DRAM behind
// our L2; chained, the two adapters add no time to the port between them.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "configs/reader/errors.hpp"
#include "sim/memory/port_dram.hpp"
#include "sim/memory/tlm_initiator.hpp"
#include "sim/memory/tlm_target.hpp"
#include "tests/sim/memory/rig.hpp"

namespace daybreak::sim::test {
namespace {

// Somebody else's traffic generator: sends when the target lets it, answers responses late or not.
class ForeignInitiator : public sc_core::sc_module, public tlm::tlm_mm_interface {
 public:
  ForeignInitiator(sc_core::sc_module_name name, bool slow_responses)
      : sc_module(name), socket("socket"), slow_(slow_responses) {
    socket.register_nb_transport_bw(this, &ForeignInitiator::backward);
    SC_HAS_PROCESS(ForeignInitiator);
    SC_METHOD(end_response);
    sensitive << ended_;
    dont_initialize();
    SC_METHOD(send);
    sensitive << next_;
    dont_initialize();
  }
  tlm_utils::simple_initiator_socket<ForeignInitiator> socket;
  std::vector<int64_t> sent, done;  // by transaction, fs; -1: not yet

  void add(const Burst& burst) {
    auto* p = new tlm::tlm_generic_payload(this);
    p->acquire();
    live_.insert(p);
    p->set_address(burst.address.value);
    p->set_data_length(burst.bytes);
    p->set_streaming_width(burst.bytes);
    p->set_data_ptr(data_);
    p->set_command(burst.write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    number_[p] = sent.size();
    sent.push_back(World::now());
    done.push_back(-1);
    waiting_.push_back(p);
    send();
  }
  void free(tlm::tlm_generic_payload* p) override {
    live_.erase(p);
    delete p;
  }
  ~ForeignInitiator() override {
    for (auto* p : live_) delete p;  // refused, or still on their way
  }

 private:
  void send() {
    while (!requesting_ && !waiting_.empty()) {
      auto* p = waiting_.front();
      waiting_.erase(waiting_.begin());
      requesting_ = p;
      tlm::tlm_phase phase = tlm::BEGIN_REQ;
      sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
      if (socket->nb_transport_fw(*p, phase, delay) == tlm::TLM_UPDATED) {
        EXPECT_EQ(phase, tlm::END_REQ);
        requesting_ = nullptr;
      }
    }
  }
  tlm::tlm_sync_enum backward(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay) {
    EXPECT_EQ(delay, sc_core::SC_ZERO_TIME);
    const bool accepted = requesting_ == &p;  // BEGIN_RESP may stand for END_REQ too
    if (accepted) {
      requesting_ = nullptr;
      next_.notify(sc_core::SC_ZERO_TIME);
    }
    if (phase == tlm::END_REQ) return tlm::TLM_ACCEPTED;
    EXPECT_EQ(phase, tlm::BEGIN_RESP);
    EXPECT_EQ(responding_, nullptr) << "two responses at once";
    EXPECT_EQ(p.get_response_status(), tlm::TLM_OK_RESPONSE);
    done[number_.at(&p)] = World::now();
    number_.erase(&p);
    if (!slow_) {
      p.release();
      phase = tlm::END_RESP;
      return tlm::TLM_COMPLETED;
    }
    responding_ = &p;
    ended_.notify(sc_core::sc_time(3, sc_core::SC_NS));
    return tlm::TLM_ACCEPTED;
  }
  void end_response() {
    auto* p = responding_;
    responding_ = nullptr;
    tlm::tlm_phase phase = tlm::END_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    socket->nb_transport_fw(*p, phase, delay);
    p->release();
  }

  bool slow_;
  unsigned char data_[1024] = {};
  std::map<tlm::tlm_generic_payload*, size_t> number_;
  std::vector<tlm::tlm_generic_payload*> waiting_;
  std::set<tlm::tlm_generic_payload*> live_;
  tlm::tlm_generic_payload *requesting_ = nullptr, *responding_ = nullptr;
  sc_core::sc_event ended_, next_;
};

// A schedule of bursts: when, and what.
std::vector<std::pair<int64_t, Burst>> schedule(uint64_t seed, int count) {
  Dice dice{seed};
  std::vector<std::pair<int64_t, Burst>> out;
  int64_t at = 0;
  for (int i = 0; i < count; ++i) {
    at += dice.pick<int64_t>({0, 0, 1'250'000, 40'000'000});
    out.push_back({at,
                   {.address = Address(uint64_t(dice(0, 1 << 20)) * 64),
                    .bytes = dice.pick<uint32_t>({32, 64, 256}),
                    .write = dice(0, 3) == 0,
                    .tag = uint64_t(i)}});
  }
  return out;
}

// Completion times of a schedule on a port.
std::vector<int64_t> times_on(MemoryPort& port,
                              const std::vector<std::pair<int64_t, Burst>>& bursts) {
  Recorder client;
  for (const auto& [at, burst] : bursts) {
    if (at > World::now()) World::run_for(at - World::now());
    port.submit(std::span(&burst, 1), client);
  }
  World::run_all();
  std::vector<int64_t> out(bursts.size(), -1);
  for (const Completion& c : client.got) {
    EXPECT_EQ(out[c.tag], -1) << "answered twice";
    out[c.tag] = c.at.value;
  }
  return out;
}

std::vector<int64_t> direct_times(const std::vector<std::pair<int64_t, Burst>>& bursts) {
  World world;
  HbmPort port("dram", preset("hbm2e_3200"));
  World::run_for(0);
  return times_on(port, bursts);
}

TEST(Tlm, OursUnderAForeignInitiatorKeepsThePortsCycles) {
  const auto bursts = schedule(3, 2000);
  const auto expected = direct_times(bursts);
  World world;
  HbmPort port("dram", preset("hbm2e_3200"));
  TlmTarget target("target", port, 1 << 20);
  ForeignInitiator initiator("initiator", false);
  initiator.socket.bind(target.socket);
  World::run_for(0);
  for (const auto& [at, burst] : bursts) {
    if (at > World::now()) World::run_for(at - World::now());
    initiator.add(burst);
  }
  World::run_all();
  EXPECT_EQ(initiator.done, expected);
}

// With few transactions allowed and slow responses all are answered once, later but never earlier.
TEST(Tlm, BackPressureAndSlowResponsesLoseNothing) {
  const auto bursts = schedule(4, 800);
  World world;
  HbmPort port("dram", preset("hbm2e_3200"));
  TlmTarget target("target", port, 2);
  ForeignInitiator initiator("initiator", true);
  initiator.socket.bind(target.socket);
  World::run_for(0);
  for (const auto& [at, burst] : bursts) {
    if (at > World::now()) World::run_for(at - World::now());
    initiator.add(burst);
  }
  World::run_all();
  EXPECT_TRUE(port.idle());
  for (size_t i = 0; i < bursts.size(); ++i)
    EXPECT_GE(initiator.done[i], bursts[i].first + 10'000'000) << i;
}

TEST(Tlm, BothAdaptersChainedAddNoTime) {
  const auto bursts = schedule(5, 2000);
  const auto expected = direct_times(bursts);
  World world;
  HbmPort port("dram", preset("hbm2e_3200"));
  TlmTarget target("target", port, 1 << 20);
  TlmInitiator outside("outside", {.chunk = 1024});
  outside.socket(0).bind(target.socket);
  World::run_for(0);
  EXPECT_EQ(times_on(outside, bursts), expected);
}

// Somebody else's DRAM: one request at a time gets END_REQ after 2 ns, its data 50 ns later.
class ForeignDram : public sc_core::sc_module {
 public:
  explicit ForeignDram(sc_core::sc_module_name name) : sc_module(name), socket("socket") {
    socket.register_nb_transport_fw(this, &ForeignDram::forward);
    SC_HAS_PROCESS(ForeignDram);
    SC_METHOD(accept);
    sensitive << accepted_;
    dont_initialize();
    SC_METHOD(respond);
    sensitive << ready_;
    dont_initialize();
  }
  tlm_utils::simple_target_socket<ForeignDram> socket;
  int64_t transactions = 0;

 private:
  tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                             sc_core::sc_time&) {
    EXPECT_EQ(phase, tlm::BEGIN_REQ);
    EXPECT_EQ(request_, nullptr) << "BEGIN_REQ before END_REQ";
    EXPECT_TRUE(p.has_mm());
    EXPECT_EQ(p.get_data_length() % 32, 0u);
    EXPECT_EQ(p.get_address() / 256, (p.get_address() + p.get_data_length() - 1) / 256);
    ++transactions;
    request_ = &p;
    p.acquire();
    accepted_.notify(sc_core::sc_time(2, sc_core::SC_NS));
    return tlm::TLM_ACCEPTED;
  }
  void accept() {
    auto* p = request_;
    request_ = nullptr;
    queue_.push_back({World::now() + 50'000'000, p});
    if (queue_.size() == 1) ready_.notify(sc_core::sc_time(50, sc_core::SC_NS));
    tlm::tlm_phase phase = tlm::END_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    socket->nb_transport_bw(*p, phase, delay);
  }
  void respond() {
    auto* p = queue_.front().second;
    queue_.erase(queue_.begin());
    if (!queue_.empty())
      ready_.notify(sc_core::sc_time::from_value(uint64_t(queue_.front().first - World::now())));
    p->set_response_status(tlm::TLM_OK_RESPONSE);
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    EXPECT_EQ(socket->nb_transport_bw(*p, phase, delay), tlm::TLM_COMPLETED);
    p->release();
  }
  tlm::tlm_generic_payload* request_ = nullptr;
  std::vector<std::pair<int64_t, tlm::tlm_generic_payload*>> queue_;
  sc_core::sc_event accepted_, ready_;
};

TEST(Tlm, AForeignDramStandsBehindOurL2) {
  ChipConfig c;
  c.hbm.controller = 0;
  World world;
  std::vector<std::unique_ptr<ForeignDram>> channels;
  TlmInitiator outside("outside",
                       {.chunk = 256, .atom = 32, .channels = 2, .channel_of = [](uint64_t a) {
                          return int(a / 256 % 2);
                        }});
  for (int i = 0; i < 2; ++i) {
    channels.push_back(std::make_unique<ForeignDram>(("channel" + std::to_string(i)).c_str()));
    outside.socket(i).bind(channels.back()->socket);
  }
  MemorySystem memory(c, "memory", [&](const HbmConfig&, DramListener& listener) {
    return std::make_unique<PortDram>("behind_l2", outside, listener);
  });
  World::run_for(0);
  Recorder client;
  const Burst line{.address = Address(4096), .bytes = 512, .write = false, .tag = 1};
  memory.port(0).submit(std::span(&line, 1), client);
  World::run_all();
  ASSERT_EQ(client.got.size(), 1u);
  EXPECT_EQ(channels[0]->transactions + channels[1]->transactions, 2);
  // Both channels at once: NoC, L2 and link around 2 + 50 ns.
  const double period = double(c.period().value) * 1e-6;
  EXPECT_NEAR(double(client.got[0].at.value) * 1e-6, 52 + (40 + 120 + 40 + 6) * period, 2 * period);

  std::vector<std::unique_ptr<Loop>> loops;
  for (int core = 0; core < 4; ++core) {
    loops.push_back(std::make_unique<Loop>(memory.port(core), 64 * 512,
                                           sequential(uint64_t(core + 1) << 30, 1 << 28, 512)));
    loops.back()->start();
  }
  World::run_for(20'000'000'000);
  int64_t bytes = 0;
  for (auto& loop : loops) loop->stop(), bytes += loop->bytes;
  World::run_all();
  EXPECT_TRUE(memory.idle());
  // Two sockets of 256 bytes per 2 ns.
  EXPECT_NEAR(double(bytes) / 20e-6, 256e9, 256e9 * 0.05);
}

TEST(Tlm, RefusesWhatTheContractForbids) {
  World world;
  HbmPort port("dram", preset("hbm2e_3200"));
  TlmTarget target("target", port);
  ForeignInitiator initiator("initiator", false);
  initiator.socket.bind(target.socket);
  World::run_for(0);
  EXPECT_THROW(initiator.add({.address = Address(0), .bytes = 0}), InvariantError);
}

}  // namespace
}  // namespace daybreak::sim::test
