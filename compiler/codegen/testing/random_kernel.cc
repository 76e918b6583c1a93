#include "compiler/codegen/testing/random_kernel.h"

#include <random>

#include "absl/strings/str_cat.h"
#include "compiler/codegen/testing/nest_kernel.h"

namespace stax {
namespace {

int64_t PowerOfTwo(std::mt19937& random, int max_bits) {
  return int64_t{1} << (random() % (max_bits + 1));
}

int64_t TileElements(const Config& config) {
  int64_t elements = 1;
  for (const auto& [name, value] : config)
    if (name != "WARPS") elements *= value;
  return elements;
}

}  // namespace

RandomKernel MakeRandomKernel(const LoopNest& nest, uint64_t seed) {
  constexpr int64_t kMaxElements = 1024;
  std::mt19937 random(static_cast<uint32_t>(seed));
  const bool short_rows = nest.Ranges().Bounds(nest.ReduceNumel()).hi <= 256;
  KernelForm form = KernelForm::kPointwise;
  if (nest.HasReduction())
    form = short_rows && random() % 2 == 0 ? KernelForm::kPersistent : KernelForm::kLooped;
  const int loops = static_cast<int>(nest.LoopDims().size());
  RandomKernel r;
  r.kernel = MakeKernel(nest, form, loops > 1 ? random() % loops : 0);
  do {
    Config config = {{"XBLOCK", PowerOfTwo(random, 7)}, {"WARPS", PowerOfTwo(random, 3)}};
    if (r.kernel.tile[0].name == "y") config["YBLOCK"] = PowerOfTwo(random, 5);
    if (form == KernelForm::kLooped) config["RBLOCK"] = PowerOfTwo(random, 7);
    r.config = CompleteConfig(r.kernel, config);
  } while (TileElements(r.config) > kMaxElements);
  return r;
}

void MakeReductionsExact(LoopNest& nest) {
  for (LoopOp& op : nest.body) {
    if (op.code != OpCode::kReduce || !IsFloat(op.dtype)) continue;
    if (op.reduce == ReduceKind::kSum) op.reduce = ReduceKind::kMax;
    if (op.reduce == ReduceKind::kProd) op.reduce = ReduceKind::kMin;
  }
}

std::string ToText(const Config& config) {
  std::string text;
  for (const auto& [name, value] : config)
    absl::StrAppend(&text, text.empty() ? "" : " ", name, "=", value);
  return text;
}

}  // namespace stax
