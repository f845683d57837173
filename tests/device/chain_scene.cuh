// The whole decode step: append -> indexer -> top-k -> index table -> sparse MLA -> combine, each
// kernel reading what the one before has written.
#pragma once
#include "tests/device/scenes.cuh"

namespace daybreak::device {

struct ChainShape {
  int batch = 1, context = 32768;  // the new tokens included
  std::string text() const {
    return "b=" + std::to_string(batch) + " ctx=" + std::to_string(context);
  }
};

// A stream beside the one that a caller names, and an event between two streams.
struct SideStream {
  SideStream() { check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream"); }
  ~SideStream() { cudaStreamDestroy(stream); }
  SideStream(const SideStream&) = delete;
  cudaStream_t stream = nullptr;
};
struct OrderEvent {
  OrderEvent() { check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "event"); }
  ~OrderEvent() { cudaEventDestroy(event); }
  OrderEvent(const OrderEvent&) = delete;
  cudaEvent_t event = nullptr;
};

class ChainScene {
 public:
  ChainScene(const ChainShape&, uint64_t seed);
  void launch(cudaStream_t stream = nullptr);
  // What new tokens leave in the caches, selections, tables and results.
  void verify(Report& report, const std::string& name, int tokens, int heads);
  struct Part {
    const char* name;
    Work work;
    bool aside = false;  // nothing before attention waits for it
  };
  std::vector<Part> parts();
  int32_t slot_of(int token) const { return slots_[size_t(token)]; }

  Memory memory;
  ChainShape shape;

 private:
  void verify_append(Report& report, const std::string& name);
  void verify_selection(Report& report, const std::string& name, const std::vector<int>& tokens);
  void verify_attention(Report& report, const std::string& name, const std::vector<int>& tokens,
                        int heads);
  SideStream aside_;
  OrderEvent begun_, prepared_;
  Random random_;
  Pages pages_;
  int64_t positions_;
  std::vector<int32_t> slots_;
  std::vector<float> norm_weight_, norm_bias_, latent_weight_;
  uint16_t k_raw_, latent_raw_, rope_raw_, scores_, chosen_, valid_, rows_, q_raw_, q_, out_,
      records_, keys_, requests_, blocks_;
  ArgsOf<IndexStore> index_store_;
  ArgsOf<LatentStore> latent_store_;
  ArgsOf<QueryRotate> rotate_;
  ArgsOf<IndexerOne> indexer_;
  ArgsOf<TopkFirst> first_;
  ArgsOf<TopkSecond> second_;
  ArgsOf<TableBuild> table_;
  ArgsOf<SparseMlaRecords> attention_;
  ArgsOf<Combine> combine_;
};

}  // namespace daybreak::device
