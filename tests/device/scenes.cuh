// Random inputs of the kernels at any size, and what the oracle makes of the same bytes. Large
// contents are made on the device; the oracle reads back what it looks at.
#pragma once
#include "tests/device/rig.cuh"

namespace daybreak::device {

using namespace kernels::device;

// A paged cache: requests of given lengths whose pages lie in random order.
struct Pages {
  std::vector<int32_t> contexts, requests, blocks;
  int64_t count = 0;  // physical pages

  Pages(std::vector<int32_t> lengths, Random& random, int page_tokens = 64, int spare = 3);
  int page_tokens;
  int32_t row(int request, int32_t position) const;
};

struct AttentionShape {
  int tokens = 1, heads = 128, context = 32768;
  bool plain = false;  // BF16 rows of one request: prefill
  int splits = 1;
  std::vector<int> valid;  // keys of each token, cyclic; empty: 2048
  bool sink = false, any_scale = false, poison_rest = false;
  int page_tokens = 64;
  std::string text() const;
};

class AttentionScene {
 public:
  AttentionScene(const AttentionShape&, uint64_t seed);
  void launch(cudaStream_t stream = nullptr);  // attention, and the combination of splits
  void launch_attention(cudaStream_t stream = nullptr);
  // Compares `tokens` sampled tokens and `heads` of each with the oracle, first and last included;
  // 0: all.
  void verify(Report& report, const std::string& name, int tokens, int heads);
  void verify_repeats(Report& report, const std::string& name, int times);
  // Inputs that a launch must refuse: another generation of the page table, a row that is none.
  void spoil_stamp();
  void spoil_index();
  double flops() const;
  double bytes() const;  // compulsory: distinct rows at least once, queries and results
  uint16_t output() const { return out_; }

  Memory memory;
  AttentionShape shape;

 private:
  Random random_;
  Pages pages_;
  std::vector<int32_t> valid_, table_;
  uint16_t q_, cache_, rows_, stamps_, requests_, valid_id_, sinks_, out_, lse_, partial_out_,
      partial_lse_;
  std::vector<float> sink_values_;
  ArgsOf<SparseMlaRecords> records_;
  ArgsOf<SparseMlaPlain> plain_;
  ArgsOf<Combine> combine_;
};

struct IndexerShape {
  int batch = 1;
  std::vector<int32_t> contexts;  // one a request; of one element: of all
  int queries = 1;                // tokens a request scores: 1 or 2
  bool prefill = false;           // batch * queries tokens of one request of contexts[0] keys
  int splits = 1;
  std::string text() const;
};

class IndexerScene {
 public:
  IndexerScene(const IndexerShape&, uint64_t seed);
  void launch(cudaStream_t stream = nullptr);
  void verify(Report& report, const std::string& name, int tokens);
  void verify_repeats(Report& report, const std::string& name, int times);
  double flops() const;
  double bytes() const;
  uint16_t output() const { return scores_; }

  Memory memory;
  IndexerShape shape;
  std::vector<int32_t> contexts;  // of each request of the launch

 private:
  int tokens() const { return shape.batch * shape.queries; }
  int32_t seen(int token) const;
  Random random_;
  Pages pages_;
  int64_t positions_;
  uint16_t q_, weights_, cache_, scores_;
  ArgsOf<IndexerOne> one_;
  ArgsOf<IndexerTwo> two_;
};

struct TopkShape {
  int rows = 1, columns = 32768, splits = 1;
  std::vector<int32_t> counts;  // scores a row has, cyclic; empty: all
};

class TopkScene {
 public:
  // `value` makes the scores of small scenes on the host; without it they are normal, on the device.
  TopkScene(const TopkShape&, uint64_t seed,
            const std::function<float(int row, int column, Random&)>& value = nullptr);
  void launch(cudaStream_t stream = nullptr);
  void verify(Report& report, const std::string& name, int rows);
  void verify_repeats(Report& report, const std::string& name, int times);
  uint16_t output() const { return positions_; }

  Memory memory;
  TopkShape shape;

 private:
  int32_t count(int row) const;
  int64_t pitch_;
  uint16_t scores_, lists_, positions_, valid_;
  ArgsOf<TopkFirst> first_;
  ArgsOf<TopkSecond> second_;
};

// `count` of [0, all), first and last among them, ascending.
std::vector<int> sample(int all, int count, Random& random);
// f(0) ... f(count - 1) on all processors.
void in_parallel(int count, const std::function<void(int)>& f);
// How a step of this batch and context is cut into tasks on this card's 132 multiprocessors.
int attention_splits(int tokens, int heads);
int indexer_splits(int requests, int context);
int topk_splits(int rows, int columns);

}  // namespace daybreak::device
