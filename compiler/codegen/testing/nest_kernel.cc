#include "compiler/codegen/testing/nest_kernel.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "ir/check.h"
#include "ir/scalar.h"

namespace stax {
namespace {

bool Same(const Scalar& a, const Scalar& b, double relative, double absolute) {
  if (!IsFloat(a.dtype)) return a.i == b.i;
  if (std::isnan(a.f) || std::isnan(b.f)) return std::isnan(a.f) && std::isnan(b.f);
  if (a.f == b.f) return true;
  if (std::isinf(a.f) || std::isinf(b.f)) return false;
  return std::fabs(a.f - b.f) <= absolute + relative * std::max(std::fabs(a.f), std::fabs(b.f));
}

}  // namespace

LoopNest NestOrDie(std::string_view text) {
  absl::StatusOr<LoopNest> nest = ParseLoopNest(text);
  STAX_CHECK(nest.ok(), nest.status().ToString());
  const absl::Status verified = Verify(*nest);
  STAX_CHECK(verified.ok(), verified.ToString());
  return *std::move(nest);
}

KernelSpec MakeKernel(LoopNest nest, KernelForm form, int y_dims) {
  KernelSpec kernel;
  kernel.name = nest.name;
  kernel.form = form;
  TileAxis y{"y", {}}, x{"x", {}}, r{"r", nest.ReduceDims()};
  for (int dim : nest.LoopDims()) {
    std::vector<int>& dims = y_dims-- > 0 ? y.dims : x.dims;
    dims.push_back(dim);
  }
  if (!y.dims.empty()) kernel.tile.push_back(y);
  kernel.tile.push_back(x);
  if (form != KernelForm::kPointwise) kernel.tile.push_back(r);
  kernel.nest = std::move(nest);
  return kernel;
}

Config CompleteConfig(const KernelSpec& kernel, Config config) {
  config.emplace("XBLOCK", 1);
  config.emplace("WARPS", 1);
  if (kernel.tile[0].name == "y") config.emplace("YBLOCK", 1);
  if (kernel.form == KernelForm::kPersistent) {
    const int64_t longest = kernel.nest.Ranges().Bounds(kernel.nest.ReduceNumel()).hi;
    int64_t block = 1;
    while (block < longest) block *= 2;
    config.emplace("RBLOCK", block);
  }
  if (kernel.form == KernelForm::kLooped) config.emplace("RBLOCK", 1);
  return config;
}

std::string CompareOutputs(const LoopNest& nest, const std::map<std::string, Bytes>& expected,
                           const std::map<std::string, Bytes>& actual, double relative,
                           double absolute) {
  std::string report;
  int64_t differences = 0;
  for (const NestBuffer& b : nest.buffers) {
    if (!b.written) continue;
    const Bytes& want = expected.at(b.name);
    const Bytes& got = actual.at(b.name);
    if (want.size() != got.size()) return absl::StrCat(b.name, ": sizes differ");
    const int size = DTypeBytes(b.dtype);
    for (size_t i = 0; i < want.size() / size; ++i) {
      const Scalar w = LoadScalar(b.dtype, &want[i * size]);
      const Scalar g = LoadScalar(b.dtype, &got[i * size]);
      if (Same(w, g, relative, absolute)) continue;
      if (++differences > 5) continue;
      absl::StrAppend(&report, b.name, "[", i, "]: expected ", ToText(w), ", got ", ToText(g),
                      "\n");
    }
  }
  if (differences > 0) absl::StrAppend(&report, differences, " differences\n");
  return report;
}

}  // namespace stax
