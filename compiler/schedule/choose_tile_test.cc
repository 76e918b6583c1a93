#include "compiler/schedule/choose_tile.h"

#include <string>

#include "compiler/schedule/choose_form.h"
#include "gtest/gtest.h"

namespace stax {
namespace {

LoopNest Nest(const std::string& text) {
  absl::StatusOr<LoopNest> nest = ParseLoopNest(text);
  EXPECT_TRUE(nest.ok()) << nest.status();
  return *nest;
}

std::string Axes(const LoopNest& nest, const char* target = "cuda") {
  std::string text;
  for (const TileAxis& axis : ChooseTile(nest, ParseTarget(target).value()).axes) {
    text += axis.name + "(";
    for (int d : axis.dims) text += nest.dims[d].name + (d == axis.dims.back() ? "" : " ");
    text += ")";
  }
  return text;
}

LoopNest Pointwise(const std::string& dims, const std::string& load, const std::string& store) {
  return Nest("nest n {\n buffer x: f32[1000000] in\n buffer y: f32[1000000] out\n" + dims +
              "%0 = load x[" + load + "] : f32\nstore y[" + store + "], %0\n}");
}

TEST(ChooseTileTest, ContiguousIsOneAxis) {
  EXPECT_EQ(Axes(Pointwise("loop i0: 4096\n", "i0", "i0")), "x(i0)");
}

TEST(ChooseTileTest, TransposesAreTwo) {
  EXPECT_EQ(Axes(Pointwise("loop i0: 256\n loop i1: 512\n", "i0 + 256*i1", "512*i0 + i1")),
            "y(i0)x(i1)");
  // NCHW -> NHWC
  EXPECT_EQ(Axes(Pointwise("loop i0: 4\n loop i1: 100\n loop i2: 64\n", "6400*i0 + i1 + 100*i2",
                           "6400*i0 + 64*i1 + i2")),
            "y(i0 i1)x(i2)");
  // The first dim comes from the last one.
  EXPECT_EQ(Axes(Pointwise("loop i0: 64\n loop i1: 10\n loop i2: 32\n", "i0 + 64*i1 + 640*i2",
                           "320*i0 + 32*i1 + i2")),
            "y(i0)x(i1 i2)");
}

TEST(ChooseTileTest, ShortContiguousRunsCountLess) {
  // Dims of 2 are not worth an axis: 8 bytes of each 32 would be used.
  EXPECT_EQ(Axes(Pointwise("loop i0: 2\n loop i1: 4096\n", "i0 + 2*i1", "4096*i0 + i1")),
            "y(i0)x(i1)");
  EXPECT_EQ(Axes(Pointwise("loop i0: 3\n loop i1: 4096\n loop i2: 2\n", "i0 + 3*i2 + 6*i1",
                           "8192*i0 + 2*i1 + i2"))
                .substr(0, 1),
            "y");
}

TEST(ChooseTileTest, RowStatisticsAreNotWorthAnAxis) {
  const LoopNest nest = Nest(R"(nest n {
  buffer x: f32[256000] in
  buffer m: f32[256] in
  buffer y: f32[256000] out
  loop i0: 256
  loop i1: 1000
  %0 = load x[1000*i0 + i1] : f32
  %1 = load m[i0] : f32
  %2 = sub %0, %1 : f32
  store y[1000*i0 + i1], %2
})");
  EXPECT_EQ(Axes(nest), "x(i0 i1)");
  // On a CPU rows are better apart: lanes need no division.
  EXPECT_EQ(Axes(nest, "cpu"), "y(i0)x(i1)");
}

TEST(ChooseTileTest, ReductionDirections) {
  const auto sum = [](const std::string& dims, const std::string& load) {
    return Nest("nest n {\n buffer x: f32[1000000] in\n buffer y: f32[100] out\n" + dims +
                "%0 = load x[" + load + "] : f32\n%1 = reduce.sum %0 : f32\nstore y[i0], %1\n}");
  };
  EXPECT_EQ(Axes(sum("loop i0: 100\n reduce r0: 500\n", "500*i0 + r0")), "x(i0)r(r0)");
  EXPECT_EQ(Axes(sum("reduce r0: 500\n loop i0: 100\n", "100*r0 + i0")), "x(i0)r(r0)");
  // Dims of a sum may be taken in any order: the contiguous one last.
  EXPECT_EQ(Axes(sum("loop i0: 100\n reduce r0: 50\n reduce r1: 10\n", "500*i0 + r0 + 50*r1")),
            "x(i0)r(r1 r0)");
}

TEST(ChooseTileTest, PositionsKeepTheOrderOfDims) {
  EXPECT_EQ(Axes(Nest(R"(nest n {
  buffer x: f32[500] in
  buffer y: i64[1] out
  reduce r0: 50
  reduce r1: 10
  %0 = load x[r0 + 50*r1] : f32
  %1 = reduce.argmax %0 : i64
  store y[0], %1
})")),
            "x()r(r0 r1)");
}

LoopNest Matmul(const std::string& b_index) {
  return Nest(
      "nest n {\n buffer a: f32[30000] in\n buffer b: f32[30000] in\n"
      " buffer y: f32[2000] out\n loop i0: 2\n loop i1: 20\n loop i2: 50\n reduce r0: 64\n"
      "%0 = load a[1280*i0 + 64*i1 + r0] : f32\n%1 = load b[" +
      b_index +
      "] : f32\n"
      "%2 = mul %0, %1 : f32\n%3 = reduce.sum %2 : f32\n"
      "store y[1000*i0 + 50*i1 + i2], %3\n}");
}

TEST(ChooseTileTest, ContractionsReuseBothOperands) {
  for (const std::string index : {"3200*i0 + i2 + 50*r0", "i2 + 50*r0", "3200*i0 + 64*i2 + r0"}) {
    const LoopNest nest = Matmul(index);
    EXPECT_TRUE(IsContraction(nest));
    EXPECT_EQ(Axes(nest), "y(i0 i1)x(i2)r(r0)");
    EXPECT_EQ(ChooseForm(nest, true, ParseTarget("cuda").value()), KernelForm::kLooped);
  }
  EXPECT_FALSE(IsContraction(Matmul("64*i1 + r0")));  // rows times rows: no reuse along i2
}

TEST(ChooseFormTest, FollowsTheRules) {
  const auto form = [](const std::string& size, const std::string& length, bool contiguous) {
    return ChooseForm(
        Nest("nest n {\n" + size +
             " buffer x: f32[10000000] in\n"
             " buffer y: f32[100] out\n loop i0: 100\n reduce r0: " +
             length + "\n%0 = load x[" + (contiguous ? "5000*i0 + r0" : "i0 + 100*r0") +
             "] : f32\n%1 = reduce.sum %0 : f32\nstore y[i0], %1\n}"),
        false, ParseTarget("cuda").value());
  };
  EXPECT_EQ(form("", "1024", true), KernelForm::kPersistent);
  EXPECT_EQ(form("", "1025", true), KernelForm::kLooped);
  EXPECT_EQ(form("", "64", false), KernelForm::kPersistent);
  EXPECT_EQ(form("", "65", false), KernelForm::kLooped);
  EXPECT_EQ(form("size n in [2, 1024] hint 3\n", "n", true), KernelForm::kPersistent);
  EXPECT_EQ(form("size n in [2, 1025] hint 3\n", "n", true), KernelForm::kLooped);
  EXPECT_EQ(form("size n in [33, 64] hint 40\n", "n", false), KernelForm::kPersistent);
  EXPECT_EQ(form("size n in [32, 64] hint 40\n", "n", false), KernelForm::kLooped);
}

// Softmax reads its rows twice, a sum once. Room: 128 KB a multiprocessor, 8 of them on sm_90a.
TEST(ChooseFormTest, LongRowsThatAreReadTwiceAreKept) {
  const auto form = [](const std::string& target, const std::string& type, const std::string& size,
                       const std::string& length, const std::string& second) {
    const LoopNest nest =
        Nest("nest n {\n" + size + " buffer x: " + type + "[400000000] in\n buffer y: " + type +
             "[400000000] out\n loop i0: 1000\n reduce r0: " + length +
             "\n%0 = load x[300000*i0 + r0] : " + type + "\n%1 = reduce.max %0 : " + type +
             "\n%2 = " + second + "\n}");
    return ChooseForm(nest, false, ParseTarget(target).value());
  };
  const auto twice = [](const std::string& type) {
    return "sub %0, %1 : " + type + "\nstore y[300000*i0 + r0], %2";
  };
  const auto persistent = KernelForm::kPersistent, looped = KernelForm::kLooped;
  for (const char* length : {"1025", "4096", "50257", "262144"})
    EXPECT_EQ(form("cuda", "bf16", "", length, twice("bf16")), persistent) << length;
  EXPECT_EQ(form("cuda", "f32", "", "262144", twice("f32")), persistent);
  EXPECT_EQ(form("cuda", "f32", "", "262145", twice("f32")), looped);
  EXPECT_EQ(form("cuda:sm_80", "bf16", "", "65536", twice("bf16")), persistent);
  EXPECT_EQ(form("cuda:sm_80", "bf16", "", "65537", twice("bf16")), looped);
  EXPECT_EQ(form("cpu:x86-64-v3", "bf16", "", "4096", twice("bf16")), looped);
  EXPECT_EQ(form("cuda", "f32", "", "4096", "neg %1 : f32\nstore y[i0], %2"), looped);
  // One power of two for all lengths.
  EXPECT_EQ(form("cuda", "f32", "size n in [1025, 2048] hint 2000\n", "n", twice("f32")),
            persistent);
  EXPECT_EQ(form("cuda", "f32", "size n in [1024, 2048] hint 2000\n", "n", twice("f32")), looped);
}

TEST(ChooseFormTest, PowerOfTwo) {
  EXPECT_EQ(PowerOfTwoAtLeast(0), 1);
  EXPECT_EQ(PowerOfTwoAtLeast(1), 1);
  EXPECT_EQ(PowerOfTwoAtLeast(1000), 1024);
  EXPECT_EQ(PowerOfTwoAtLeast(1024), 1024);
  EXPECT_EQ(PowerOfTwoAtLeast(1025), 2048);
}

}  // namespace
}  // namespace stax
