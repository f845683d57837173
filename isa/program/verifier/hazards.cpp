// Accesses are visited in the order their entries start. Of each piece of storage only those accesses are
// kept that a later one could still race with alone: an access is dropped once a later, ordered one
// covers it, because whoever is ordered after that one is ordered after both (a read drops reads only).
#include "isa/program/verifier/hazards.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "isa/instructions/operands.hpp"
#include "isa/program/verifier/accesses.hpp"

namespace daybreak::isa::verifier {

namespace {

// One scratchpad, or memory (of one binding if addresses are not known).
using Storage = int;

struct Access {
  int64_t entry = 0;
  Region region;
  bool write = false;
  bool chosen = false;
};

class Checker {
 public:
  Checker(const TaskProgram& p, const Schedule& s, const BindingTable* b, size_t most)
      : program_(p), schedule_(s), bindings_(b), most_(most) {}

  std::vector<Finding> run() {
    for (int32_t entry : schedule_.started) visit(entry);
    std::stable_sort(findings_.begin(), findings_.end(),
                     [](const Finding& a, const Finding& b) { return a.second < b.second; });
    return std::move(findings_);
  }

 private:
  void visit(int32_t entry) {
    if (findings_.size() >= most_) return;
    const Instruction& instruction = program_.code[size_t(entry)].instruction;
    std::visit(
        [&](const auto& i) {
          for_each_operand(i, [&](const auto& operand, isa::Access access, bool) {
            if constexpr (std::is_same_v<std::remove_cvref_t<decltype(operand)>, TileRef>)
              add(int(operand.space), {entry, isa::region_of(operand), writes(access), false});
          });
        },
        instruction);
    for_each_memory_use(instruction, program_, [&](const MemoryUse& u) {
      Region r = region_of(u, program_);
      Storage storage = kSpaces;
      const uint16_t binding = program_.tensors[u.view.tensor].binding;
      if (bindings_)
        r.begin += int64_t((*bindings_)[binding].base.value);
      else
        storage += binding;
      add(storage, {entry, r, u.write, u.chosen});
    });
  }

  void add(Storage storage, const Access& now) {
    if (now.region.empty()) return;
    auto& kept = kept_[storage];
    std::erase_if(kept, [&](const Access& before) {
      if (before.entry == now.entry) return false;
      const bool ordered = schedule_.ordered(program_, before.entry, now.entry);
      if (!ordered) {
        check(storage, before, now);
        return false;
      }
      return (now.write || !before.write) && !now.chosen && covers(now.region, before.region);
    });
    kept.push_back(now);
  }

  void check(Storage storage, const Access& before, const Access& now) {
    if (!before.write && !now.write) return;
    if (before.write && now.write && before.chosen && now.chosen) return;
    if (!overlap(before.region, now.region) || findings_.size() >= most_) return;
    const bool straight = before.entry < now.entry;
    const Access &first = straight ? before : now, &second = straight ? now : before;
    for (const Finding& f : findings_)
      if (f.first == first.entry && f.second == second.entry) return;
    findings_.push_back(
        {Finding::Kind::hazard, message(storage, first, second), first.entry, second.entry});
  }

  std::string message(Storage storage, const Access& first, const Access& second) const {
    const Queue from = queue_of(program_.code[size_t(first.entry)].instruction);
    const Queue to = queue_of(program_.code[size_t(second.entry)].instruction);
    const std::string place = storage < kSpaces
                                  ? fmt::format("scratchpad {}", name_of(Space(storage)))
                              : bindings_ ? "memory"
                                          : fmt::format("memory of binding {}", storage - kSpaces);
    const int64_t begin = std::max(first.region.begin, second.region.begin);
    const std::string edge =
        from == to
            ? fmt::format("the second needs `fence`, because {} overlaps its entries",
                          name_of(from))
            : fmt::format("a signal of the first ({}) and a wait of the second ({}) are missing",
                          name_of(from), name_of(to));
    return fmt::format(
        "{} {} and {} {} the same bytes of {} near {:#x} and nothing orders them: {}",
        describe(program_, first.entry), first.write ? "writes" : "reads",
        describe(program_, second.entry), second.write ? "writes" : "reads", place, begin, edge);
  }

  const TaskProgram& program_;
  const Schedule& schedule_;
  const BindingTable* bindings_;
  size_t most_;
  std::map<Storage, std::vector<Access>> kept_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> hazards(const TaskProgram& program, const Schedule& schedule,
                             const BindingTable* bindings, size_t most) {
  return Checker(program, schedule, bindings, most).run();
}

}  // namespace daybreak::isa::verifier
