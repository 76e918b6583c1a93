// Reductions: kinds, types, forms, directions and lengths against the interpreter.
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "compiler/codegen/testing/check_kernel.h"
#include "compiler/codegen/testing/nest_kernel.h"
#include "compiler/codegen/testing/op_nests.h"
#include "gtest/gtest.h"
#include "ir/scalar.h"

namespace stax {
namespace {

std::string Name(DType t) { return std::string(DTypeName(t)); }

// Sums and products in another order than the interpreter's, accumulated in f32.
Tolerance SumTolerance(DType t) {
  switch (t) {
    case DType::kF16:
      return {2e-3, 1e-2};
    case DType::kBF16:
      return {1.6e-2, 5e-2};
    case DType::kF32:
      return {1e-5, 1e-4};
    case DType::kF64:
      return {1e-13, 1e-12};
    default:
      return {};
  }
}

class ReduceTest : public testing::TestWithParam<DType> {};

TEST_P(ReduceTest, EveryKindInEveryForm) {
  const DType type = GetParam();
  for (const char* kind :
       {"sum", "prod", "max", "min", "argmax", "argmin", "argmax_last", "argmin_last"}) {
    const bool rounds = std::string(kind) == "sum" || std::string(kind) == "prod";
    for (bool inner : {true, false}) {
      const LoopNest nest = ReduceNest(kind, type, 5, 37, inner);
      const KernelSpec persistent = MakeKernel(nest, KernelForm::kPersistent);
      const KernelSpec looped = MakeKernel(nest, KernelForm::kLooped);
      const Tolerance tolerance = rounds ? SumTolerance(type) : Tolerance{};
      EXPECT_EQ(CheckKernel(persistent, CompleteConfig(persistent, {{"XBLOCK", 2}}), {}, tolerance,
                            /*specials=*/!rounds),
                "")
          << kind;
      EXPECT_EQ(
          CheckKernel(looped, CompleteConfig(looped, {{"XBLOCK", 4}, {"RBLOCK", 16}, {"WARPS", 2}}),
                      {}, tolerance, /*specials=*/!rounds),
          "")
          << kind;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, ReduceTest,
                         testing::Values(DType::kF32, DType::kF64, DType::kF16, DType::kBF16,
                                         DType::kI64, DType::kI32, DType::kI8, DType::kU8,
                                         DType::kU64),
                         [](const auto& info) { return Name(info.param); });

// Sizes around powers of two and every way the r bits fall on slots, lanes and warps.
TEST(Reduce, LengthsAndBlocks) {
  for (int length : {1, 2, 3, 7, 8, 9, 31, 64, 65, 130, 1000}) {
    const LoopNest nest = ReduceNest("sum", DType::kI32, 3, length, true);
    const KernelSpec persistent = MakeKernel(nest, KernelForm::kPersistent);
    const KernelSpec looped = MakeKernel(nest, KernelForm::kLooped);
    for (int64_t x : {1, 4}) {
      EXPECT_EQ(CheckKernel(persistent, CompleteConfig(persistent, {{"XBLOCK", x}, {"WARPS", 4}}),
                            {}, {}),
                "")
          << length;
      EXPECT_EQ(
          CheckKernel(looped, CompleteConfig(looped, {{"XBLOCK", x}, {"RBLOCK", 32}}), {}, {}), "")
          << length;
    }
  }
}

// Of equal values the first or the last counts, NaN before all others; with lanes, slots and
// iterations all meeting.
TEST(ArgReduce, TiesAndNaN) {
  for (const char* kind : {"argmax", "argmin", "argmax_last", "argmin_last"}) {
    const LoopNest nest = ReduceNest(kind, DType::kF32, 4, 100, true);
    std::vector<float> x(400, 1.5f);
    x[130] = x[177] = std::numeric_limits<float>::quiet_NaN();
    x[250] = x[260] = 2;
    x[310] = x[390] = -3;
    std::map<std::string, Bytes> memory;
    const std::byte* bytes = reinterpret_cast<const std::byte*>(x.data());
    memory["x"].assign(bytes, bytes + x.size() * sizeof(float));
    for (KernelForm form : {KernelForm::kPersistent, KernelForm::kLooped}) {
      const KernelSpec kernel = MakeKernel(nest, form);
      Config config = {{"WARPS", 2}};
      if (form == KernelForm::kLooped) config["RBLOCK"] = 32;
      EXPECT_EQ(CheckKernel(kernel, CompleteConfig(kernel, config), {}, memory, {}), "") << kind;
    }
  }
}

// A symbolic length that may be 0: identities, and position 0 for the arg reductions.
TEST(Reduce, EmptyRange) {
  for (const char* kind : {"sum", "prod", "max", "min", "argmax", "argmin_last"}) {
    const bool arg = std::string(kind).substr(0, 3) == "arg";
    const LoopNest nest = NestOrDie(absl::Substitute(R"(nest reduction {
  size n in [0, 64] hint 8
  buffer x: f32[7*n] in
  buffer o: $0[7] out
  loop i0: 7
  reduce r0: n
  %0 = load x[i0*n + r0] : f32
  %1 = reduce.$1 %0 : $0
  store o[i0], %1
})",
                                                     arg ? "i64" : "f32", kind));
    for (KernelForm form : {KernelForm::kPersistent, KernelForm::kLooped}) {
      const KernelSpec kernel = MakeKernel(nest, form);
      for (int64_t n : {0, 1, 5, 64}) {
        EXPECT_EQ(CheckKernel(kernel, CompleteConfig(kernel, {{"XBLOCK", 4}}), {{"n", n}},
                              SumTolerance(DType::kF32)),
                  "")
            << kind << " n " << n;
      }
    }
  }
}

// The operand does not depend on the reduction dims: it counts once for each of their points.
TEST(Reduce, OfAnOuterValue) {
  const LoopNest nest = NestOrDie(R"(nest outer {
  buffer x: f32[10] in
  buffer o: f32[10] out
  loop i0: 10
  reduce r0: 37
  %0 = load x[i0] : f32
  %1 = reduce.sum %0 : f32
  store o[i0], %1
})");
  for (KernelForm form : {KernelForm::kPersistent, KernelForm::kLooped}) {
    const KernelSpec kernel = MakeKernel(nest, form);
    EXPECT_EQ(CheckKernel(kernel, CompleteConfig(kernel, {{"XBLOCK", 8}}), {}, {1e-5, 0}), "");
  }
}

// Several reductions in sequence and side by side, inner values reused after each: the exchanges
// between warps must not overtake one another.
constexpr const char* kNorm = R"(nest norm {
  size n in [1, 512] hint 300
  buffer x: f32[9*n] in
  buffer w: f32[n] in
  buffer y: f32[9*n] out
  buffer mean: f32[9] out
  buffer top: i64[9] out
  loop i0: 9
  reduce r0: n
  %0 = load x[i0*n + r0] : f32
  %1 = reduce.sum %0 : f32
  %2 = reduce.max %0 : f32
  %3 = index n : f32
  %4 = div %1, %3 : f32
  %5 = sub %0, %4 : f32
  %6 = mul %5, %5 : f32
  %7 = reduce.sum %6 : f32
  %8 = div %7, %3 : f32
  %9 = const 0.00001 : f32
  %10 = add %8, %9 : f32
  %11 = rsqrt %10 : f32
  %12 = mul %5, %11 : f32
  %13 = load w[r0] : f32
  %14 = mul %12, %13 : f32
  %15 = reduce.argmax %14 : i64
  %16 = reduce.min %14 : f32
  %17 = sub %14, %16 : f32
  %18 = add %17, %2 : f32
  store y[i0*n + r0], %18
  store mean[i0], %4
  store top[i0], %15
})";

TEST(Reduce, SeveralInSequence) {
  KernelSpec looped = MakeKernel(kNorm, KernelForm::kLooped);
  KernelSpec persistent = MakeKernel(kNorm, KernelForm::kPersistent);
  for (int64_t n : {1, 31, 256, 301}) {
    for (int64_t x : {1, 2}) {
      const Config config = {{"XBLOCK", x}, {"RBLOCK", 64}, {"WARPS", 2}};
      EXPECT_EQ(CheckKernel(looped, CompleteConfig(looped, config), {{"n", n}}, {1e-4, 1e-4}), "")
          << n;
    }
    EXPECT_EQ(CheckKernel(persistent, CompleteConfig(persistent, {{"WARPS", 8}}), {{"n", n}},
                          {1e-4, 1e-4}),
              "")
        << n;
  }
}

// Softmax, with a row of -inf: NaN.
TEST(Reduce, Softmax) {
  const LoopNest nest = NestOrDie(R"(nest softmax {
  buffer x: bf16[3000] in
  buffer y: bf16[3000] out
  loop i0: 3
  reduce r0: 1000
  %0 = load x[1000*i0 + r0] : bf16
  %1 = cast %0 : f32
  %2 = reduce.max %1 : f32
  %3 = sub %1, %2 : f32
  %4 = exp %3 : f32
  %5 = reduce.sum %4 : f32
  %6 = div %4, %5 : f32
  %7 = cast %6 : bf16
  store y[1000*i0 + r0], %7
})");
  std::map<std::string, Bytes> memory;
  memory["x"].resize(6000);
  for (int i = 0; i < 3000; ++i) {
    const double v = i < 1000 ? -HUGE_VAL : (i * 37 % 101) / 7.0;
    StoreScalar(Scalar::Float(DType::kBF16, v), &memory["x"][2 * i]);
  }
  for (KernelForm form : {KernelForm::kPersistent, KernelForm::kLooped}) {
    const KernelSpec kernel = MakeKernel(nest, form);
    Config config = {{"WARPS", 4}};
    if (form == KernelForm::kLooped) config["RBLOCK"] = 128;
    EXPECT_EQ(CheckKernel(kernel, CompleteConfig(kernel, config), {}, memory, {8e-3, 0}), "");
  }
}

// Online sums: rows with infinities and NaN at either end, one of -inf only, huge differences.
TEST(Reduce, OnlineSumOfExtremes) {
  for (DType type : {DType::kF32, DType::kF64}) {
    for (bool guarded : {false, true}) {
      const LoopNest nest = NestOrDie(absl::Substitute(R"(nest lse {
  size n in [0, 4096] hint 100
  buffer x: $0[8*n] in
  buffer s: $0[8] out
  buffer m: $0[8] out
  loop i0: 8
  reduce r0: n
  %0 = load x[i0*n + r0] : $0
  %1 = reduce.max %0 : $0
  %2 = abs %1 : $0
  %3 = const inf : $0
  %4 = eq %2, %3 : bool
  %5 = const 0.0 : $0
  %6 = select %4, %5, %1 : $0
  %7 = sub %0, %$1 : $0
  %8 = exp %7 : $0
  %9 = reduce.sum %8 : $0
  store s[i0], %9
  store m[i0], %1
})",
                                                       Name(type), guarded ? 6 : 1));
      const KernelSpec kernel = MakeKernel(nest, KernelForm::kLooped);
      for (int64_t n : {0, 1, 100, 257}) {
        std::map<std::string, Bytes> memory;
        memory["x"].resize(8 * n * DTypeBytes(type));
        for (int64_t i = 0; i < 8 * n; ++i) {
          const int64_t row = i / n, at = i % n;
          double v = (i * 37 % 101) / 7.0 - 5;
          if (row == 1) v = -HUGE_VAL;
          if (row == 2 && at == n - 1) v = HUGE_VAL;
          if (row == 3 && at == 0) v = std::nan("");
          if (row == 4 && at < n / 2) v = -HUGE_VAL;
          if (row == 5) v *= 1e30;
          if (row == 6) v = at == 0 ? -3e38 : 3e38;
          StoreScalar(Scalar::Float(type, v), &memory["x"][i * DTypeBytes(type)]);
        }
        for (const Config& config : {Config{{"XBLOCK", 1}, {"RBLOCK", 64}, {"WARPS", 2}},
                                     Config{{"XBLOCK", 8}, {"RBLOCK", 4}}}) {
          EXPECT_EQ(CheckKernel(kernel, CompleteConfig(kernel, config), {{"n", n}}, memory,
                                {type == DType::kF32 ? 1e-5 : 1e-13, 0}),
                    "")
              << Name(type) << " n " << n << (guarded ? " guarded" : "");
        }
      }
    }
  }
}

// Loop and reduction dims mixed, two of each.
TEST(Reduce, MixedDims) {
  const LoopNest nest = NestOrDie(R"(nest mixed {
  buffer x: f64[2310] in
  buffer o: f64[55] out
  reduce r0: 6
  loop i0: 5
  reduce r1: 7
  loop i1: 11
  %0 = load x[385*r0 + 77*i0 + 11*r1 + i1] : f64
  %1 = reduce.sum %0 : f64
  store o[11*i0 + i1], %1
})");
  for (KernelForm form : {KernelForm::kPersistent, KernelForm::kLooped}) {
    for (int y_dims : {0, 1}) {
      const KernelSpec kernel = MakeKernel(nest, form, y_dims);
      Config config = {{"XBLOCK", 8}, {"WARPS", 2}};
      if (form == KernelForm::kLooped) config["RBLOCK"] = 16;
      EXPECT_EQ(CheckKernel(kernel, CompleteConfig(kernel, config), {}, {1e-12, 1e-12}), "");
    }
  }
}

}  // namespace
}  // namespace stax
