// Pointwise kernels: tilings, masks, index arithmetic, gathers and symbolic sizes.
#include <map>
#include <string>

#include "compiler/codegen/codegen.h"
#include "compiler/codegen/testing/check_kernel.h"
#include "compiler/codegen/testing/nest_kernel.h"
#include "gtest/gtest.h"

namespace stax {
namespace {

// Runs the nest flattened and split over y and x, with several blocks.
void CheckTilings(const char* text, const std::map<std::string, int64_t>& sizes,
                  bool specials = false) {
  for (int y_dims : {0, 1}) {
    const LoopNest nest = NestOrDie(text);
    if (y_dims >= static_cast<int>(nest.LoopDims().size())) continue;
    const KernelSpec kernel = MakeKernel(nest, KernelForm::kPointwise, y_dims);
    for (const Config& config :
         {Config{{"XBLOCK", 1}, {"WARPS", 1}}, Config{{"XBLOCK", 8}, {"YBLOCK", 16}, {"WARPS", 2}},
          Config{{"XBLOCK", 64}, {"YBLOCK", 4}, {"WARPS", 4}}}) {
      Config complete = CompleteConfig(kernel, config);
      if (y_dims == 0) complete.erase("YBLOCK");
      EXPECT_EQ(CheckKernel(kernel, complete, sizes, {}, specials), "") << "y dims " << y_dims;
    }
  }
}

TEST(Tiling, TransposeAndAdd) {
  CheckTilings(R"(nest transpose {
  buffer x: f32[1536] in
  buffer y: f32[1536] in
  buffer z: f32[1536] out
  loop i0: 24
  loop i1: 64
  %0 = load x[24*i1 + i0] : f32
  %1 = load y[64*i0 + i1] : f32
  %2 = add %0, %1 : f32
  store z[64*i0 + i1], %2
})",
               {});
}

TEST(Tiling, OddTranspose) {
  CheckTilings(R"(nest transpose {
  size m in [1, 100] hint 33
  buffer x: f16[37*m] in
  buffer y: i8[37*m] in
  buffer z: f16[37*m] out
  loop i0: m
  loop i1: 37
  %0 = load x[m*i1 + i0] : f16
  %1 = load y[37*i0 + i1] : i8
  %2 = cast %1 : f16
  %3 = add %0, %2 : f16
  store z[37*i0 + i1], %3
})",
               {{"m", 33}});
}

TEST(Tiling, BroadcastsAndReversed) {
  CheckTilings(R"(nest broadcast {
  buffer a: f64[13] in
  buffer b: bool[20] in
  buffer s: i32[1] in
  buffer z: f64[260] out
  loop i0: 13
  loop i1: 20
  %0 = load a[12 - i0] : f64
  %1 = load b[19 - i1] : bool
  %2 = load s[0] : i32
  %3 = cast %2 : f64
  %4 = select %1, %0, %3 : f64
  store z[20*i0 + i1], %4
})",
               {}, true);
}

// Padding: masked loads whose index leaves the buffer, and an index divided and taken modulo.
TEST(Tiling, MaskedLoads) {
  CheckTilings(R"(nest pad {
  buffer x: f32[50] in
  buffer w: u8[16] in
  buffer z: f32[224] out
  loop i0: 7
  loop i1: 32
  %0 = index i0 - 1 : i64
  %1 = const 0 : i64
  %2 = ge %0, %1 : bool
  %3 = const 5 : i64
  %4 = lt %0, %3 : bool
  %5 = and %2, %4 : bool
  %6 = index i1 - 11 : i64
  %7 = ge %6, %1 : bool
  %8 = const 10 : i64
  %9 = lt %6, %8 : bool
  %10 = and %7, %9 : bool
  %11 = and %5, %10 : bool
  %12 = load x[10*i0 + i1 - 21] if %11 : f32
  %13 = load w[4*mod(i0, 4) + floordiv(i1, 8)] : u8
  %14 = cast %13 : f32
  %15 = add %12, %14 : f32
  store z[32*i0 + i1], %15
})",
               {});
}

// Rows of a table by a computed index: out-of-range ones are clamped, negative ones count from the
// end.
TEST(Tiling, Gather) {
  for (const char* type : {"i64", "i32", "u8"}) {
    std::string text = R"(nest gather {
  size n in [1, 1000] hint 40
  buffer table: f32[300] in
  buffer rows: TYPE[n] in
  buffer z: f32[24*n] out
  loop i0: n
  loop i1: 24
  %0 = load rows[i0] : TYPE
  %1 = indirect %0 : 12
  %2 = load table[24*t1 + i1 + 3] : f32
  store z[24*i0 + i1], %2
})";
    for (size_t at; (at = text.find("TYPE")) != std::string::npos;) text.replace(at, 4, type);
    CheckTilings(text.c_str(), {{"n", 41}}, true);
  }
}

TEST(Tiling, NoDims) {
  const KernelSpec kernel = MakeKernel(R"(nest scalar {
  buffer x: f32[1] in
  buffer y: f32[1] out
  %0 = load x[0] : f32
  %1 = neg %0 : f32
  store y[0], %1
})",
                                       KernelForm::kPointwise);
  for (int64_t x : {1, 64})
    EXPECT_EQ(CheckKernel(kernel, CompleteConfig(kernel, {{"XBLOCK", x}, {"WARPS", 2}}), {}, {}),
              "");
}

TEST(Tiling, EmptyRange) {
  CheckTilings(R"(nest empty {
  size n in [0, 100] hint 8
  buffer x: f32[3*n] in
  buffer y: f32[3*n] out
  loop i0: n
  loop i1: 3
  %0 = load x[3*i0 + i1] : f32
  store y[3*i0 + i1], %0
})",
               {{"n", 0}});
}

// Sizes whose products leave 32 bits: 64-bit indices, here with small values.
TEST(Tiling, WideIndices) {
  const char* text = R"(nest wide {
  size m in [1, 2147483647] hint 5
  size n in [1, 2147483647] hint 9
  buffer x: i16[m*n] in
  buffer y: i16[m*n] out
  loop i0: m
  loop i1: n
  %0 = load x[n*i0 + i1] : i16
  %1 = index n*i0 + i1 : i16
  %2 = add %0, %1 : i16
  store y[m*i1 + i0], %2
})";
  CheckTilings(text, {{"m", 5}, {"n", 9}});
}

TEST(Errors, NameTheParameter) {
  const KernelSpec kernel = MakeKernel(R"(nest copy {
  buffer x: f32[100] in
  buffer y: f32[100] out
  loop i0: 100
  %0 = load x[i0] : f32
  store y[i0], %0
})",
                                       KernelForm::kPointwise);
  TargetSpec cuda;
  cuda.kind = TargetSpec::Kind::kCuda;
  cuda.arch = "sm_90a";
  auto error = [&](const Config& config) {
    return CompileVariant(kernel, config, cuda, {}).status().ToString();
  };
  EXPECT_EQ(error({{"WARPS", 4}}), "INVALID_ARGUMENT: configuration lacks parameter XBLOCK");
  EXPECT_EQ(error({{"WARPS", 64}, {"XBLOCK", 64}}),
            "INVALID_ARGUMENT: WARPS=64: expected a power of two from 1 to 32");
  EXPECT_EQ(error({{"WARPS", 4}, {"XBLOCK", 96}}),
            "INVALID_ARGUMENT: XBLOCK=96: expected a power of two from 1 to 1048576");
  EXPECT_EQ(error({{"WARPS", 1}, {"XBLOCK", 1 << 20}}),
            "RESOURCE_EXHAUSTED: a tile of 2^20 elements needs more than 512 register slots a "
            "thread");
  cuda.arch = "sm_70";
  EXPECT_EQ(error({{"WARPS", 1}, {"XBLOCK", 64}}),
            "INVALID_ARGUMENT: no code generation for target cuda:sm_70");
}

TEST(Errors, ShortPersistentBlock) {
  const KernelSpec kernel = MakeKernel(R"(nest sum {
  buffer x: f32[1000] in
  buffer y: f32[10] out
  loop i0: 10
  reduce r0: 100
  %0 = load x[100*i0 + r0] : f32
  %1 = reduce.sum %0 : f32
  store y[i0], %1
})",
                                       KernelForm::kPersistent);
  TargetSpec cpu;
  cpu.arch = "x86-64-v3";
  EXPECT_EQ(CompileVariant(kernel, {{"XBLOCK", 1}, {"RBLOCK", 64}}, cpu, {}).status().ToString(),
            "INVALID_ARGUMENT: RBLOCK=64: a persistent reduction needs at least its length, 100");
}

}  // namespace
}  // namespace stax
