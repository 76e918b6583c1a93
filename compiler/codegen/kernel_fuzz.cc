// Fuzz target of kernels as the compile service gets them, in requests and from programs: any bytes
// give the tiles of their candidates, or an error that is not Internal. What comes after, through
// LLVM, is no parser.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/codegen/tile.h"
#include "compiler/kernel_proto.h"
#include "compiler/target.h"
#include "ir/artifact/testing/sample_programs.h"
#include "ir/check.h"
#include "ir/testing/mutate_proto.h"

namespace stax {
namespace {

void CheckKernel(const Kernel& kernel) {
  const absl::StatusOr<KernelSpec> spec = KernelFromProto(kernel);
  if (!spec.ok()) {
    STAX_CHECK(absl::IsInvalidArgument(spec.status()), spec.status().ToString());
    return;
  }
  for (const char* name : {"cuda:sm_90a", "cpu:x86-64-v3"}) {
    const TargetSpec target = ParseTarget(name).value();
    for (const Config& config : spec->candidates) {
      const absl::StatusOr<Tile> tile = MakeTile(*spec, config, target);
      if (!tile.ok()) {
        STAX_CHECK(
            absl::IsInvalidArgument(tile.status()) || absl::IsResourceExhausted(tile.status()),
            tile.status().ToString());
        continue;
      }
      tile->GridSize();
      ChooseTileLayout(*tile, spec->nest);
    }
  }
}

}  // namespace
}  // namespace stax

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  stax::Kernel kernel;
  if (kernel.ParseFromArray(data, static_cast<int>(size))) stax::CheckKernel(kernel);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  static const auto& seeds =
      *new std::vector<std::string>{stax::SymbolicSampleProgram().kernels(0).SerializeAsString(),
                                    stax::SymbolicSampleProgram().kernels(1).SerializeAsString(),
                                    stax::TunedSampleProgram().kernels(0).SerializeAsString()};
  static const auto& texts = *new std::vector<std::string>{"x",
                                                           "y",
                                                           "r",
                                                           "XBLOCK",
                                                           "RBLOCK",
                                                           "CLUSTER",
                                                           "MIN_BLOCKS",
                                                           "poi_a",
                                                           "red_a",
                                                           "per_a",
                                                           "loop i2: 4611686018427387904",
                                                           "reduce r1: n",
                                                           "n*n",
                                                           "0"};
  stax::Kernel kernel;
  return stax::MutateSerialized(seeds, texts, seed, data, size, max_size, &kernel);
}
