#include "ir/index_expr.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace stax {
namespace {

IndexExpr Var(const char* name) { return IndexExpr::Var(name); }
IndexExpr Parsed(const std::string& text) { return IndexExpr::Parse(text).value(); }

TEST(IndexExprTest, CollectsLikeTerms) {
  const IndexExpr i = Var("i0"), j = Var("i1");
  EXPECT_EQ((8192 * (2 * i + j)).ToString(), "16384*i0 + 8192*i1");
  EXPECT_EQ(8192 * (2 * i + j), 16384 * i + 8192 * j);
  EXPECT_EQ((i + j - i).ToString(), "i1");
  EXPECT_EQ((i - i).ToString(), "0");
  EXPECT_EQ(((i + 1) * (i - 1)).ToString(), "i0*i0 - 1");
  EXPECT_EQ(((i + j) * (i + j) - 2 * i * j).ToString(), "i0*i0 + i1*i1");
}

TEST(IndexExprTest, OrdersTermsByDegreeThenAtomsAndConstantLast) {
  EXPECT_EQ(Parsed("3 + i1 + i0*n").ToString(), "n*i0 + i1 + 3");
  EXPECT_EQ(Parsed("i10 + i9 + batch").ToString(), "batch + i9 + i10");
  EXPECT_EQ(Parsed("mod(i, 4) + floordiv(i, 4) + i").ToString(), "i + floordiv(i, 4) + mod(i, 4)");
  EXPECT_EQ(Parsed("b - a - 1").ToString(), "-a + b - 1");
}

TEST(IndexExprTest, OrderIsByContent) {
  // Built in two orders, so pointers and creation times differ.
  std::vector<IndexExpr> one, two;
  const std::vector<std::string> texts = {"i10", "i2", "n*i0", "5", "-i2", "mod(i2, 3)", "n"};
  for (const std::string& text : texts) one.push_back(Parsed(text));
  for (auto it = texts.rbegin(); it != texts.rend(); ++it) two.push_back(Parsed(*it));
  std::sort(one.begin(), one.end());
  std::sort(two.begin(), two.end());
  EXPECT_EQ(one, two);
  for (size_t i = 0; i + 1 < one.size(); ++i) {
    EXPECT_TRUE(one[i] < one[i + 1]);
    EXPECT_FALSE(one[i + 1] < one[i]);
  }
}

TEST(IndexExprTest, AppliesContextFreeRules) {
  const struct {
    const char* text;
    const char* canonical;
  } kCases[] = {
      {"floordiv(i, 1)", "i"},
      {"mod(i, 1)", "0"},
      {"floordiv(-7, 2)", "-4"},
      {"mod(-7, 2)", "1"},
      {"floordiv(0, n)", "0"},
      {"floordiv(n*i + j, n)", "i + floordiv(j, n)"},
      {"mod(n*i + j, n)", "mod(j, n)"},
      {"floordiv(9*i + 13, 4)", "2*i + floordiv(i + 1, 4) + 3"},
      {"mod(9*i + 13, 4)", "mod(i + 1, 4)"},
      {"mod(-10*i, 11)", "mod(i, 11)"},
      {"floordiv(4*i, 8)", "floordiv(i, 2)"},
      {"floordiv(4*i + 3, 8)", "floordiv(i, 2)"},
      {"mod(4*i + 3, 8)", "4*mod(i, 2) + 3"},
      {"floordiv(floordiv(i, 4), 3)", "floordiv(i, 12)"},
      {"floordiv(floordiv(i, 4) + j, 3)", "floordiv(i + 4*j, 12)"},
      {"floordiv(floordiv(i, n), m)", "floordiv(i, m*n)"},
      {"mod(mod(i, 12), 4)", "mod(i, 4)"},
      {"mod(mod(i, m*n), n)", "mod(i, n)"},
      {"mod(mod(i, 4), 12)", "mod(i, 4)"},
      {"floordiv(mod(i, 12), 4)", "mod(floordiv(i, 4), 3)"},
      {"floordiv(mod(i, n), n)", "0"},
      {"floordiv(n + 3, n)", "floordiv(3, n) + 1"},
      {"floordiv(n - 1, n)", "0"},
      {"mod(n - 1, n)", "n - 1"},
      {"min(n, n - 1)", "n - 1"},
      {"min(n, min(m, n))", "min(m, n)"},
      {"max(b, max(a, max(b, c)))", "max(a, max(b, c))"},
      {"max(3, max(i, 5))", "max(5, i)"},
      // Where a rule would leave int64 it does not apply.
      {"floordiv(i - 9223372036854775807, 2)", "floordiv(i - 9223372036854775807, 2)"},
      {"mod(9223372036854775807*i, 9223372036854775806)", "mod(i, 9223372036854775806)"},
      {"mod(-9223372036854775807*i, 4611686018427387905)",
       "mod(-9223372036854775807*i, 4611686018427387905)"},
      {"floordiv(floordiv(i, 9223372036854775807), 4)",
       "floordiv(floordiv(i, 9223372036854775807), 4)"},
  };
  for (const auto& [text, canonical] : kCases)
    EXPECT_EQ(Parsed(text).ToString(), canonical) << text;
  EXPECT_EQ(CeilDiv(Var("n"), 32).ToString(), "floordiv(n + 31, 32)");
  EXPECT_EQ(Product({2, Var("n"), 3}).ToString(), "6*n");
  EXPECT_EQ(Product({}).ToString(), "1");
}

TEST(IndexExprTest, TellsConstantsAndVariables) {
  EXPECT_EQ(Parsed("2*3 - 1").AsConst(), 5);
  EXPECT_EQ(Parsed("n").AsConst(), std::nullopt);
  EXPECT_EQ(Parsed("n").AsVar(), "n");
  EXPECT_EQ(Parsed("2*n").AsVar(), std::nullopt);
  EXPECT_EQ(Parsed("n + 1").AsVar(), std::nullopt);
  EXPECT_EQ(Parsed("n*n").AsVar(), std::nullopt);
  EXPECT_EQ(Parsed("n*mod(i, m) + 3").Vars(), (std::set<std::string>{"i", "m", "n"}));
  EXPECT_TRUE(Parsed("n*mod(i, m)").Mentions("i"));
  EXPECT_FALSE(Parsed("n*mod(i, m)").Mentions("j"));
}

TEST(IndexExprTest, SubstitutesSimultaneously) {
  const IndexExpr e = Parsed("8*i + j + mod(i, 4)");
  EXPECT_EQ(e.Substitute({{"i", Var("j")}, {"j", Var("i")}}), Parsed("8*j + i + mod(j, 4)"));
  EXPECT_EQ(e.Substitute({{"i", 5}}), Parsed("j + 41"));
  EXPECT_EQ(e.Substitute({}), e);
}

TEST(IndexExprTest, Evaluates) {
  const IndexExpr e = Parsed("n*i + floordiv(i - 7, 4) + mod(i - 7, 4)");
  EXPECT_EQ(e.Evaluate({{"n", 10}, {"i", 2}}).value(), 20 - 2 + 3);
  EXPECT_EQ(e.Evaluate({{"i", 2}}).status(),
            absl::FailedPreconditionError("no value for variable 'n'"));
  EXPECT_EQ(Parsed("mod(i, n - 2)").Evaluate({{"n", 2}, {"i", 2}}).status(),
            absl::InvalidArgumentError("the divisor n - 2 is 0, but a divisor must be positive"));
  EXPECT_EQ(Parsed("n*n*n").Evaluate({{"n", int64_t{1} << 30}}).status(),
            absl::OutOfRangeError("the value of n*n*n does not fit in int64"));
  // Sums may leave int64 on the way.
  EXPECT_EQ(Parsed("n + m - k").Evaluate({{"n", INT64_MAX}, {"m", 5}, {"k", 5}}).value(),
            INT64_MAX);
}

TEST(IndexExprTest, FindsStrides) {
  EXPECT_EQ(Parsed("n*i + 4*j + 3").StrideOf("i"), Var("n"));
  EXPECT_EQ(Parsed("n*i + 4*j + 3").StrideOf("j"), IndexExpr(4));
  EXPECT_EQ(Parsed("n*i + m*i").StrideOf("i"), Parsed("m + n"));
  EXPECT_EQ(Parsed("n*i").StrideOf("k"), IndexExpr(0));
  EXPECT_EQ(Parsed("i*i").StrideOf("i"), std::nullopt);
  EXPECT_EQ(Parsed("mod(i, 4)").StrideOf("i"), std::nullopt);
  EXPECT_EQ(Parsed("j*mod(i, 4)").StrideOf("j"), Parsed("mod(i, 4)"));
}

TEST(IndexExprTest, ParsesOperators) {
  EXPECT_EQ(Parsed("i // 32 % n"), Mod(FloorDiv(Var("i"), 32), Var("n")));
  EXPECT_EQ(Parsed("i * 3 // 4"), FloorDiv(3 * Var("i"), 4));
  EXPECT_EQ(Parsed("a - b - c"), Var("a") - Var("b") - Var("c"));
  EXPECT_EQ(Parsed("--a"), Var("a"));
  EXPECT_EQ(Parsed("-a * -b"), Var("a") * Var("b"));
  EXPECT_EQ(Parsed(" ( ( a+1 ) )*2\n"), 2 * Var("a") + 2);
  EXPECT_EQ(Parsed("min + mod.x_1"), Var("min") + Var("mod.x_1"));
  EXPECT_EQ(Parsed("-9223372036854775807*a - 9223372036854775807").ToString(),
            "-9223372036854775807*a - 9223372036854775807");
}

TEST(IndexExprTest, ParseErrorsNamePositionAndExpectation) {
  const std::string deep(300, '('), many(70000, '1');
  std::string product = "(a + b0)";
  for (int i = 1; i < 20; ++i) product += "*(a + b" + std::to_string(i) + ")";
  const struct {
    std::string text;
    std::string message;
  } kCases[] = {
      {"", "column 1: expected a number, a name or '(', found the end"},
      {"i0 - 2 -", "column 9: expected a number, a name or '(', found the end"},
      {"i0 + * 2", "column 6: expected a number, a name or '(', found '*'"},
      {"i0 i1", "column 4: expected an operator or the end, found 'i'"},
      {"a \x01", "column 3: expected an operator or the end, found 'byte 1'"},
      {"(a", "column 3: expected an operator or ')', found the end"},
      {"a)", "column 2: expected an operator or the end, found ')'"},
      {"mod(a)", "column 6: expected an operator or ',', found ')'"},
      {"mod(a, b, c)", "column 9: expected an operator or ')', found ','"},
      {"log(a, b)", "column 1: unknown function 'log', expected floordiv, mod, min or max"},
      {"a // 0", "column 6: a divisor must be positive, found 0"},
      {"mod(a, 3 - 5)", "column 10: a divisor must be positive, found -2"},
      {"9223372036854775808", "column 1: the number does not fit in int64"},
      {"4294967296*a*4294967296", "column 14: a coefficient does not fit in int64"},
      {"9223372036854775807 + 1", "column 21: a coefficient does not fit in int64"},
      {deep, "column 201: nested deeper than 200"},
      {many, "column 65537: longer than 65536 bytes"},
  };
  for (const auto& [text, message] : kCases) {
    EXPECT_EQ(IndexExpr::Parse(text).status(),
              absl::InvalidArgumentError("index expression, " + message))
        << text.substr(0, 40);
  }
  EXPECT_EQ(IndexExpr::Parse(product).status().code(), absl::StatusCode::kInvalidArgument);
}

using IndexExprDeathTest = testing::Test;

TEST(IndexExprDeathTest, OverflowAndBadDivisorsAreProgrammerErrors) {
  const IndexExpr big = INT64_MAX * Var("n");
  EXPECT_DEATH(big + big, "overflows int64");
  EXPECT_DEATH(big * 2, "overflows int64");
  EXPECT_DEATH(FloorDiv(Var("n"), 0), "the divisor of n is 0");
  EXPECT_DEATH(Mod(Var("n"), -4), "the divisor of n is -4");
  EXPECT_DEATH(Var("n").ConstOrDie(), "n");
}

}  // namespace
}  // namespace stax
