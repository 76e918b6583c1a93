#include "compiler/schedule/traffic.h"

#include "compiler/schedule/kernel_name.h"
#include "gtest/gtest.h"

namespace stax {
namespace {

LoopNest Nest(const std::string& text) {
  absl::StatusOr<LoopNest> nest = ParseLoopNest(text);
  EXPECT_TRUE(nest.ok()) << nest.status();
  return *nest;
}

const char* kRows = R"(nest n {
  size n in [2, 4096] hint 64
  buffer x: bf16[1000*n] in
  buffer scale: f32[1000] in
  buffer g: f32[1] in
  buffer y: f32[1000*n] out
  buffer m: f32[n] out
  loop i0: n
  reduce r0: 1000
  %0 = load x[1000*i0 + r0] : bf16
  %1 = cast %0 : f32
  %2 = reduce.max %1 : f32
  %3 = load g[0] : f32
  %4 = exp %3 : f32
  %5 = mul %2, %4 : f32
  %6 = load scale[r0] : f32
  %7 = mul %6, %5 : f32
  %8 = lt %1, %7 : bool
  %9 = select %8, %1, %7 : f32
  store y[1000*i0 + r0], %9
  store m[i0], %5
})";

TEST(TrafficTest, EachElementOnce) {
  const IndexExpr n = IndexExpr::Var("n");
  const Traffic traffic = CountTraffic(Nest(kRows));
  EXPECT_EQ(traffic.read_bytes, 2 * 1000 * n + 4 * 1000 + 4);
  EXPECT_EQ(traffic.write_bytes, 4 * 1000 * n + 4 * n);
  // max and one mul at every point, a mul a row, an exp in all.
  EXPECT_EQ(traffic.flops, 2 * 1000 * n + n + 1);
}

TEST(TrafficTest, OverlappingReadsCountOnce) {
  const Traffic traffic = CountTraffic(Nest(R"(nest n {
  buffer x: f32[11] in
  buffer y: f32[10] out
  loop i0: 10
  %0 = load x[i0] : f32
  %1 = load x[i0 + 1] : f32
  %2 = add %0, %1 : f32
  store y[i0], %2
})"));
  EXPECT_EQ(traffic.read_bytes, 44);
  EXPECT_EQ(traffic.flops, 10);
}

TEST(TrafficTest, GathersTouchWhatTheirIndicesDo) {
  const Traffic traffic = CountTraffic(Nest(R"(nest n {
  buffer ids: i64[6] in
  buffer table: f32[5000] in
  buffer y: f32[60] out
  loop i0: 6
  loop i1: 10
  %0 = load ids[i0] : i64
  %1 = indirect %0 : 500
  %2 = load table[10*t1 + i1] : f32
  store y[10*i0 + i1], %2
})"));
  EXPECT_EQ(traffic.read_bytes, 6 * 8 + 60 * 4);
}

TEST(KernelNameTest, OperationsInOrder) {
  EXPECT_EQ(KernelName(KernelForm::kPersistent, Nest(kRows), 3), "per_fused_max_exp_mul_3");
  EXPECT_EQ(KernelName(KernelForm::kPointwise, Nest(R"(nest n {
  buffer x: f32[4] in
  buffer y: f32[4] out
  loop i0: 4
  %0 = load x[i0] : f32
  store y[i0], %0
})"),
                       0),
            "poi_fused_copy_0");
}

TEST(KernelNameTest, LongNamesKeepStartAndEnd) {
  LoopNest nest;
  nest.dims.push_back({"i0", 4, false});
  BodyBuilder body(&nest);
  ValueId v = body.Load(body.Buffer("x", DType::kF32, 4, false), IndexExpr::Var("i0"));
  for (OpCode code : {OpCode::kSin, OpCode::kCos, OpCode::kTan, OpCode::kSigmoid, OpCode::kAsinh,
                      OpCode::kAcosh, OpCode::kAtanh, OpCode::kSqrt})
    v = body.Op(code, {v});
  body.Store(body.Buffer("y", DType::kF32, 4, true), IndexExpr::Var("i0"), v);
  EXPECT_EQ(KernelName(KernelForm::kPointwise, nest, 12),
            "poi_fused_sin_cos_tan_acosh_atanh_sqrt_12");
}

}  // namespace
}  // namespace stax
