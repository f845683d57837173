#include "ref/ops/expert.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ref/ops/check.hpp"
#include "ref/ops/formats.hpp"
#include "ref/ops/gemm.hpp"

namespace daybreak::ref {
namespace {

constexpr int64_t kGroup = 128, kBlock = 32, kRows = 64;  // rows decoded at a time

// Rows of a weight matrix as values over their groups' scales.
class Decoder {
 public:
  explicit Decoder(const WeightMatrix& w) : w_(w), groups_((w.cols + kGroup - 1) / kGroup) {
    require(w.values && w.cols > 0, "a weight matrix without values");
    require(w.form == WeightForm::bf16 || w.scales, "a weight matrix without scales");
    require(w.form != WeightForm::mxfp4 || w.cols % kBlock == 0, "MXFP4 rows of broken blocks");
  }
  int64_t groups() const { return groups_; }

  // cols values to `values`, one scale a group to `scales`.
  void row(int64_t r, double* values, float* scales) {
    require(r >= 0 && r < w_.rows, "a row past the weight matrix");
    if (w_.form == WeightForm::mxfp4) return mxfp4(r, values, scales);
    if (w_.form == WeightForm::fp8) return fp8(r, values, scales);
    const uint8_t* bytes =
        w_.values->at(w_.values_at + uint64_t(r * w_.cols * 2), uint64_t(w_.cols * 2), room_);
    for (int64_t i = 0; i < w_.cols; ++i) {
      uint16_t bits;
      std::memcpy(&bits, bytes + 2 * i, 2);
      values[i] = bf16_value(bits);
    }
    std::fill_n(scales, groups_, 1.0f);
  }

 private:
  void mxfp4(int64_t r, double* values, float* scales) {
    const int64_t blocks = w_.cols / kBlock;
    const uint8_t* codes =
        w_.values->at(w_.values_at + uint64_t(r * w_.cols / 2), uint64_t(w_.cols / 2), room_);
    const uint8_t* bytes =
        w_.scales->at(w_.scales_at + uint64_t(r * blocks), uint64_t(blocks), scale_room_);
    for (int64_t g = 0; g < groups_; ++g) {
      const int64_t first = g * kGroup / kBlock;
      const int64_t count = std::min(kGroup / kBlock, blocks - first);
      scales[g] = convert_group({codes + first * 16, size_t(count * 16)},
                                {bytes + first, size_t(count)}, w_.layout, values + g * kGroup);
    }
  }
  void fp8(int64_t r, double* values, float* scales) {
    const uint8_t* codes =
        w_.values->at(w_.values_at + uint64_t(r * w_.cols), uint64_t(w_.cols), room_);
    for (int64_t i = 0; i < w_.cols; ++i) values[i] = e4m3_value(codes[i]);
    const uint8_t* bytes =
        w_.scales->at(w_.scales_at + uint64_t(r * groups_ * 4), uint64_t(groups_ * 4), scale_room_);
    std::memcpy(scales, bytes, size_t(groups_) * 4);
  }

  const WeightMatrix& w_;
  int64_t groups_;
  std::vector<uint8_t> room_, scale_room_;
};

// What x is multiplied as: values and one scale per row and group.
struct Operand {
  RowMatrix values;           // (m, cols)
  std::vector<float> scales;  // (m, groups)
};

Operand operand_of(std::span<const float> x, const WeightMatrix& w, ScaleForm form) {
  const int64_t m = int64_t(x.size()) / w.cols, groups = (w.cols + kGroup - 1) / kGroup;
  Operand a{RowMatrix(m, w.cols), std::vector<float>(size_t(m * groups), 1.0f)};
  if (w.form == WeightForm::bf16) {
    for (size_t i = 0; i < x.size(); ++i) a.values.data()[i] = x[i];
    return a;
  }
  const Quantised q = act_quant(x, w.cols, form, kGroup);
  for (size_t i = 0; i < x.size(); ++i) a.values.data()[i] = e4m3_value(q.codes[i]);
  a.scales = q.scales;
  return a;
}

float rounded(float x) { return bf16_value(nearest_bf16(x)); }

}  // namespace

std::vector<float> weight_product(std::span<const float> x, const WeightMatrix& w, int64_t first,
                                  int64_t stride, int64_t count, ScaleForm activation_scales) {
  require(w.cols > 0 && int64_t(x.size()) % w.cols == 0, "a product with a part of a row");
  fix_blocking();
  const Operand a = operand_of(x, w, activation_scales);
  const int64_t m = a.values.rows();
  const int64_t chunk = w.form == WeightForm::bf16 ? kGroup / 2 : kGroup;
  Decoder decoder(w);
  const int64_t groups = decoder.groups();
  std::vector<float> out(size_t(m * count), 0.0f), scales(size_t(kRows * groups));
  RowMatrix rows(kRows, w.cols), sums(m, kRows);
  for (int64_t n = 0; n < count; n += kRows) {
    const int64_t block = std::min(kRows, count - n);
    for (int64_t j = 0; j < block; ++j)
      decoder.row(first + (n + j) * stride, rows.data() + j * w.cols, scales.data() + j * groups);
    for (int64_t k = 0; k < w.cols; k += chunk) {
      const int64_t length = std::min(chunk, w.cols - k), g = k / kGroup;
      sums.leftCols(block).noalias() =
          a.values.middleCols(k, length) * rows.topRows(block).middleCols(k, length).transpose();
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < block; ++j)
          out[size_t(i * count + n + j)] += float(sums(i, j)) * (a.scales[size_t(i * groups + g)] *
                                                                 scales[size_t(j * groups + g)]);
    }
  }
  return out;
}

double gated(double gate, double up, ExpertActivation form, double factor, double limit) {
  const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
  if (form == ExpertActivation::situ)
    return factor * std::tanh(gate / factor) * sigmoid(gate) * limit * std::tanh(up / limit);
  if (limit > 0 && !std::isnan(gate)) gate = std::min(gate, limit);
  if (limit > 0 && !std::isnan(up)) up = std::clamp(up, -limit, limit);
  if (form == ExpertActivation::swiglu) return gate * sigmoid(factor * gate) * (up + 1);
  return gate * sigmoid(gate) * up;
}

std::vector<float> expert_output(std::span<const float> x, const Expert& e) {
  const int64_t hidden = e.gate_up.cols, inter = e.down.cols;
  require(e.gate_up.rows == 2 * inter && int64_t(x.size()) % hidden == 0,
          "an expert whose matrices do not fit each other");
  const int64_t m = int64_t(x.size()) / hidden, stride = e.interleaved ? 2 : 1;
  const int64_t up_row = e.interleaved ? 1 : inter;
  const auto gates = weight_product(x, e.gate_up, 0, stride, inter, e.activation_scales);
  const auto ups = weight_product(x, e.gate_up, up_row, stride, inter, e.activation_scales);
  std::vector<float> middle(size_t(m * inter));
  for (int64_t i = 0; i < m * inter; ++i) {
    float gate = gates[size_t(i)], up = ups[size_t(i)];
    if (!e.gate_up_bias.empty()) {
      gate += e.gate_up_bias[size_t(i % inter * stride)];
      up += e.gate_up_bias[size_t(up_row + i % inter * stride)];
    }
    middle[size_t(i)] = rounded(float(gated(gate, up, e.activation, e.factor, e.limit)));
  }
  auto out = weight_product(middle, e.down, 0, 1, e.down.rows, e.activation_scales);
  for (size_t i = 0; i < out.size(); ++i) {
    if (!e.down_bias.empty()) out[i] += e.down_bias[i % size_t(e.down.rows)];
    out[i] = rounded(out[i]);
  }
  return out;
}

}  // namespace daybreak::ref
