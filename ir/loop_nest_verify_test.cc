#include "ir/loop_nest_verify.h"

#include <functional>
#include <string>

#include "gtest/gtest.h"
#include "ir/loop_nest.h"

namespace stax {
namespace {

LoopNest Parse(std::string_view text) {
  absl::StatusOr<LoopNest> nest = ParseLoopNest(text);
  EXPECT_TRUE(nest.ok()) << nest.status() << "\n" << text;
  return nest.ok() ? *nest : LoopNest();
}

// A correct nest with every kind of op, for tests to break.
LoopNest Good() {
  return Parse(R"(nest good {
    size n in [2, 4096] hint 64
    buffer x: f32[8*n] in
    buffer ids: i64[n] in
    buffer y: f32[n] out
    loop i0: n
    reduce r0: 8
    %0 = load ids[i0] : i64
    %1 = indirect %0 : n
    %2 = load x[8*t1 + r0] : f32
    %3 = index r0 - 1 : i64
    %4 = const 0 : i64
    %5 = ge %3, %4 : bool
    %6 = load x[8*i0 + r0 - 1] if %5 : f32
    %7 = select %5, %2, %6 : f32
    %8 = reduce.argmax %7 : i64
    %9 = cast %8 : f32
    %10 = exp %9 : f32
    %11 = max %10, %9 : f32
    store y[i0], %11
  })");
}

// What Verify says of Good() after `change`; structure and proofs must not both be silent.
std::string Broken(const std::function<void(LoopNest&)>& change) {
  LoopNest nest = Good();
  change(nest);
  const absl::Status status = Verify(nest);
  if (status.ok()) return "OK";
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  return std::string(status.message());
}

std::string Op(int id, const std::function<void(LoopOp&)>& change) {
  return Broken([&](LoopNest& nest) { change(nest.body[id]); });
}

TEST(LoopNestVerifyTest, GoodIsGood) {
  EXPECT_TRUE(Verify(Good()).ok()) << Verify(Good());
  EXPECT_TRUE(VerifyStructure(Good()).ok());
}

TEST(LoopNestVerifyTest, Names) {
  EXPECT_EQ(Broken([](LoopNest& n) { n.name = ""; }), "nest : '' is not a name");
  EXPECT_EQ(Broken([](LoopNest& n) { n.name = "a b"; }), "nest a b: 'a b' is not a name");
  EXPECT_EQ(Broken([](LoopNest& n) { n.dims[0].name = "0i"; }),
            "nest good: dim '0i' is not a name");
  EXPECT_EQ(Broken([](LoopNest& n) { n.dims[1].name = "i0"; }),
            "nest good: dim i0: the name is taken");
  EXPECT_EQ(Broken([](LoopNest& n) { n.dims[1].name = "n"; }),
            "nest good: dim n: the name is taken");
  EXPECT_EQ(Broken([](LoopNest& n) { n.dims.push_back({"t1", 2, false}); }),
            "nest good, %1: the name t1 is taken");
  EXPECT_EQ(Broken([](LoopNest& n) { n.buffers[1].name = "x"; }),
            "nest good: buffer x is there twice");
  EXPECT_EQ(Broken([](LoopNest& n) { n.buffers[0].name = "x/1"; }),
            "nest good: buffer 'x/1' is not a name");
}

TEST(LoopNestVerifyTest, Sizes) {
  EXPECT_EQ(Broken([](LoopNest& n) { n.symbols.push_back({"m", 2, 9, 3}); }),
            "nest good: size m after n: sizes are sorted by name, each once");
  EXPECT_EQ(Broken([](LoopNest& n) { n.symbols.push_back({"n", 2, 9, 3}); }),
            "nest good: size n after n: sizes are sorted by name, each once");
  EXPECT_EQ(Broken([](LoopNest& n) { n.symbols[0].hint = 1; }),
            "nest good: size n: expected 0 <= lower <= hint <= upper, got 2, 1, 4096");
  EXPECT_EQ(Broken([](LoopNest& n) { n.symbols[0].lower = -1; }),
            "nest good: size n: expected 0 <= lower <= hint <= upper, got -1, 64, 4096");
  EXPECT_EQ(Broken([](LoopNest& n) { n.dims[0].extent = IndexExpr::Var("m"); }),
            "nest good: dim i0: extent m uses m, which is not a size");
  EXPECT_EQ(Broken([](LoopNest& n) { n.dims[1].extent = IndexExpr::Var("i0"); }),
            "nest good: dim r0: extent i0 uses i0, which is not a size");
  EXPECT_EQ(Broken([](LoopNest& n) { n.dims[0].extent = IndexExpr::Var("n") - 3; }),
            "nest good: dim i0: extent n - 3 may be negative");
  EXPECT_EQ(Broken([](LoopNest& n) { n.buffers[0].numel = -1; }),
            "nest good: buffer x: numel -1 may be negative");
  EXPECT_EQ(Op(1, [](LoopOp& op) { op.index = IndexExpr::Var("r0"); }),
            "nest good, %1: extent r0 uses r0, which is not a size");
}

// The product of the extents is an index expression, too.
TEST(LoopNestVerifyTest, PointsThatOverflow) {
  EXPECT_EQ(Broken([](LoopNest& nest) {
              nest.dims[0].extent = int64_t{1} << 40;
              nest.dims[1].extent = int64_t{1} << 40;
            }),
            "nest good: the dims make more points than int64 holds");
}

TEST(LoopNestVerifyTest, OrderAndArity) {
  EXPECT_EQ(Op(9, [](LoopOp& op) { op.operands = {9}; }),
            "nest good, %9: operand %9 is not defined above");
  EXPECT_EQ(Op(9, [](LoopOp& op) { op.operands = {-1}; }),
            "nest good, %9: operand %-1 is not defined above");
  EXPECT_EQ(Op(11, [](LoopOp& op) { op.operands = {9}; }), "nest good, %11: max of 1 operands");
  EXPECT_EQ(Op(10, [](LoopOp& op) { op.operands = {9, 9}; }), "nest good, %10: exp of 2 operands");
  EXPECT_EQ(Op(4, [](LoopOp& op) { op.operands = {0}; }), "nest good, %4: const of 1 operands");
  EXPECT_EQ(Op(6, [](LoopOp& op) { op.operands = {5, 5}; }), "nest good, %6: load of 2 operands");
  EXPECT_EQ(Op(12, [](LoopOp& op) { op.operands = {}; }), "nest good, %12: store of 0 operands");
  EXPECT_EQ(Broken([](LoopNest& n) {
              LoopOp neg;
              neg.code = OpCode::kNeg;
              neg.operands = {12};
              n.body.push_back(neg);
            }),
            "nest good, %13: operand %12 is a store and has no value");
}

TEST(LoopNestVerifyTest, TypesOfScalarOps) {
  EXPECT_EQ(Op(11, [](LoopOp& op) { op.operands = {10, 8}; }),
            "nest good, %11: max of f32 and i64");
  EXPECT_EQ(Op(10, [](LoopOp& op) { op.operands = {8}; }), "nest good, %10: exp of i64");
  EXPECT_EQ(Op(10, [](LoopOp& op) { op.dtype = DType::kF16; }),
            "nest good, %10: result of exp is f16, expected f32");
  EXPECT_EQ(Op(5, [](LoopOp& op) { op.dtype = DType::kI64; }),
            "nest good, %5: result of ge is i64, expected bool");
  EXPECT_EQ(Op(11, [](LoopOp& op) { op.code = OpCode::kAnd; }),
            "nest good, %11: and of f32 and f32");
  EXPECT_EQ(Op(11,
               [](LoopOp& op) {
                 op.operands = {5, 5};
                 op.dtype = DType::kBool;
               }),
            "nest good, %11: max of bool and bool");
}

TEST(LoopNestVerifyTest, TypesOfSpecialOps) {
  EXPECT_EQ(Op(7, [](LoopOp& op) { op.operands = {3, 2, 6}; }),
            "nest good, %7: select of i64 and f32 and f32");
  EXPECT_EQ(Op(7, [](LoopOp& op) { op.operands = {5, 2, 3}; }),
            "nest good, %7: select of bool and f32 and i64");
  EXPECT_EQ(Op(7, [](LoopOp& op) { op.dtype = DType::kF64; }),
            "nest good, %7: result of select is f64, expected f32");
  EXPECT_EQ(Op(8, [](LoopOp& op) { op.dtype = DType::kF32; }),
            "nest good, %8: result of reduce is f32, expected i64");
  EXPECT_EQ(Op(8, [](LoopOp& op) { op.reduce = ReduceKind::kSum; }),
            "nest good, %8: result of reduce is i64, expected f32");
  EXPECT_EQ(Op(8, [](LoopOp& op) { op.operands = {5}; }), "nest good, %8: reduce.argmax of bool");
  EXPECT_EQ(Op(3, [](LoopOp& op) { op.dtype = DType::kBool; }), "nest good, %3: index as bool");
  EXPECT_EQ(Op(1, [](LoopOp& op) { op.dtype = DType::kI32; }),
            "nest good, %1: result of indirect is i32, expected i64");
  EXPECT_EQ(Op(4, [](LoopOp& op) { op.dtype = DType::kI32; }),
            "nest good, %4: literal of type i64 in a const of i32");
  EXPECT_EQ(Op(4,
               [](LoopOp& op) {
                 op.dtype = op.literal.dtype = DType::kI8;
                 op.literal.i = 300;
               }),
            "nest good, %4: literal is not a value of type i8");
  EXPECT_EQ(Op(4,
               [](LoopOp& op) {
                 op.dtype = op.literal.dtype = DType::kF32;
                 op.literal.f = 0.1;
               }),
            "nest good, %4: literal is not a value of type f32");
}

TEST(LoopNestVerifyTest, IndirectOfAFloat) {
  const LoopNest nest = Parse(R"(nest n {
    buffer x: f32[4] in
    buffer y: f32[4] out
    loop i0: 4
    %0 = load x[i0] : f32
    %1 = indirect %0 : 4
    store y[i0], %0
  })");
  EXPECT_EQ(std::string(Verify(nest).message()), "nest n, %1: indirect of f32");
}

// Where m is 0 the position is 0 all the same, and there is no element 0.
TEST(LoopNestVerifyTest, IndirectIntoNothing) {
  const LoopNest nest = Parse(R"(nest n {
    size m in [0, 8] hint 4
    buffer ids: i64[4] in
    buffer x: f32[m] in
    buffer y: f32[4] out
    loop i0: 4
    %0 = load ids[i0] : i64
    %1 = indirect %0 : m
    %2 = load x[t1] : f32
    store y[i0], %2
  })");
  EXPECT_EQ(std::string(Verify(nest).message()),
            "nest n, %2: index t1 uses t1, whose extent m may be 0; the load needs a mask");
}

TEST(LoopNestVerifyTest, ReduceWithoutReductionDims) {
  const LoopNest nest = Parse(R"(nest n {
    buffer x: f32[4] in
    buffer y: f32[4] out
    loop i0: 4
    %0 = load x[i0] : f32
    %1 = reduce.sum %0 : f32
    store y[i0], %1
  })");
  EXPECT_EQ(std::string(Verify(nest).message()),
            "nest n, %1: reduce in a nest without reduction dims");
}

TEST(LoopNestVerifyTest, Memory) {
  EXPECT_EQ(Op(2, [](LoopOp& op) { op.buffer = 3; }), "nest good, %2: no buffer 3");
  EXPECT_EQ(Op(2, [](LoopOp& op) { op.buffer = -1; }), "nest good, %2: no buffer -1");
  EXPECT_EQ(Op(2, [](LoopOp& op) { op.buffer = 2; }),
            "nest good, %2: load of y, which is only written");
  EXPECT_EQ(Op(12, [](LoopOp& op) { op.buffer = 0; }),
            "nest good, %12: store to x, which is only read");
  EXPECT_EQ(Op(2, [](LoopOp& op) { op.dtype = DType::kF16; }),
            "nest good, %2: load of f16 from x of f32");
  EXPECT_EQ(Op(12, [](LoopOp& op) { op.dtype = DType::kF16; }),
            "nest good, %12: store of f16 to y of f32");
  EXPECT_EQ(Op(12, [](LoopOp& op) { op.operands = {8}; }),
            "nest good, %12: result of store is f32, expected i64");
  EXPECT_EQ(Op(6, [](LoopOp& op) { op.operands = {4}; }), "nest good, %6: mask of type i64");
  EXPECT_EQ(Op(2, [](LoopOp& op) { op.index = IndexExpr::Var("t9"); }),
            "nest good, %2: index t9 uses t9, which is not defined above");
  // A variable of an indirect op further down is not there yet.
  EXPECT_EQ(Op(0, [](LoopOp& op) { op.index = IndexExpr::Var("t1"); }),
            "nest good, %0: index t1 uses t1, which is not defined above");
}

TEST(LoopNestVerifyTest, IndicesAreProvedInside) {
  const IndexExpr i = IndexExpr::Var("i0"), r = IndexExpr::Var("r0"), t = IndexExpr::Var("t1");
  EXPECT_EQ(Op(2, [&](LoopOp& op) { op.index = 8 * t + r + 1; }),
            "nest good, %2: load x[r0 + 8*t1 + 1]: index is not provably in [0, 8*n)");
  EXPECT_EQ(Op(2, [&](LoopOp& op) { op.index = 8 * t + r - 1; }),
            "nest good, %2: load x[r0 + 8*t1 - 1]: index is not provably in [0, 8*n)");
  EXPECT_EQ(Op(2, [&](LoopOp& op) { op.index = 8 * i - r + 7; }), "OK");
  EXPECT_EQ(Op(6, [&](LoopOp& op) { op.index = 100 * i - 5; }), "OK");  // masked
  EXPECT_EQ(Op(12, [&](LoopOp& op) { op.index = 2 * i; }),
            "nest good, %12: store y[2*i0]: index is not provably in [0, n)");
  EXPECT_EQ(Broken([](LoopNest& n) { n.buffers[1].numel = IndexExpr::Var("n") - 1; }),
            "nest good, %0: load ids[i0]: index is not provably in [0, n - 1)");
  // The proofs are not part of the structure.
  LoopNest nest = Good();
  nest.body[12].index = 2 * i;
  EXPECT_TRUE(VerifyStructure(nest).ok());
}

TEST(LoopNestVerifyTest, LoopsThatNeverRunProveNothing) {
  const char kText[] = R"(nest n {
    buffer x: f32[EXTENT] in
    buffer y: f32[4] out
    loop i0: 4
    reduce r0: EXTENT
    %0 = load x[-1 - r0] : f32
    %1 = reduce.sum %0 : f32
    store y[i0], %1
  })";
  const auto with = [&](const std::string& extent) {
    std::string text = kText;
    for (size_t at; (at = text.find("EXTENT")) != std::string::npos;) text.replace(at, 6, extent);
    return Verify(Parse(text)).ok();
  };
  EXPECT_TRUE(with("0"));
  EXPECT_FALSE(with("1"));
}

TEST(LoopNestVerifyTest, ElementsAreWrittenOnce) {
  const IndexExpr i = IndexExpr::Var("i0"), r = IndexExpr::Var("r0"), t = IndexExpr::Var("t1");
  EXPECT_EQ(Op(12, [&](LoopOp& op) { op.index = 0; }),
            "nest good, %12: store y[0] writes the same element for every i0");
  // An inner value at an outer index.
  EXPECT_EQ(Op(12, [&](LoopOp& op) { op.operands = {7}; }),
            "nest good, %12: store y[i0] writes the same element for every r0");
  // An outer value at an inner index that leaves out the loop.
  EXPECT_EQ(Broken([&](LoopNest& n) {
              n.buffers[2].numel = 8;
              n.body[12].index = r;
            }),
            "nest good, %12: store y[r0] writes the same element for every i0");
  // Every element for every point is fine, and a dim of extent 1 makes no difference.
  EXPECT_EQ(Broken([&](LoopNest& n) {
              n.buffers[2].numel = n.buffers[0].numel;
              n.body[12].index = 8 * i + r;
              n.dims.push_back({"i1", 1, false});
            }),
            "OK");
  // A scatter writes where its data says.
  EXPECT_EQ(Op(12, [&](LoopOp& op) { op.index = t; }), "OK");
}

}  // namespace
}  // namespace stax
