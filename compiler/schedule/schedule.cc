#include "compiler/schedule/schedule.h"

#include <utility>

#include "compiler/schedule/choose_form.h"
#include "compiler/schedule/choose_tile.h"
#include "compiler/schedule/configurations.h"
#include "compiler/schedule/explanation.h"
#include "compiler/schedule/fuse_nests.h"
#include "compiler/schedule/kernel_name.h"
#include "compiler/schedule/merge_dims.h"
#include "compiler/schedule/traffic.h"

namespace stax {
namespace {

KernelSpec MakeKernel(const FusedNest& fused, int number, const TargetSpec& target) {
  KernelSpec kernel;
  kernel.nest = MergeDims(fused.nest);
  const TileChoice tile = ChooseTile(kernel.nest, target);
  kernel.tile = tile.axes;
  kernel.form = ChooseForm(kernel.nest, tile.contraction, target);
  Configurations configurations = ChooseConfigurations(kernel.nest, tile, kernel.form, target);
  kernel.space = std::move(configurations.space);
  kernel.constraints = std::move(configurations.constraints);
  kernel.candidates = std::move(configurations.candidates);
  kernel.name = KernelName(kernel.form, kernel.nest, number);
  kernel.nest.name = kernel.name;
  Traffic traffic = CountTraffic(kernel.nest);
  kernel.read_bytes = std::move(traffic.read_bytes);
  kernel.write_bytes = std::move(traffic.write_bytes);
  kernel.flops = std::move(traffic.flops);
  kernel.origins = fused.origins;
  kernel.explanation = ExplainKernel(kernel, fused, tile);
  return kernel;
}

}  // namespace

absl::StatusOr<std::vector<KernelSpec>> Schedule(LoopProgram& program, const TargetSpec& target) {
  std::vector<KernelSpec> kernels;
  for (const FusedNest& fused : FuseNests(program)) {
    KernelSpec kernel = MakeKernel(fused, static_cast<int>(kernels.size()), target);
    if (absl::Status s = Verify(kernel.nest); !s.ok()) return s;
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

}  // namespace stax
