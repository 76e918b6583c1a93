#include "tools/run/compare.h"

#include <cmath>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ir/scalar.h"

namespace stax {
namespace {

std::string TypeText(const HostTensor& tensor) {
  return absl::StrCat(std::string(DTypeName(tensor.dtype)), "[", absl::StrJoin(tensor.dims, ", "),
                      "]");
}

double AsDouble(const Scalar& s) { return IsFloat(s.dtype) ? s.f : static_cast<double>(s.i); }

// How far `got` is outside what is allowed; 0 when it is within, infinity for a NaN that should not
// be there.
double Excess(const Scalar& got, const Scalar& want, const Tolerance& tolerance) {
  if (!IsFloat(got.dtype) && got.i == want.i) return 0;
  double g = AsDouble(got);
  double w = AsDouble(want);
  if (std::isnan(g) && std::isnan(w)) return 0;
  if (g == w) return 0;
  if (!std::isfinite(g) || !std::isfinite(w)) return INFINITY;
  return std::max(0.0, std::abs(g - w) - (tolerance.atol + tolerance.rtol * std::abs(w)));
}

std::string Position(size_t index, const std::vector<int64_t>& dims) {
  std::vector<int64_t> position(dims.size());
  for (size_t d = dims.size(); d-- > 0;) {
    position[d] = static_cast<int64_t>(index) % dims[d];
    index /= dims[d];
  }
  return absl::StrCat("[", absl::StrJoin(position, ", "), "]");
}

}  // namespace

absl::Status CompareTensors(const HostTensor& got, const HostTensor& want,
                            const Tolerance& tolerance) {
  if (got.dtype != want.dtype || got.dims != want.dims)
    return absl::AbortedError(absl::StrCat("is ", TypeText(got), ", expected ", TypeText(want)));
  const size_t width = DTypeBytes(got.dtype);
  size_t wrong = 0;
  size_t worst = 0;
  double worst_excess = 0;
  const size_t count = got.bytes.size() / width;
  for (size_t i = 0; i < count; ++i) {
    double excess = Excess(LoadScalar(got.dtype, &got.bytes[i * width]),
                           LoadScalar(want.dtype, &want.bytes[i * width]), tolerance);
    if (excess == 0) continue;
    ++wrong;
    if (excess > worst_excess) {
      worst = i;
      worst_excess = excess;
    }
  }
  if (wrong == 0) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat(
      wrong, " of ", count, " elements are wrong, the worst at ", Position(worst, got.dims), ": ",
      ToText(LoadScalar(got.dtype, &got.bytes[worst * width])), ", expected ",
      ToText(LoadScalar(want.dtype, &want.bytes[worst * width]))));
}

}  // namespace stax
