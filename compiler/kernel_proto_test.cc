#include "compiler/kernel_proto.h"

#include "gtest/gtest.h"
#include "ir/artifact/testing/sample_programs.h"

namespace stax {
namespace {

TEST(KernelProto, RoundTrip) {
  const Program program = SymbolicSampleProgram();
  for (const Kernel& kernel : program.kernels()) {
    const absl::StatusOr<KernelSpec> spec = KernelFromProto(kernel);
    ASSERT_TRUE(spec.ok()) << spec.status();
    const Kernel again = KernelToProto(*spec);
    EXPECT_EQ(again.name(), kernel.name());
    EXPECT_EQ(again.tile_size(), kernel.tile_size());
    EXPECT_EQ(again.loop_nest(), kernel.loop_nest());
  }
}

// Code generation knows these axes only, each once.
TEST(KernelProto, TileAxes) {
  Kernel kernel = SymbolicSampleProgram().kernels(0);
  kernel.mutable_tile(0)->set_name("z");
  EXPECT_EQ(KernelFromProto(kernel).status().message(),
            "per_fused_sum_0: tile axis 'z', expected y, x and r, each once");
  kernel = SymbolicSampleProgram().kernels(0);
  kernel.add_tile()->set_name("x");
  EXPECT_EQ(KernelFromProto(kernel).status().message(),
            "per_fused_sum_0: tile axis 'x', expected y, x and r, each once");
  kernel = SymbolicSampleProgram().kernels(0);
  kernel.mutable_tile(0)->set_dims(0, 2);
  EXPECT_EQ(KernelFromProto(kernel).status().message(),
            "per_fused_sum_0: tile axis x cannot run over dim 2");
}

}  // namespace
}  // namespace stax
