#include "ir/index_program.h"

#include <random>
#include <string>

#include "gtest/gtest.h"

namespace stax {
namespace {

using Fault = IndexProgram::Fault;

const std::map<std::string, int> kSlots = {{"i0", 0}, {"r0", 1}, {"n", 2}};

IndexExpr Parse(std::string_view text) {
  absl::StatusOr<IndexExpr> e = IndexExpr::Parse(text);
  EXPECT_TRUE(e.ok()) << e.status();
  return *e;
}

TEST(IndexProgramTest, AgreesWithEvaluate) {
  std::mt19937_64 random(6);
  for (std::string_view text :
       {"0", "-7", "128*i0 + r0", "n*i0*i0 - 3*r0 + 5", "floordiv(i0 - 7, 3)", "mod(i0 - r0, 5)",
        "min(i0, r0 + 1)*max(n, 2*r0)", "mod(floordiv(3*i0 + r0, n), 4) + floordiv(r0, n)",
        "floordiv(-3 - i0, n)"}) {
    const IndexExpr e = Parse(text);
    const IndexProgram program(e, kSlots);
    for (int i = 0; i < 200; ++i) {
      const int64_t values[] = {static_cast<int64_t>(random() % 100) - 50,
                                static_cast<int64_t>(random() % 100) - 50,
                                static_cast<int64_t>(random() % 9) + 1};
      const absl::StatusOr<int64_t> expected =
          e.Evaluate({{"i0", values[0]}, {"r0", values[1]}, {"n", values[2]}});
      ASSERT_TRUE(expected.ok()) << expected.status();
      Fault fault = Fault::kNone;
      ASSERT_EQ(program.Evaluate(values, &fault), *expected) << text;
      ASSERT_EQ(fault, Fault::kNone);
    }
  }
}

TEST(IndexProgramTest, ReportsFaults) {
  const int64_t values[] = {INT64_MAX, -1, 0};
  const auto fault_of = [&](std::string_view text) {
    Fault fault = Fault::kNone;
    EXPECT_EQ(IndexProgram(Parse(text), kSlots).Evaluate(values, &fault), 0);
    return fault;
  };
  EXPECT_EQ(fault_of("2*i0"), Fault::kOverflow);
  EXPECT_EQ(fault_of("i0 + 1"), Fault::kOverflow);
  EXPECT_EQ(fault_of("i0*i0"), Fault::kOverflow);
  EXPECT_EQ(fault_of("floordiv(i0, n)"), Fault::kBadDivisor);
  EXPECT_EQ(fault_of("mod(i0, r0)"), Fault::kBadDivisor);
}

TEST(IndexProgramTest, DefaultIsZero) {
  Fault fault = Fault::kNone;
  EXPECT_EQ(IndexProgram().Evaluate(nullptr, &fault), 0);
  EXPECT_EQ(fault, Fault::kNone);
}

TEST(IndexProgramDeathTest, UnknownVariable) {
  EXPECT_DEATH(IndexProgram(Parse("i0 + x"), kSlots), "no slot for variable x");
}

}  // namespace
}  // namespace stax
