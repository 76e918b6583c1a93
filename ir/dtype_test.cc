#include "ir/dtype.h"

#include <string>

#include "gtest/gtest.h"

namespace stax {
namespace {

TEST(DTypeTest, NamesParseBack) {
  for (int i = 0; i < kNumDTypes; ++i) {
    const DType t = static_cast<DType>(i);
    const absl::StatusOr<DType> parsed = ParseDType(DTypeName(t));
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(*parsed, t);
  }
}

TEST(DTypeTest, UnknownNamesListTheKnownOnes) {
  const absl::Status status = ParseDType("f33").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(std::string(status.message()),
            "unknown dtype 'f33', expected one of bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, "
            "bf16, f32, f64");
  EXPECT_FALSE(ParseDType("").ok());
  EXPECT_FALSE(ParseDType("f32 ").ok());
}

TEST(DTypeTest, SizesAndClasses) {
  struct Row {
    DType t;
    int bytes;
    bool is_float, is_half, is_integer, is_signed, is_unsigned;
  };
  const Row rows[] = {
      {DType::kBool, 1, false, false, false, false, false},
      {DType::kI8, 1, false, false, true, true, false},
      {DType::kI16, 2, false, false, true, true, false},
      {DType::kI32, 4, false, false, true, true, false},
      {DType::kI64, 8, false, false, true, true, false},
      {DType::kU8, 1, false, false, true, false, true},
      {DType::kU16, 2, false, false, true, false, true},
      {DType::kU32, 4, false, false, true, false, true},
      {DType::kU64, 8, false, false, true, false, true},
      {DType::kF16, 2, true, true, false, true, false},
      {DType::kBF16, 2, true, true, false, true, false},
      {DType::kF32, 4, true, false, false, true, false},
      {DType::kF64, 8, true, false, false, true, false},
  };
  ASSERT_EQ(sizeof(rows) / sizeof(rows[0]), static_cast<size_t>(kNumDTypes));
  for (const Row& row : rows) {
    SCOPED_TRACE(DTypeName(row.t));
    EXPECT_EQ(DTypeBytes(row.t), row.bytes);
    EXPECT_EQ(IsFloat(row.t), row.is_float);
    EXPECT_EQ(IsHalf(row.t), row.is_half);
    EXPECT_EQ(IsInteger(row.t), row.is_integer);
    EXPECT_EQ(IsSigned(row.t), row.is_signed);
    EXPECT_EQ(IsUnsigned(row.t), row.is_unsigned);
  }
}

}  // namespace
}  // namespace stax
