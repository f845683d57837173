// What the reference tests share: the vector files, random values, bit comparison.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace daybreak::testing {

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInf = std::numeric_limits<float>::infinity();

// Rows of tests/vectors/<name>, header left out, one string a column.
inline std::vector<std::vector<std::string>> vector_rows(const std::string& name) {
  std::ifstream file(std::string(DAYBREAK_SOURCE) + "/tests/vectors/" + name);
  EXPECT_TRUE(file) << name;
  std::vector<std::vector<std::string>> rows;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::vector<std::string> cells;
    std::istringstream cell_stream(line);
    for (std::string cell; std::getline(cell_stream, cell, ',');) cells.push_back(cell);
    rows.push_back(cells);
  }
  return rows;
}

inline uint32_t number(const std::string& cell) { return uint32_t(std::stoul(cell, nullptr, 0)); }
inline float float_of(const std::string& cell) { return std::bit_cast<float>(number(cell)); }
inline uint32_t bits_of(float x) { return std::bit_cast<uint32_t>(x); }

// Equal bits, or both NaN.
inline ::testing::AssertionResult same(float got, float want) {
  if (bits_of(got) == bits_of(want) || (std::isnan(got) && std::isnan(want)))
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << std::hexfloat << got << " where " << want << " is wanted";
}

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  uint64_t bits() { return engine_(); }
  int64_t below(int64_t bound) { return int64_t(engine_() % uint64_t(bound)); }
  float normal(float sigma = 1) { return std::normal_distribution<float>(0, sigma)(engine_); }
  double uniform() { return double(engine_() >> 11) * 0x1p-53; }
  std::vector<float> normals(size_t count, float sigma = 1) {
    std::vector<float> values(count);
    for (float& x : values) x = normal(sigma);
    return values;
  }
  // E4M3 codes without NaN.
  std::vector<uint8_t> codes(size_t count) {
    std::vector<uint8_t> values(count);
    for (uint8_t& code : values) do
        code = uint8_t(bits());
      while ((code & 0x7F) == 0x7F);
    return values;
  }

 private:
  std::mt19937_64 engine_;
};

// Top-k by a stable sort of everything: score descending, position ascending, neither NaN nor -inf;
// positions ascending, -1 last.
inline std::vector<int32_t> sorted_topk(const std::vector<float>& scores, size_t k) {
  std::vector<int32_t> order;
  for (size_t i = 0; i < scores.size(); ++i)
    if (scores[i] > -kInf) order.push_back(int32_t(i));
  std::stable_sort(order.begin(), order.end(),
                   [&](int32_t a, int32_t b) { return scores[size_t(a)] > scores[size_t(b)]; });
  order.resize(std::min(k, order.size()));
  std::sort(order.begin(), order.end());
  order.resize(k, -1);
  return order;
}

}  // namespace daybreak::testing
