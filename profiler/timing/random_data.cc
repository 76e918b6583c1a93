#include "profiler/timing/random_data.h"

#include <algorithm>
#include <cmath>
#include <cstring>
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
    Scalar value = IsFloat(dtype)
                       ? Scalar::Float(dtype, normal(rng))
                       : Scalar::Int(dtype, dtype == DType::kBool
                                                ? static_cast<int64_t>(rng() & 1)
                                                : static_cast<int64_t>(rng() % kIntegerRange));
    StoreScalar(value, &table[i * width]);
  }
  return table;
}

template <typename T>
T As(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

float FromBf16(uint16_t bits) {
  const uint32_t wide = uint32_t{bits} << 16;
  float value;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

// The loop over elements, with the conversion known when it is compiled: outputs have up to some
// hundred million of them. `width`: bytes of an element.
template <typename Load>
double RelativeErrorOf(const std::vector<std::byte>& got, const std::vector<std::byte>& want,
                       size_t width, Load load) {
  double difference = 0;
  double norm = 0;
  for (size_t i = 0; i < got.size(); i += width) {
    const double g = load(&got[i]);
    const double w = load(&want[i]);
    if (std::isfinite(g) && std::isfinite(w)) {
      difference += (g - w) * (g - w);
      norm += w * w;
    } else if (g != w && !(std::isnan(g) && std::isnan(w))) {
      return std::numeric_limits<double>::infinity();
    }
  }
  if (difference == 0) return 0;
  return std::sqrt(difference / std::max(norm, std::numeric_limits<double>::min()));
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
  switch (dtype) {
    case DType::kF32:
      return RelativeErrorOf(got, want, width, [](const std::byte* p) { return As<float>(p); });
    case DType::kF64:
      return RelativeErrorOf(got, want, width, [](const std::byte* p) { return As<double>(p); });
    case DType::kBF16:
      return RelativeErrorOf(got, want, width,
                             [](const std::byte* p) { return FromBf16(As<uint16_t>(p)); });
    default:
      return RelativeErrorOf(
          got, want, width, [dtype](const std::byte* p) { return AsDouble(LoadScalar(dtype, p)); });
  }
}

}  // namespace stax
