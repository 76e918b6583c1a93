#include "ir/loop_op.h"

#include <set>
#include <string>

#include "gtest/gtest.h"

namespace stax {
namespace {

constexpr int kNumOps = static_cast<int>(OpCode::kGe) + 1;

TEST(LoopOpTest, NamesAreDistinctAndParseBack) {
  std::set<std::string_view> names;
  for (int i = 0; i < kNumOps; ++i) {
    const OpCode code = static_cast<OpCode>(i);
    EXPECT_TRUE(names.insert(OpName(code)).second) << OpName(code);
    const absl::StatusOr<OpCode> parsed = ParseOpCode(OpName(code));
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(*parsed, code);
  }
}

TEST(LoopOpTest, NamesAritiesAndClasses) {
  EXPECT_EQ(OpName(OpCode::kConst), "const");
  EXPECT_EQ(OpName(OpCode::kReduce), "reduce");
  EXPECT_EQ(OpName(OpCode::kRsqrt), "rsqrt");
  EXPECT_EQ(OpName(OpCode::kGe), "ge");
  EXPECT_EQ(OpArity(OpCode::kConst), 0);
  EXPECT_EQ(OpArity(OpCode::kIndex), 0);
  EXPECT_EQ(OpArity(OpCode::kLoad), -1);
  EXPECT_EQ(OpArity(OpCode::kStore), 1);
  EXPECT_EQ(OpArity(OpCode::kCast), 1);
  EXPECT_EQ(OpArity(OpCode::kSelect), 3);
  EXPECT_EQ(OpArity(OpCode::kIndirect), 1);
  EXPECT_EQ(OpArity(OpCode::kReduce), 1);
  EXPECT_EQ(OpArity(OpCode::kNot), 1);
  EXPECT_EQ(OpArity(OpCode::kAtan2), 2);
  EXPECT_EQ(ClassOf(OpCode::kSelect), OpClass::kSpecial);
  EXPECT_EQ(ClassOf(OpCode::kSign), OpClass::kSame);
  EXPECT_EQ(ClassOf(OpCode::kAtan2), OpClass::kFloat);
  EXPECT_EQ(ClassOf(OpCode::kShr), OpClass::kInt);
  EXPECT_EQ(ClassOf(OpCode::kNe), OpClass::kCompare);
  EXPECT_FALSE(IsScalarOp(OpCode::kReduce));
  EXPECT_TRUE(IsScalarOp(OpCode::kAbs));
}

TEST(LoopOpTest, ReductionNamesParseBack) {
  for (int i = 0; i <= static_cast<int>(ReduceKind::kArgMinLast); ++i) {
    const ReduceKind kind = static_cast<ReduceKind>(i);
    const absl::StatusOr<ReduceKind> parsed = ParseReduceKind(ReduceName(kind));
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(*parsed, kind);
    EXPECT_EQ(IsArgReduce(kind), std::string(ReduceName(kind)).substr(0, 3) == "arg");
  }
}

TEST(LoopOpTest, UnknownNames) {
  EXPECT_EQ(std::string(ParseOpCode("addd").status().message()), "unknown op 'addd'");
  EXPECT_FALSE(ParseOpCode("").ok());
  EXPECT_FALSE(ParseOpCode("zzz").ok());
  EXPECT_EQ(std::string(ParseReduceKind("mean").status().message()),
            "unknown reduction 'mean', expected one of sum, prod, max, min, argmax, argmin, "
            "argmax_last, argmin_last");
}

}  // namespace
}  // namespace stax
