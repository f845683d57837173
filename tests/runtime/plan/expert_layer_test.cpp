// Two expert layers in one run of the chip: one workspace for all experts of both, and every wait that hands
// a slot of it over is needed: without it the simulator names both users.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "kernels/runtime/plan/expert_layer.hpp"
#include "sim/chip/chip.hpp"

namespace daybreak::kernels {
namespace {

ExpertWorkload small(int64_t layers) {
  ExpertWorkload w;
  w.model = {.name = "small",
             .architecture = "deepseek_v3",
             .layers = 2,
             .hidden = 512,
             .experts = 8,
             .topk = 2,
             .inter = 256,
             .assumed = {}};
  w.tokens = 5;
  w.layers = layers;
  return w;
}

// A wait that is left out: the `number`-th of a launch's first task that a conversion or a product has.
struct Missing {
  uint32_t launch = 0;
  int number = 0;
};

struct Layers {
  explicit Layers(const ExpertWorkload& w, int64_t cores = sim::ChipConfig{}.cores) {
    chip.cores = cores;
    for (int64_t l = 0; l < w.layers; ++l)
      layers.push_back(
          std::make_unique<ExpertLayer>(w, chip.capabilities(), image, bindings, l,
                                        l > 0 ? &layers.back()->tensors().y : nullptr));
    for (auto& layer : layers) layer->add_to(plan);
    plan.prepare(chip.capabilities(), false);
  }
  sim::RunResult run(isa::TaskSource& source) {
    sim::Chip machine(chip, image, bindings, source);
    return machine.run(plan.launches());
  }
  sim::ChipConfig chip;
  isa::MemoryImage image;
  isa::BindingTable bindings;
  Plan plan{image, bindings};
  std::vector<std::unique_ptr<ExpertLayer>> layers;
};

class WithoutWait : public isa::TaskSource {
 public:
  WithoutWait(Plan& plan, Missing missing) : plan_(plan), missing_(missing) {}
  isa::TaskProgram program(uint32_t launch, uint32_t task, const isa::MemoryImage& m) override {
    isa::TaskProgram p = plan_.program(launch, task, m);
    if (launch != missing_.launch || task != 0) return p;
    int number = 0;
    for (isa::Entry& e : p.code) {
      const bool user = std::holds_alternative<isa::StreamMxfp4>(e.instruction) ||
                        std::holds_alternative<isa::Mma>(e.instruction);
      isa::Entry without = e;
      if (!user || !forget(p, without)) continue;
      if (number++ != missing_.number) continue;
      e = without;
      found = true;
      break;
    }
    return p;
  }
  bool found = false;

 private:
  // Takes from an entry its last wait for a signal that the other kind of user gives, if it has one.
  static bool forget(const isa::TaskProgram& p, isa::Entry& e) {
    const bool stream = std::holds_alternative<isa::StreamMxfp4>(e.instruction);
    const auto from_the_other = [&](isa::SemaphoreId s) {
      return std::any_of(p.code.begin(), p.code.end(), [&](const isa::Entry& other) {
        const bool gives =
            std::find(other.signals.begin(), other.signals.end(), s) != other.signals.end();
        return gives && (stream ? std::holds_alternative<isa::Mma>(other.instruction)
                                : std::holds_alternative<isa::StreamMxfp4>(other.instruction));
      });
    };
    const auto last = std::find_if(e.waits.rbegin(), e.waits.rend(), from_the_other);
    if (last == e.waits.rend()) return false;
    e.waits.erase(std::next(last).base());
    return true;
  }
  Plan& plan_;
  Missing missing_;
};

std::vector<uint32_t> expert_launches(const Plan& plan) {
  std::vector<uint32_t> out;
  for (uint32_t i = 0; i < plan.steps().size(); ++i)
    if (plan.steps()[i].name.starts_with("experts_")) out.push_back(i);
  return out;
}

TEST(LayerPair, OneWorkspaceServesAllExpertsOfBoth) {
  // On one core, whose slots are all in use at some time: how many cores are at once is a matter of time.
  Layers one(small(1), 1), two(small(2), 1);
  const int64_t bytes = one.run(one.plan).workspace_bytes;
  EXPECT_EQ(two.run(two.plan).workspace_bytes, bytes);
  EXPECT_GT(bytes, 0);
  EXPECT_LE(bytes, two.chip.cores * two.chip.core.scratch.operand_kb * 1024);
  for (const auto& verdict : two.plan.check()) EXPECT_TRUE(verdict.pass) << verdict.name;
  EXPECT_EQ(expert_launches(two.plan).size(), 4u);
}

TEST(LayerPair, EveryHandOverNeedsItsWait) {
  const Layers plain(small(2));
  for (uint32_t launch : expert_launches(plain.plan)) {
    int number = 0, slots = 0;
    for (;; ++number) {
      Layers seeded(small(2));
      WithoutWait source(seeded.plan, {launch, number});
      std::string error;
      try {
        seeded.run(source);
      } catch (const InvariantError& e) { error = e.what(); }
      if (!source.found) {
        EXPECT_EQ(error, "");
        break;
      }
      // The first product waits for its rows by the same signal as for its slot: they are named first.
      const bool slot = error.find("stream_mxfp4") != std::string::npos;
      EXPECT_TRUE(slot || error.find("'multiply 0'") != std::string::npos)
          << launch << " " << error;
      slots += slot;
      EXPECT_NE(error.find("mma"), std::string::npos) << launch << " " << error;
      EXPECT_NE(error.find("launch " + std::to_string(launch)), std::string::npos) << error;
    }
    EXPECT_GE(slots, number - 1);
    EXPECT_GT(slots, 1) << launch;  // a slot is filled, and filled again
  }
}

}  // namespace
}  // namespace daybreak::kernels
