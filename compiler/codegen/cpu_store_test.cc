// Stores of the CPU's code for what LLVM gets wrong. The code is looked at, so that machines
// without AVX-512 find it, too.
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
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

// Of code for AVX-512 that rounds `elements` f32 to bf16, 16 lanes at a time.
std::string LlvmIrOfRounding(int elements) {
  const KernelSpec kernel = MakeKernel(absl::StrReplaceAll(R"(nest round {
  buffer x: f32[N] in
  buffer y: bf16[N] out
  loop i0: N
  %0 = load x[i0] : f32
  %1 = cast %0 : bf16
  store y[i0], %1
})",
                                                           {{"N", absl::StrCat(elements)}}),
                                       KernelForm::kPointwise);
  TargetSpec target;
  target.kind = TargetSpec::Kind::kCpu;
  target.arch = "x86-64-v4";
  target.lanes = 16;
  CodegenOptions options;
  options.keep_llvm_ir = true;
  const absl::StatusOr<Variant> variant =
      CompileVariant(kernel, CompleteConfig(kernel, {{"XBLOCK", 16}}), target, options);
  EXPECT_TRUE(variant.ok()) << variant.status();
  return variant.ok() ? variant->llvm_ir() : "";
}

// A masked store of the one lane would write the four bytes of the f32 (LLVM 22.1).
TEST(CpuStore, OneLaneOfANarrowTypeIsStoredAlone) {
  const std::string ir = LlvmIrOfRounding(1);
  EXPECT_THAT(ir, HasSubstr("store i16 "));
  EXPECT_THAT(ir, Not(HasSubstr("call void @llvm.masked.store")));
}

TEST(CpuStore, SeveralLanesAreStoredUnderAMask) {
  EXPECT_THAT(LlvmIrOfRounding(3), HasSubstr("call void @llvm.masked.store"));
}

}  // namespace
}  // namespace stax
