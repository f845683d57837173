#include "tests/kernels/machines/scene.hpp"

#include "ref/numeric/convert.hpp"
#include "ref/numeric/random.hpp"

namespace daybreak::testing {

isa::Capabilities direct_chip() {
  isa::Capabilities c;
  c.scratch = {Bytes(512 << 10), Bytes(512 << 10), Bytes(256 << 10)};
  c.latch_a = c.latch_b = Bytes(64 << 10);
  c.cores = 32;
  return c;
}

isa::Capabilities split_chip() {
  isa::Capabilities c;
  c.scratch = {Bytes(512 << 10), Bytes(384 << 10), Bytes(128 << 10)};
  c.latch_a = c.latch_b = Bytes(64 << 10);
  c.accumulator_visible = c.operand_visible = c.gather_to_operand = false;
  c.gather_engine = c.page_walker = c.fp8_matrix = false;
  c.cores = 24;
  return c;
}

uint16_t Scene::add(const std::string& name, std::vector<std::byte> contents) {
  const int64_t bytes = int64_t(contents.size());
  bindings_.push_back({name, Address(next_), Bytes(bytes)});
  contents_.push_back(std::move(contents));
  next_ += (uint64_t(bytes) / isa::MemoryImage::kPage + 2) * isa::MemoryImage::kPage;
  return uint16_t(bindings_.size() - 1);
}

uint16_t Scene::add_zeros(const std::string& name, int64_t bytes) {
  return add(name, std::vector<std::byte>(size_t(bytes)));
}

void Scene::fill(isa::MemoryImage& memory) const {
  for (size_t i = 0; i < bindings_.size(); ++i) {
    memory.reserve_at(bindings_[i].base, bindings_[i].name, bindings_[i].bytes);
    if (!contents_[i].empty()) memory.write(bindings_[i].base, contents_[i]);
  }
}

std::vector<std::byte> Scene::bytes(const isa::MemoryImage& memory, uint16_t binding) const {
  std::vector<std::byte> out(size_t(bindings_[binding].bytes.value));
  memory.read(bindings_[binding].base, out);
  return out;
}

std::string Scene::differences(const isa::MemoryImage& a, const isa::MemoryImage& b) const {
  std::string out;
  for (size_t i = 0; i < bindings_.size(); ++i) {
    const auto x = bytes(a, uint16_t(i)), y = bytes(b, uint16_t(i));
    const auto at = std::mismatch(x.begin(), x.end(), y.begin()).first - x.begin();
    if (at != int64_t(x.size())) out += bindings_[i].name + " at byte " + std::to_string(at) + "; ";
  }
  return out;
}

std::vector<uint16_t> random_bf16(uint64_t seed, size_t count) {
  std::vector<float> values(count);
  numeric::gaussian_bf16(seed, 1, 0, values);
  std::vector<uint16_t> bits(count);
  numeric::encode_bf16(values, bits.data());
  return bits;
}

std::vector<uint8_t> random_e4m3(uint64_t seed, size_t count) {
  std::vector<float> values(count);
  numeric::gaussian_bf16(seed, 2, 0, values);
  std::vector<uint8_t> codes(count);
  numeric::encode_e4m3(values, codes.data());
  return codes;
}

std::string findings(const isa::TaskProgram& p, const isa::Capabilities& chip,
                     const isa::BindingTable& bindings) {
  std::string out;
  for (const isa::Finding& f : isa::verify(p, chip, &bindings)) out += f.message + "\n";
  return out;
}

}  // namespace daybreak::testing
