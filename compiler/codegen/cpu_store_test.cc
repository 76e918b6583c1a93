// Stores of the CPU's code for what LLVM gets wrong. The code is looked at, so that machines without
// AVX-512 find it, too.
#include <string>

#include "absl/status/statusor.h"
#include "compiler/codegen/codegen.h"
#include "compiler/codegen/testing/nest_kernel.h"
#include "compiler/kernel_spec.h"
#include "compiler/target.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stax {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string LlvmIrOf(const char* nest, int64_t block) {
  const KernelSpec kernel = MakeKernel(nest, KernelForm::kPointwise);
  TargetSpec target;
  target.kind = TargetSpec::Kind::kCpu;
  target.arch = "x86-64-v4";
  target.lanes = 16;
  CodegenOptions options;
  options.keep_llvm_ir = true;
  const absl::StatusOr<Variant> variant =
      CompileVariant(kernel, CompleteConfig(kernel, {{"XBLOCK", block}}), target, options);
  EXPECT_TRUE(variant.ok()) << variant.status();
  return variant.ok() ? variant->llvm_ir() : "";
}

// 16 lanes of 1: a masked store there would write the four bytes of the f32 (LLVM 22.1).
TEST(CpuStore, OneLaneOfANarrowTypeIsStoredAlone) {
  const std::string ir = LlvmIrOf(R"(nest one {
  buffer x: f32[1] in
  buffer y: bf16[1] out
  loop i0: 1
  %0 = load x[i0] : f32
  %1 = cast %0 : bf16
  store y[i0], %1
})",
                                  16);
  EXPECT_THAT(ir, HasSubstr("store i16 "));
  EXPECT_THAT(ir, Not(HasSubstr("masked.store")));
}

TEST(CpuStore, SeveralLanesAreStoredUnderAMask) {
  const std::string ir = LlvmIrOf(R"(nest three {
  buffer x: f32[3] in
  buffer y: bf16[3] out
  loop i0: 3
  %0 = load x[i0] : f32
  %1 = cast %0 : bf16
  store y[i0], %1
})",
                                  16);
  EXPECT_THAT(ir, HasSubstr("masked.store"));
}

}  // namespace
}  // namespace stax
