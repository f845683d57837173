// Bandwidth and latency of the fast model beside a clock-by-clock one, on the traffic of memory.md
// section 2, per pseudo-channel, channel and stack.
#include <gtest/gtest.h>

#include "tests/sim/memory/command_model.hpp"
#include "tests/sim/memory/rig.hpp"

namespace daybreak::sim::test {
namespace {

struct Traffic {
  const char* name;
  std::function<Burst()> next;
};

std::vector<Traffic> traffics(uint64_t span) {
  auto mixed = [span](bool random) {
    return [=, n = uint64_t{0}, reads = uint64_t{0}, writes = uint64_t{0}]() mutable {
      const bool write = n % 3 == 2;
      const uint64_t half = span / 2;
      uint64_t at = (write ? half + writes++ * 64 % half : reads++ * 64 % half);
      if (random) at = numeric::below(numeric::mix(1, 9, n), span / 64) * 64;
      ++n;
      return Burst{.address = Address(at), .bytes = 64, .write = write};
    };
  };
  std::vector<Traffic> out{{"seq", sequential(0, span)}};
  for (const auto& [name, bytes] : {std::pair{"rand64", 64u},
                                    {"row128", 128u},
                                    {"row640", 640u},
                                    {"row656", 656u},
                                    {"row1152", 1152u},
                                    {"row41984", 41984u}})
    out.push_back({name, random_rows(span, bytes, 1, 32)});
  out.push_back({"mixseq", mixed(false)});
  out.push_back({"randmix", mixed(true)});
  return out;
}

struct Setting {
  const char *preset, *scope, *map, *refresh;
};

// Where the fast model is not within the band yet: it takes turns between the objects of different
// stack ids that are open at once, where the clock-by-clock model finishes the oldest first, and a
// window of three objects then waits for all of them.
const std::vector<std::string> kKnownMisses = {
    "hbm3_6400 pc fine64 all-bank row1152",
    "hbm3_6400 stack coarse256 all-bank row41984",
    "hbm3e_h200 pc fine64 all-bank row1152",
    "hbm3e_h200 stack coarse256 all-bank row41984",
};

class Oracle : public testing::TestWithParam<Setting> {};

TEST_P(Oracle, Agrees) {
  const Setting s = GetParam();
  HbmConfig h = preset(s.preset);
  const std::string scope = s.scope;
  if (scope != "stack") h.channels = 1;
  if (scope == "pc") h.pseudo_channels = 1;
  h.queue = scope == "pc" ? 64 : 128;
  h.map = s.map;
  h.refresh = s.refresh;
  const double band = scope == "stack" ? 8 : 5;  // points of peak, memory.md
  const uint64_t span = uint64_t(h.channels * h.pseudo_channels) << 26;
  for (const Traffic& t : traffics(span)) {
    // One object of 41984 bytes more or less must not matter.
    const bool few = scope == "pc" && std::string(t.name) == "row41984";
    const double us = scope == "stack" ? 7.8 : few ? 117 : 31.2;
    const Rate fast = measure_hbm(h, t.next, usual_window(h), 4, us);
    const CommandModelResult slow = run_command_model(h, t.next, usual_window(h), us);
    const double ours = fast.bytes_per_second / peak(h) * 100;
    const double theirs = slow.bytes_per_second / peak(h) * 100;
    const std::string name =
        std::string(s.preset) + " " + s.scope + " " + s.map + " " + s.refresh + " " + t.name;
    const bool known = std::ranges::find(kKnownMisses, name) != kKnownMisses.end();
    EXPECT_EQ(std::fabs(ours - theirs) > band, known)
        << name << ": ours " << ours << ", clock by clock " << theirs << " percent of peak"
        << (known ? "; it agrees now: take it off the list" : "");
  }
}

std::vector<Setting> settings() {
  std::vector<Setting> out;
  for (const char* p : {"hbm2_2000", "hbm2e_3200", "hbm3_6400", "hbm3e_h200"}) {
    for (const char* scope : {"pc", "channel"})
      for (const char* map : {"fine64", "coarse256", "rowlinear"})
        out.push_back({p, scope, map, "all-bank"});
    out.push_back({p, "channel", "coarse256", "per-bank"});
    out.push_back({p, "channel", "coarse256", "off"});
    out.push_back({p, "stack", "coarse256", "all-bank"});
    out.push_back({p, "stack", "fine64", "all-bank"});
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(, Oracle, testing::ValuesIn(settings()), [](const auto& info) {
  std::string name = std::string(info.param.preset) + "_" + info.param.scope + "_" +
                     info.param.map + "_" + info.param.refresh;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace daybreak::sim::test
