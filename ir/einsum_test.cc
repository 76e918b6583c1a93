#include "ir/einsum.h"

#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/testing/graph_values.h"

namespace stax {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Tensor = GraphBuilder::Tensor;

std::string Parsed(std::string_view text, const std::vector<int>& ranks) {
  const auto equation = ParseEinsum(text, ranks);
  return equation.ok() ? equation->ToString() : std::string(equation.status().message());
}

TEST(ParseEinsumTest, ExplicitAndImplicitResults) {
  EXPECT_EQ(Parsed("ij,jk->ik", {2, 2}), "ij,jk->ik");
  EXPECT_EQ(Parsed(" i j , j k -> k i ", {2, 2}), "ij,jk->ki");
  EXPECT_EQ(Parsed("kj,ji", {2, 2}), "kj,ji->ik");  // sorted
  EXPECT_EQ(Parsed("ba", {2}), "ba->ab");
  EXPECT_EQ(Parsed("Ab", {2}), "Ab->Ab");  // capitals first
  EXPECT_EQ(Parsed("ii", {2}), "ii->");
  EXPECT_EQ(Parsed(",->", {0, 0}), ",->");
  EXPECT_EQ(Parsed("", {0}), "->");
}

TEST(ParseEinsumTest, EllipsesGetFreshLettersAlignedAtTheEnd) {
  EXPECT_EQ(Parsed("...ij,...jk->...ik", {4, 3}), "abij,bjk->abik");
  EXPECT_EQ(Parsed("a...,b...", {2, 3}), "ad,bcd->cdab");
  EXPECT_EQ(Parsed("i...->...", {3}), "iab->ab");
  EXPECT_EQ(Parsed("i...->i", {1}), "i->i");
}

TEST(ParseEinsumTest, Errors) {
  EXPECT_EQ(Parsed("ij,jk", {2}), "equation 'ij,jk': terms for 2 operands, but there are 1");
  EXPECT_EQ(Parsed("ij->i", {3}), "equation 'ij->i': operand 0 has rank 3, its term has 2 labels");
  EXPECT_EQ(Parsed("ij...->i", {1}),
            "equation 'ij...->i': operand 0 has rank 1, its term has 2 labels");
  EXPECT_EQ(Parsed("i1->i", {2}), "equation 'i1->i': '1' is neither a letter nor part of '...'");
  EXPECT_EQ(Parsed("i..->i", {2}), "equation 'i..->i': '.' is neither a letter nor part of '...'");
  EXPECT_EQ(Parsed("...i...", {3}), "equation '...i...': two ellipses in one term");
  EXPECT_EQ(Parsed("i->j", {1}), "equation 'i->j': label 'j' of the result occurs in no operand");
  EXPECT_EQ(Parsed("i->ii", {1}), "equation 'i->ii': label 'i' occurs twice in the result");
  EXPECT_EQ(Parsed("i->i->i", {1}), "equation 'i->i->i': '->' occurs more than once");
  EXPECT_EQ(Parsed("...i->i", {2}),
            "equation '...i->i': the result lacks '...' though an operand's stands for dims");
  EXPECT_EQ(Parsed("i...", {60}), "equation 'i...': more than 52 different dims");
}

// The definition: for every value of every label, the product of the operands' elements is added to
// the result's element. `equation` is explicit, without ellipsis; a dim of size 1 is repeated.
std::vector<double> ByDefinition(const std::string& equation,
                                 const std::vector<std::vector<int64_t>>& dims,
                                 const std::vector<std::vector<double>>& values) {
  const size_t arrow = equation.find("->");
  const std::string result = equation.substr(arrow + 2);
  std::vector<std::string> terms(1);
  for (char c : equation.substr(0, arrow)) {
    if (c == ',') {
      terms.emplace_back();
    } else {
      terms.back() += c;
    }
  }
  std::map<char, int64_t> size, at;
  for (size_t k = 0; k < terms.size(); ++k) {
    for (size_t d = 0; d < terms[k].size(); ++d) {
      int64_t& s = size.emplace(terms[k][d], 1).first->second;
      if (dims[k][d] != 1) s = dims[k][d];
    }
  }
  int64_t points = 1, result_size = 1;
  for (const auto& [label, s] : size) points *= s;
  for (char label : result) result_size *= size[label];
  std::vector<double> sums(result_size, 0.0);
  for (int64_t point = 0; point < points; ++point) {
    int64_t rest = point;
    for (const auto& [label, s] : size) {
      at[label] = rest % s;
      rest /= s;
    }
    double product = 1;
    for (size_t k = 0; k < terms.size(); ++k) {
      int64_t position = 0;
      for (size_t d = 0; d < terms[k].size(); ++d) {
        position = position * dims[k][d] + (dims[k][d] == 1 ? 0 : at[terms[k][d]]);
      }
      product *= values[k][position];
    }
    int64_t position = 0;
    for (char label : result) position = position * size[label] + at[label];
    sums[position] += product;
  }
  return sums;
}

struct Case {
  std::string equation;
  std::string plain;  // the same without ellipsis and implicit result
  std::vector<std::vector<int64_t>> dims;
};

class EinsumTest : public ::testing::TestWithParam<Case> {};

TEST_P(EinsumTest, MatchesDefinition) {
  const Case& c = GetParam();
  GraphBuilder b("einsum");
  std::vector<Tensor> operands;
  std::vector<std::vector<double>> values;
  int next = 0;
  for (const std::vector<int64_t>& dims : c.dims) {
    int64_t count = 1;
    for (int64_t dim : dims) count *= dim;
    std::vector<double> elements;
    for (int64_t i = 0; i < count; ++i) elements.push_back(++next * 7 % 11 - 4);
    operands.push_back(Values(b, DType::kI32, dims, elements));
    values.push_back(elements);
  }
  EXPECT_EQ(Evaluate(b, b.Einsum(c.equation, operands)), ByDefinition(c.plain, c.dims, values));
}

INSTANTIATE_TEST_SUITE_P(
    Equations, EinsumTest,
    ::testing::Values(Case{"ij,jk->ik", "ij,jk->ik", {{2, 3}, {3, 4}}},
                      Case{"ij,kj", "ij,kj->ik", {{2, 3}, {4, 3}}},
                      Case{"bij,bjk->bki", "bij,bjk->bki", {{2, 3, 4}, {2, 4, 2}}},
                      Case{"i,i", "i,i->", {{5}, {5}}}, Case{"i,j->ji", "i,j->ji", {{2}, {3}}},
                      Case{"i,j", "i,j->ij", {{2}, {3}}}, Case{",ij", ",ij->ij", {{}, {2, 3}}},
                      Case{"ij,ij->i", "ij,ij->i", {{3, 2}, {3, 2}}},
                      Case{"ij,ij->ij", "ij,ij->ij", {{3, 2}, {3, 2}}},
                      // Labels of one operand only that are summed.
                      Case{"ijx,jky->ik", "ijx,jky->ik", {{2, 3, 2}, {3, 4, 3}}},
                      Case{"i,j->", "i,j->", {{3}, {4}}},
                      // One operand.
                      Case{"ij->ji", "ij->ji", {{2, 3}}}, Case{"ij->", "ij->", {{2, 3}}},
                      Case{"ii->i", "ii->i", {{3, 3}}}, Case{"ii", "ii->", {{3, 3}}},
                      Case{"iii->i", "iii->i", {{3, 3, 3}}},
                      Case{"ijij->ji", "ijij->ji", {{2, 3, 2, 3}}},
                      Case{"iij,ik->jk", "iij,ik->jk", {{2, 2, 3}, {2, 4}}},
                      Case{"ii->i", "ii->i", {{1, 1}}}, Case{"ii->i", "ii->i", {{0, 0}}},
                      // Ellipses and dims of size 1.
                      Case{"...ij,...jk", "abij,bjk->abik", {{2, 3, 2, 2}, {3, 2, 2}}},
                      Case{"...ij,...jk->...ik", "abij,abjk->abik", {{2, 1, 2, 2}, {1, 3, 2, 2}}},
                      Case{"...i->...", "abi->ab", {{2, 3, 2}}},
                      Case{"i...,i...->...", "iab,ib->ab", {{2, 3, 2}, {2, 2}}},
                      Case{"ij,ij->ij", "ij,ij->ij", {{1, 3}, {2, 1}}},
                      Case{"i,i->", "i,i->", {{1}, {4}}},
                      // More operands.
                      Case{"ij,jk,kl->il", "ij,jk,kl->il", {{2, 3}, {3, 2}, {2, 4}}},
                      Case{"bi,ijk,bk->bj", "bi,ijk,bk->bj", {{2, 3}, {3, 4, 2}, {2, 2}}},
                      Case{"i,i,i->i", "i,i,i->i", {{3}, {3}, {3}}},
                      Case{"i,j,k->kij", "i,j,k->kij", {{2}, {3}, {2}}},
                      Case{"a,b,ab,c->c", "a,b,ab,c->c", {{2}, {3}, {2, 3}, {2}}},
                      // Sums of nothing.
                      Case{"ij,jk->ik", "ij,jk->ik", {{2, 0}, {0, 3}}}));

TEST(EinsumOpTest, HasTwoOperandsAndNoRepeatedOrLonelyLabels) {
  GraphBuilder b("ops");
  const Tensor x = b.Input("x", DType::kF32, {4, 3, 3, 5});
  const Tensor y = b.Input("y", DType::kF32, {1, 5, 7});
  b.Output("z", b.Einsum("...iij,...jk->...k", {x, y}));
  const std::string text = ToText(*b.Build());
  // The diagonal is a view, i is summed first, the dim of size 1 is dropped.
  EXPECT_THAT(text, HasSubstr("slice"));
  EXPECT_THAT(text, HasSubstr("reduce.sum"));
  EXPECT_THAT(text, HasSubstr("\"aj,jk->ak\""));
}

TEST(MatMulTest, Ranks) {
  const auto product = [](const std::vector<int64_t>& da, const std::vector<double>& a,
                          const std::vector<int64_t>& db, const std::vector<double>& v) {
    GraphBuilder b("matmul");
    return Evaluate(b, b.MatMul(Values(b, DType::kI32, da, a), Values(b, DType::kI32, db, v)));
  };
  EXPECT_THAT(product({2, 2}, {1, 2, 3, 4}, {2, 2}, {5, 6, 7, 8}), ElementsAre(19, 22, 43, 50));
  EXPECT_THAT(product({2, 2}, {1, 2, 3, 4}, {2}, {5, 6}), ElementsAre(17, 39));
  EXPECT_THAT(product({2}, {5, 6}, {2, 2}, {1, 2, 3, 4}), ElementsAre(23, 34));
  EXPECT_THAT(product({2}, {5, 6}, {2}, {1, 2}), ElementsAre(17));
  EXPECT_THAT(product({2, 1, 1}, {1, 2}, {1, 2}, {3, 4}), ElementsAre(3, 4, 6, 8));
  EXPECT_THAT(product({2, 1, 1, 1}, {1, 2}, {3, 1, 1}, {3, 4, 5}), ElementsAre(3, 4, 5, 6, 8, 10));
  EXPECT_THAT(product({2, 1, 2}, {1, 2, 3, 4}, {2}, {5, 6}), ElementsAre(17, 39));
  EXPECT_THAT(product({2, 0}, {}, {0, 2}, {}), ElementsAre(0, 0, 0, 0));
}

TEST(MatMulTest, IntegersWrapAndHalvesRoundOnce) {
  GraphBuilder ints("ints"), halves("halves");
  // 100 * 100 + 100 * 100 = 20000 = 78 * 256 + 32.
  EXPECT_THAT(Evaluate(ints, ints.MatMul(Values(ints, DType::kI8, {1, 2}, {100, 100}),
                                         Values(ints, DType::kI8, {2, 1}, {100, 100}))),
              ElementsAre(32));
  // 2048 + 1 + 1 = 2050 is an f16; 2048 + 1 is not and would round to 2048.
  EXPECT_THAT(Evaluate(halves, halves.MatMul(Values(halves, DType::kF16, {1, 3}, {2048, 1, 1}),
                                             Values(halves, DType::kF16, {3, 1}, {1, 1, 1}))),
              ElementsAre(2050));
}

TEST(MatMulTest, BroadcastBatchDimsAreNotExpanded) {
  GraphBuilder b("batch");
  b.Symbol({"n", 2, 64, 8});
  const IndexExpr n = IndexExpr::Var("n");
  const Tensor x = b.Input("x", DType::kF16, {n, 12, 5, 8});
  const Tensor y = b.Input("y", DType::kF16, {1, 12, 8, 9});
  const Tensor z = b.MatMul(x, y);
  EXPECT_EQ(b.dims(z), (Dims{n, 12, 5, 9}));
  b.Output("z", z);
  EXPECT_EQ(ToText(*b.Build()), R"(graph batch {
  symbol n: 2 to 64, hint 8
  x = input : f16[n, 12, 5, 8]
  y = input : f16[1, 12, 8, 9]
  %2 = reshape y : f16[12, 8, 9]
  z = einsum x, %2, "bamk,akn->bamn" : f16[n, 12, 5, 9]
  output z = z
}
)");
}

}  // namespace
}  // namespace stax
