#include "compiler/schedule/match_dims.h"

#include <string>

#include "gtest/gtest.h"

namespace stax {
namespace {

// Copies `from` to `to` over the dims given as "i0: 4" or "r0: 4"; indices row-major or as given.
LoopNest Copy(const std::string& from, const std::string& to,
              const std::vector<std::pair<std::string, IndexExpr>>& dims,
              const std::optional<IndexExpr>& load_index = std::nullopt) {
  LoopNest nest;
  nest.name = "copy";
  nest.symbols = {{"n", 2, 100, 8}};
  IndexExpr flat = 0, out = 0;
  for (const auto& [name, extent] : dims) {
    const bool reduce = name[0] == 'r';
    nest.dims.push_back({name, extent, reduce});
    flat = flat * extent + IndexExpr::Var(name);
    if (!reduce) out = out * extent + IndexExpr::Var(name);
  }
  BodyBuilder body(&nest);
  IndexExpr numel = 1;
  for (const LoopDim& d : nest.dims) numel = numel * d.extent;
  ValueId value =
      body.Load(body.Buffer(from, DType::kF32, numel, false), load_index.value_or(flat));
  if (nest.HasReduction()) value = body.Reduce(ReduceKind::kSum, value);
  body.Store(body.Buffer(to, DType::kF32, nest.LoopNumel(), true), out, value);
  return nest;
}

std::string Text(const DimMatch& match) {
  std::string text;
  for (const LoopDim& d : match.dims) text += d.name + ":" + d.extent.ToString() + " ";
  text += "|";
  for (const auto& [name, e] : match.first_vars) text += " " + name + "=" + e.ToString();
  text += " |";
  for (const auto& [name, e] : match.second_vars) text += " " + name + "=" + e.ToString();
  return text;
}

std::string FirstMatch(const LoopNest& a, const LoopNest& b) {
  const std::vector<DimMatch> matches = MatchDims(a, b);
  return matches.empty() ? "none" : Text(matches[0]);
}

TEST(MatchDimsTest, EqualDims) {
  EXPECT_EQ(
      FirstMatch(Copy("x", "y", {{"i0", 3}, {"i1", 5}}), Copy("y", "z", {{"i0", 3}, {"i1", 5}})),
      "i0:3 i1:5 | i0=i0 i1=i1 | i0=i0 i1=i1");
}

TEST(MatchDimsTest, CommonRefinement) {
  EXPECT_EQ(FirstMatch(Copy("x", "y", {{"i0", 24}, {"i1", 10}}),
                       Copy("y", "z", {{"i0", 4}, {"i1", 12}, {"i2", 5}})),
            "i0:4 i1:6 i2:2 i3:5 | i0=6*i0 + i1 i1=5*i2 + i3 | i0=i0 i1=2*i1 + i2 i2=i3");
}

TEST(MatchDimsTest, SymbolicRefinement) {
  const IndexExpr n = IndexExpr::Var("n");
  EXPECT_EQ(FirstMatch(Copy("x", "y", {{"i0", 4 * n}, {"i1", 10}}),
                       Copy("y", "z", {{"i0", 4}, {"i1", n}, {"i2", 10}})),
            "i0:4 i1:n i2:10 | i0=n*i0 + i1 i1=i2 | i0=i0 i1=i1 i2=i2");
}

TEST(MatchDimsTest, DifferentSpaces) {
  EXPECT_EQ(FirstMatch(Copy("x", "y", {{"i0", 6}}), Copy("y", "z", {{"i0", 7}})), "none");
  EXPECT_EQ(FirstMatch(Copy("x", "y", {{"i0", 6}, {"i1", 4}}), Copy("y", "z", {{"i0", 6}})),
            "none");
  EXPECT_EQ(
      FirstMatch(Copy("x", "y", {{"i0", 4}, {"i1", 6}}), Copy("y", "z", {{"i0", 6}, {"i1", 5}})),
      "none");
}

TEST(MatchDimsTest, PointwiseTakesOverFlags) {
  EXPECT_EQ(FirstMatch(Copy("x", "m", {{"i0", 8}, {"r0", 100}}),
                       Copy("m", "z", {{"i0", 8}, {"i1", 100}}, IndexExpr::Var("i0"))),
            "i0:8 r0:100 | i0=i0 r0=r0 | i0=i0 i1=r0");
}

TEST(MatchDimsTest, PointwiseOncePerRow) {
  EXPECT_EQ(FirstMatch(Copy("x", "m", {{"i0", 8}, {"r0", 100}, {"i1", 3}}),
                       Copy("m", "z", {{"i0", 2}, {"i1", 12}})),
            "i0:2 i1:4 r0:100 i2:3 | i0=4*i0 + i1 i1=i2 r0=r0 | i0=i0 i1=3*i1 + i2");
}

TEST(MatchDimsTest, ReductionsOverDifferentDims) {
  EXPECT_EQ(
      FirstMatch(Copy("x", "a", {{"i0", 8}, {"r0", 8}}), Copy("x", "b", {{"r0", 8}, {"i0", 8}})),
      "none");
}

TEST(MatchDimsTest, TransposedReader) {
  const IndexExpr i0 = IndexExpr::Var("i0"), i1 = IndexExpr::Var("i1");
  const std::vector<DimMatch> matches = MatchDims(
      Copy("x", "y", {{"i0", 3}, {"i1", 5}}), Copy("y", "z", {{"i0", 5}, {"i1", 3}}, 5 * i1 + i0));
  ASSERT_EQ(matches.size(), 1);
  EXPECT_EQ(Text(matches[0]), "i0:3 i1:5 | i0=i0 i1=i1 | i0=i1 i1=i0");
}

}  // namespace
}  // namespace stax
