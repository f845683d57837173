#include "isa/program/verify.hpp"

#include <fmt/format.h>

#include "isa/instructions/operands.hpp"
#include "isa/program/limits.hpp"
#include "isa/program/verifier/accesses.hpp"
#include "isa/program/verifier/hazards.hpp"
#include "isa/program/verifier/schedule.hpp"

namespace daybreak::isa {

namespace {

constexpr size_t kMostHazards = 1000;

// Checks that look at one thing at a time.
class Local {
 public:
  Local(const TaskProgram& p, const Capabilities& c, const BindingTable* b)
      : program_(p), capabilities_(c), bindings_(b) {}

  std::vector<Finding> run() {
    check_program();
    for (size_t i = 0; i < program_.code.size(); ++i) check_entry(int64_t(i));
    return std::move(findings_);
  }

 private:
  void add(Finding::Kind kind, int64_t entry, std::string message) {
    if (entry >= 0) message = describe(program_, entry) + " " + message;
    findings_.push_back({kind, std::move(message), entry, -1});
  }

  void check_program() {
    if (program_.semaphores > capabilities_.max_semaphores)
      add(Finding::Kind::limit, -1,
          fmt::format("the program uses {} semaphores; a core has {}", program_.semaphores,
                      capabilities_.max_semaphores));
    for (int s = 0; s < kSpaces; ++s) {
      const int64_t has = capabilities_.scratch[s].value, uses = program_.scratch[s].value;
      if (has > 0 && uses > has)
        add(Finding::Kind::overflow, -1,
            fmt::format("the program uses {} bytes of scratchpad {}; a core has {}", uses,
                        name_of(Space(s)), has));
    }
    if (program_.tensors.size() > kMaxTensors)
      add(Finding::Kind::limit, -1,
          fmt::format("the program has {} tensors; at most {} are allowed", program_.tensors.size(),
                      kMaxTensors));
    for (size_t t = 0; t < program_.tensors.size(); ++t) {
      if (const std::string fault = fault_of(program_.tensors[t]); !fault.empty())
        add(Finding::Kind::limit, -1, fmt::format("tensor t{} {}", t, fault));
      check_binding(t);
    }
  }

  void check_binding(size_t index) {
    const TensorDesc& t = program_.tensors[index];
    if (!bindings_) return;
    if (t.binding >= bindings_->size()) {
      add(Finding::Kind::unbound, -1,
          fmt::format("tensor t{} names binding {} of {}", index, t.binding, bindings_->size()));
      return;
    }
    const Binding& b = (*bindings_)[t.binding];
    const Region r = region_of(t, 0, 0, t.rows(), t.cols());
    if (!r.empty() && (r.begin < 0 || r.end() > b.bytes.value))
      add(Finding::Kind::unbound, -1,
          fmt::format("tensor t{} reaches bytes {} to {} of binding {}, which has {}", index,
                      r.begin, r.end(), b.name, b.bytes.value));
  }

  void check_entry(int64_t index) {
    const Entry& e = program_.code[size_t(index)];
    for (const auto* list : {&e.waits, &e.signals})
      for (SemaphoreId s : *list)
        if (s.value >= program_.semaphores)
          add(Finding::Kind::limit, index,
              fmt::format("names semaphore s{}; the program declares {}", s.value,
                          program_.semaphores));
    std::visit(
        [&](const auto& i) {
          for_each_operand(i, [&](const auto& o, Access a, bool) { check_operand(index, o, a); });
        },
        e.instruction);
    if (const Mma* mma = std::get_if<Mma>(&e.instruction)) check_latches(index, *mma);
  }

  void check_operand(int64_t index, const TileRef& t, Access) {
    if (const std::string fault = fault_of(t); !fault.empty())
      return add(Finding::Kind::limit, index, "has a tile that " + fault);
    const int64_t end = region_of(t).end(), has = capabilities_.scratch[int(t.space)].value;
    const int64_t declared = program_.scratch[int(t.space)].value;
    if ((has > 0 && end > has) || end > declared)
      add(Finding::Kind::overflow, index,
          fmt::format("reaches byte {} of scratchpad {}; {}", end, name_of(t.space),
                      has > 0 && end > has ? fmt::format("a core has {}", has)
                                           : fmt::format("the program declares {}", declared)));
  }

  void check_operand(int64_t index, const TensorRef& r, Access a) {
    if (const std::string fault = fault_of(r); !fault.empty())
      return add(Finding::Kind::limit, index, "has a tensor view that " + fault);
    if (r.tensor >= program_.tensors.size())
      return add(Finding::Kind::unbound, index,
                 fmt::format("names tensor t{}; the program declares {}", r.tensor,
                             program_.tensors.size()));
    const uint16_t binding = program_.tensors[r.tensor].binding;
    if (bindings_ && writes(a) && binding < bindings_->size() && !(*bindings_)[binding].writable)
      add(Finding::Kind::unbound, index,
          fmt::format("writes binding {}, which is read-only", (*bindings_)[binding].name));
  }

  void check_latches(int64_t index, const Mma& mma) {
    const auto one = [&](const TileRef& t, Bytes latch, const char* name) {
      if (latch.value > 0 && t.bytes() > latch.value)
        add(Finding::Kind::limit, index,
            fmt::format("has an operand {} of {} bytes; its latch holds {}", name, t.bytes(),
                        latch.value));
    };
    one(mma.a, capabilities_.latch_a, "a");
    one(mma.b, capabilities_.latch_b, "b");
  }

  const TaskProgram& program_;
  const Capabilities& capabilities_;
  const BindingTable* bindings_;
  std::vector<Finding> findings_;
};

}  // namespace

std::string describe(const TaskProgram& p, int64_t entry) {
  const Entry& e = p.code[size_t(entry)];
  return fmt::format("entry {} ({} in {}{})", entry, name_of(e.instruction),
                     name_of(queue_of(e.instruction)),
                     e.label.empty() ? "" : ", \"" + e.label + "\"");
}

std::vector<Finding> verify(const TaskProgram& program, const Capabilities& capabilities,
                            const BindingTable* bindings) {
  std::vector<Finding> findings = Local(program, capabilities, bindings).run();
  // Order is only worth looking at in a program whose parts exist.
  for (const Finding& f : findings)
    if (f.kind == Finding::Kind::unbound || f.kind == Finding::Kind::limit) return findings;
  const verifier::Schedule schedule = verifier::run(program, capabilities);
  findings.insert(findings.end(), schedule.deadlocks.begin(), schedule.deadlocks.end());
  const auto hazards = verifier::hazards(program, schedule, bindings, kMostHazards);
  findings.insert(findings.end(), hazards.begin(), hazards.end());
  return findings;
}

}  // namespace daybreak::isa
