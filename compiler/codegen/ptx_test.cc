// What the PTX of the reference kernels must and must not contain.
#include <string>

#include "compiler/codegen/codegen.h"
#include "compiler/codegen/ptxas.h"
#include "compiler/codegen/testing/nest_kernel.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stax {
namespace {

using testing::HasSubstr;
using testing::Not;

Variant Compile(const KernelSpec& kernel, const Config& config, const char* arch = "sm_90a") {
  TargetSpec target;
  target.kind = TargetSpec::Kind::kCuda;
  target.arch = arch;
  const absl::StatusOr<Variant> variant =
      CompileVariant(kernel, CompleteConfig(kernel, config), target, {});
  EXPECT_TRUE(variant.ok()) << variant.status();
  EXPECT_THAT(variant->ptx(), Not(HasSubstr(".local")));
  return *variant;
}

int Count(const std::string& text, const std::string& what) {
  int count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

constexpr const char* kRowSum = R"(nest sum_0 {
  buffer x: f32[8192] in
  buffer w: f32[8192] in
  buffer sum: f32[64] out
  loop i0: 64
  reduce r0: 128
  %0 = load x[128*i0 + r0] : f32
  %1 = load w[128*i0 + r0] : f32
  %2 = add %0, %1 : f32
  %3 = const 0.0 : f32
  %4 = max %2, %3 : f32
  %5 = const 2.0 : f32
  %6 = mul %4, %5 : f32
  %7 = reduce.sum %6 : f32
  store sum[i0], %7
})";

// Programmatic dependent launch: nothing is read or written before the wait, on targets that have
// it; what is loaded may be written until then, so it is not said to be constant.
TEST(Ptx, WaitsForTheKernelsBeforeIt) {
  const std::string ptx = Compile(MakeKernel(kRowSum, KernelForm::kPersistent), {}).ptx();
  EXPECT_EQ(Count(ptx, "griddepcontrol.launch_dependents;"), 1);
  EXPECT_EQ(Count(ptx, "griddepcontrol.wait;"), 1);
  EXPECT_LT(ptx.find("griddepcontrol.wait;"), ptx.find("ld.global"));
  EXPECT_THAT(ptx, Not(HasSubstr("ld.global.nc")));
  const Variant v = Compile(MakeKernel(kRowSum, KernelForm::kPersistent), {}, "sm_80");
  EXPECT_FALSE(v.programmatic_launch());
  EXPECT_THAT(v.ptx(), Not(HasSubstr("griddepcontrol")));
  EXPECT_THAT(v.ptx(), HasSubstr("ld.global.nc"));
}

// Example 1.1: a warp a row, one 16-byte load an input, five shuffles, no masks and no barrier.
TEST(Ptx, Example11) {
  const Variant v = Compile(MakeKernel(kRowSum, KernelForm::kPersistent), {});
  EXPECT_EQ(Count(v.ptx(), "ld.global.v4"), 2);
  EXPECT_EQ(Count(v.ptx(), "ld.global"), 2);
  EXPECT_EQ(Count(v.ptx(), "shfl.sync.bfly"), 5);
  EXPECT_EQ(Count(v.ptx(), "max.NaN.f32"), 4);
  EXPECT_THAT(v.ptx(), Not(HasSubstr("bar.sync")));
  EXPECT_EQ(v.grid_x(), "64");
  EXPECT_EQ(v.block_threads(), 32u);
  EXPECT_EQ(v.shared_bytes(), 0u);
  EXPECT_EQ(v.bytes_in_flight_per_thread(), 32);
}

TEST(Ptx, Sm80HasTheSameInstructions) {
  const Variant v = Compile(MakeKernel(kRowSum, KernelForm::kPersistent), {}, "sm_80");
  EXPECT_THAT(v.ptx(), HasSubstr(".target sm_80"));
  EXPECT_EQ(Count(v.ptx(), "max.NaN.f32"), 4);
  EXPECT_EQ(Count(v.ptx(), "ld.global.nc.v4"), 2);
}

// Softmax over 1000 in a block of 1024: the 24 masked lanes are in the last vector of some
// threads, so one of two loads is predicated; one barrier a reduction.
TEST(Ptx, Softmax) {
  const Variant v = Compile(MakeKernel(R"(nest softmax {
  buffer x: f32[256000] in
  buffer y: f32[256000] out
  loop i0: 256
  reduce r0: 1000
  %0 = load x[1000*i0 + r0] : f32
  %1 = reduce.max %0 : f32
  %2 = sub %0, %1 : f32
  %3 = exp %2 : f32
  %4 = reduce.sum %3 : f32
  %5 = div %3, %4 : f32
  store y[1000*i0 + r0], %5
})",
                                       KernelForm::kPersistent),
                            {{"WARPS", 4}});
  EXPECT_EQ(Count(v.ptx(), "ld.global.v4"), 2);  // one is predicated
  EXPECT_EQ(Count(v.ptx(), "ld.global"), 2);
  EXPECT_EQ(Count(v.ptx(), "st.global.v4"), 2);
  EXPECT_EQ(Count(v.ptx(), "bar.sync"), 2);
  EXPECT_EQ(v.shared_bytes(), 32u);  // two areas of one value a warp
}

// Example 6.1: 16-byte accesses on all three sides of a transposition.
TEST(Ptx, Transpose) {
  const Variant v = Compile(MakeKernel(R"(nest transpose {
  buffer x: f32[131072] in
  buffer y: f32[131072] in
  buffer z: f32[131072] out
  loop i0: 256
  loop i1: 512
  %0 = load x[256*i1 + i0] : f32
  %1 = load y[512*i0 + i1] : f32
  %2 = add %0, %1 : f32
  store z[512*i0 + i1], %2
})",
                                       KernelForm::kPointwise, 1),
                            {{"YBLOCK", 64}, {"XBLOCK", 64}, {"WARPS", 8}});
  EXPECT_EQ(Count(v.ptx(), "ld.global.v4"), 8);
  EXPECT_EQ(Count(v.ptx(), "ld.global"), 8);
  EXPECT_EQ(Count(v.ptx(), "st.global.v4"), 4);
  EXPECT_EQ(v.grid_x(), "32");
}

// bf16: eight elements a 16-byte load, rounded and packed two at a time; the one-element gradient
// is loaded once.
TEST(Ptx, HalfVectorsAndBroadcast) {
  const Variant v = Compile(MakeKernel(R"(nest scale {
  buffer x: bf16[65536] in
  buffer g: bf16[1] in
  buffer y: bf16[65536] out
  loop i0: 65536
  %0 = load x[i0] : bf16
  %1 = load g[0] : bf16
  %2 = mul %0, %1 : bf16
  store y[i0], %2
})",
                                       KernelForm::kPointwise),
                            {{"XBLOCK", 1024}, {"WARPS", 4}});
  EXPECT_EQ(Count(v.ptx(), "ld.global.v4"), 1);
  EXPECT_EQ(Count(v.ptx(), "ld.global"), 2);
  EXPECT_EQ(Count(v.ptx(), "cvt.rn.bf16x2.f32"), 4);
  EXPECT_EQ(Count(v.ptx(), "st.global.v4"), 1);
  EXPECT_THAT(v.ptx(), Not(HasSubstr("%rs1,")));  // no 16-bit repacking
}

KernelSpec SoftmaxRows(int length, KernelForm form) {
  std::string text = R"(nest softmax {
  buffer x: bf16[64*N] in
  buffer y: bf16[64*N] out
  loop i0: 64
  reduce r0: N
  %0 = load x[N*i0 + r0] : bf16
  %1 = cast %0 : f32
  %2 = reduce.max %1 : f32
  %3 = sub %1, %2 : f32
  %4 = exp %3 : f32
  %5 = reduce.sum %4 : f32
  %6 = div %4, %5 : f32
  %7 = cast %6 : bf16
  store y[N*i0 + r0], %7
})";
  for (size_t at; (at = text.find('N')) != std::string::npos;)
    text.replace(at, 1, std::to_string(length));
  return MakeKernel(text, form);
}

// A long row stays in registers as loaded: 32 of 64 registers hold 64 elements, two blocks fit.
TEST(Ptx, LongRowsArePacked) {
  const Variant v = Compile(SoftmaxRows(32768, KernelForm::kPersistent), {{"WARPS", 16}});
  EXPECT_EQ(Count(v.ptx(), "ld.global.v4"), 8);
  EXPECT_EQ(Count(v.ptx(), "ld.global"), 8);
  EXPECT_EQ(Count(v.ptx(), "bar.sync"), 1);  // maximum and sum together
  EXPECT_THAT(v.ptx(), HasSubstr(".minnctapersm 2"));
  if (PtxasPath().empty()) return;
  EXPECT_LE(v.registers(), 64);
  EXPECT_EQ(v.spill_bytes(), 0);
}

// Rows of 50257 halves start at odd addresses: whole vectors all the same, but for the first and
// the last of a row, which go element by element.
TEST(Ptx, OddRowsAreVectors) {
  const Variant v = Compile(SoftmaxRows(50257, KernelForm::kPersistent), {{"WARPS", 32}});
  EXPECT_EQ(Count(v.ptx(), "ld.global.v4"), 7);  // two are predicated
  EXPECT_EQ(Count(v.ptx(), "ld.global.b16"), 2 * 8);
  EXPECT_EQ(Count(v.ptx(), "st.global.b16"), 2 * 8);
  if (!PtxasPath().empty()) EXPECT_EQ(v.spill_bytes(), 0);
}

// The online sum reads the row twice instead of three times.
TEST(Ptx, LoopedSoftmaxReadsTwice) {
  const Variant v =
      Compile(SoftmaxRows(32768, KernelForm::kLooped), {{"WARPS", 8}, {"RBLOCK", 2048}});
  EXPECT_EQ(Count(v.ptx(), "ld.global.v4"), 2);
}

// A length known only at the launch: whole blocks have code without masks.
TEST(Ptx, SymbolicLengthKeepsVectors) {
  const Variant v = Compile(MakeKernel(R"(nest copy {
  size n in [2, 100000] hint 1000
  buffer x: f32[n] in
  buffer y: f32[n] out
  loop i0: n
  %0 = load x[i0] : f32
  %1 = neg %0 : f32
  store y[i0], %1
})",
                                       KernelForm::kPointwise),
                            {{"XBLOCK", 512}, {"WARPS", 4}});
  EXPECT_EQ(Count(v.ptx(), "ld.global.v4"), 1);
  EXPECT_EQ(Count(v.ptx(), "st.global.v4"), 1);
}

// Arithmetic is never contracted, and division is the correctly rounded one.
TEST(Ptx, NoContraction) {
  const Variant v = Compile(MakeKernel(R"(nest plain {
  buffer x: f32[1024] in
  buffer y: f32[1024] out
  loop i0: 1024
  %0 = load x[i0] : f32
  %1 = mul %0, %0 : f32
  %2 = add %1, %0 : f32
  %3 = div %2, %0 : f32
  store y[i0], %3
})",
                                       KernelForm::kPointwise),
                            {{"XBLOCK", 128}});
  EXPECT_THAT(v.ptx(), Not(HasSubstr("fma")));
  EXPECT_THAT(v.ptx(), HasSubstr("mul.rn.f32"));
  EXPECT_THAT(v.ptx(), HasSubstr("div.rn.f32"));
}

constexpr const char* kSwiGlu = R"(nest swiglu {
  buffer a: bf16[65536] in
  buffer b: bf16[65536] in
  buffer y: bf16[65536] out
  loop i0: 65536
  %0 = load a[i0] : bf16
  %1 = cast %0 : f32
  %2 = sigmoid %1 : f32
  %3 = mul %1, %2 : f32
  %4 = cast %3 : bf16
  %5 = load b[i0] : bf16
  %6 = mul %4, %5 : bf16
  store y[i0], %6
})";

// A result that is rounded to bf16 needs no more than the instructions give.
TEST(Ptx, MathForHalvesIsRelaxed) {
  const KernelSpec kernel = MakeKernel(kSwiGlu, KernelForm::kPointwise);
  const Variant v = Compile(kernel, {{"XBLOCK", 1024}, {"WARPS", 4}});
  EXPECT_EQ(Count(v.ptx(), "ex2.approx.ftz.f32"), 8);
  EXPECT_EQ(Count(v.ptx(), "rcp.approx.ftz.f32"), 8);
  EXPECT_EQ(Count(v.ptx(), "fma.rn"), 8);

  CodegenOptions exact;
  exact.relaxed_math = false;
  TargetSpec target;
  target.kind = TargetSpec::Kind::kCuda;
  target.arch = "sm_90a";
  const absl::StatusOr<Variant> full = CompileVariant(
      kernel, CompleteConfig(kernel, {{"XBLOCK", 1024}, {"WARPS", 4}}), target, exact);
  ASSERT_TRUE(full.ok()) << full.status();
  EXPECT_EQ(Count(full->ptx(), "ex2.approx"), 0);
}

// Exponentials by the square of a root, the quotient a product; the division instruction is there
// for sums at the ends of the range.
TEST(Ptx, SoftmaxOfHalvesIsRelaxed) {
  const Variant v = Compile(SoftmaxRows(4096, KernelForm::kPersistent), {{"WARPS", 16}});
  EXPECT_EQ(Count(v.ptx(), "ex2.approx.ftz.f32"), 8);
  EXPECT_EQ(Count(v.ptx(), "rcp.approx.ftz.f32"), 1);
  EXPECT_EQ(Count(v.ptx(), "div.rn.f32"), 8);
  EXPECT_EQ(Count(v.ptx(), "fma"), 0);
}

TEST(Ptx, IsDeterministic) {
  const KernelSpec kernel = MakeKernel(kRowSum, KernelForm::kPersistent);
  const Variant a = Compile(kernel, {}), b = Compile(kernel, {});
  EXPECT_EQ(a.ptx(), b.ptx());
  EXPECT_TRUE(a.cubin() == b.cubin());
}

TEST(Ptxas, ReportIsRead) {
  PtxasResult result;
  ParsePtxasReport(
      "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n"
      "    64 bytes stack frame, 60 bytes spill stores, 44 bytes spill loads\n"
      "ptxas info    : Used 32 registers, used 1 barriers, 64 bytes cumulative stack size\n",
      &result);
  EXPECT_EQ(result.registers, 32);
  EXPECT_EQ(result.spill_bytes, 104);
  EXPECT_EQ(result.stack_bytes, 64);
}

TEST(Ptxas, RejectsBadCode) {
  if (PtxasPath().empty()) GTEST_SKIP() << "no ptxas";
  EXPECT_EQ(RunPtxas("no ptx", "sm_90a").status().code(), absl::StatusCode::kInternal);
}

TEST(Ptxas, FillsTheVariant) {
  if (PtxasPath().empty()) GTEST_SKIP() << "no ptxas";
  const Variant v = Compile(MakeKernel(kRowSum, KernelForm::kPersistent), {});
  EXPECT_GT(v.registers(), 0);
  EXPECT_EQ(v.spill_bytes(), 0);
  EXPECT_EQ(v.cubin().substr(1, 3), "ELF");
}

// A shift takes its count in 32 bits: larger 64-bit counts must be brought into range before they
// are cut, or a count of 2^32 shifts by 0 instead of giving 0.
TEST(Ptx, CountsOf64BitShiftsAreClampedBeforeTheyAreCut) {
  constexpr const char* kShift = R"(nest shift_0 {
  buffer x: u64[64] in
  buffer n: u64[64] in
  buffer y: u64[64] out
  loop i0: 64
  %0 = load x[i0] : u64
  %1 = load n[i0] : u64
  %2 = shl %0, %1 : u64
  store y[i0], %2
})";
  const std::string ptx = Compile(MakeKernel(kShift, KernelForm::kPointwise), {}).ptx();
  const size_t clamped = ptx.find("min.u64");
  const size_t cut = ptx.find("cvt.u32.u64");
  ASSERT_NE(clamped, std::string::npos) << ptx;
  ASSERT_NE(cut, std::string::npos) << ptx;
  EXPECT_LT(clamped, cut);
}

}  // namespace
}  // namespace stax
