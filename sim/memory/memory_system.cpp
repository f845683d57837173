#include "sim/memory/memory_system.hpp"

#include "sim/memory/fabric.hpp"

namespace daybreak::sim {

struct MemorySystem::Impl {
  Fabric fabric;
  Impl(sc_core::sc_module_name name, const ChipConfig& config, const DramFactory& dram)
      : fabric(name, config, dram) {}
};

MemorySystem::MemorySystem(const ChipConfig& config, sc_core::sc_module_name name,
                           const DramFactory& dram)
    : impl_(std::make_unique<Impl>(name, config, dram)) {}
MemorySystem::~MemorySystem() = default;

MemoryPort& MemorySystem::port(int core) { return impl_->fabric.port(core); }
int64_t MemorySystem::line_bytes() const { return impl_->fabric.line_bytes(); }
MemoryStats MemorySystem::stats() const { return impl_->fabric.stats(); }
bool MemorySystem::idle() const { return impl_->fabric.idle(); }

}  // namespace daybreak::sim
