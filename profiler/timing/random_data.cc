#include "profiler/timing/random_data.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "ir/scalar.h"

namespace stax {
namespace {

constexpr int kIntegerRange = 8;
// Values are drawn from a table of this many: drawing each would dominate for large tensors. A
// prime, so that rows of common lengths differ.
constexpr int64_t kTableSize = 65521;

double AsDouble(const Scalar& s) { return IsFloat(s.dtype) ? s.f : static_cast<double>(s.i); }

std::vector<std::byte> RandomTable(DType dtype, uint64_t seed) {
  const size_t width = DTypeBytes(dtype);
  std::vector<std::byte> table(kTableSize * width);
  std::mt19937_64 rng(seed);
  std::normal_distribution<double> normal;
  for (int64_t i = 0; i < kTableSize; ++i) {
    Scalar value = IsFloat(dtype) ? Scalar::Float(dtype, normal(rng))
                                  : Scalar::Int(dtype, dtype == DType::kBool
                                                           ? static_cast<int64_t>(rng() & 1)
                                                           : static_cast<int64_t>(
                                                                 rng() % kIntegerRange));
    StoreScalar(value, &table[i * width]);
  }
  return table;
}

}  // namespace

std::vector<std::byte> RandomElements(DType dtype, int64_t count, uint64_t seed) {
  std::vector<std::byte> table = RandomTable(dtype, seed);
  std::vector<std::byte> elements;
  const size_t bytes = count * DTypeBytes(dtype);
  elements.reserve(bytes);
  while (elements.size() < bytes) {
    size_t n = std::min(table.size(), bytes - elements.size());
    elements.insert(elements.end(), table.begin(), table.begin() + n);
  }
  return elements;
}

double RelativeError(DType dtype, const std::vector<std::byte>& got,
                     const std::vector<std::byte>& want) {
  if (got == want) return 0;
  if (got.size() != want.size()) return std::numeric_limits<double>::infinity();
  const size_t width = DTypeBytes(dtype);
  double difference = 0;
  double norm = 0;
  for (size_t i = 0; i < got.size(); i += width) {
    double g = AsDouble(LoadScalar(dtype, &got[i]));
    double w = AsDouble(LoadScalar(dtype, &want[i]));
    if (std::isnan(g) && std::isnan(w)) continue;
    if (!std::isfinite(g) || !std::isfinite(w)) {
      if (g == w) continue;
      return std::numeric_limits<double>::infinity();
    }
    difference += (g - w) * (g - w);
    norm += w * w;
  }
  if (difference == 0) return 0;
  return std::sqrt(difference / std::max(norm, std::numeric_limits<double>::min()));
}

}  // namespace stax
