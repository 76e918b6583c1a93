#include "compiler/lowering/split_reduction.h"

#include "gtest/gtest.h"

namespace stax {
namespace {

// A sum over the dims flagged of a row-major tensor.
LoopNest SumNest(const std::vector<IndexExpr>& dims, const std::vector<bool>& reduced,
                 const std::vector<SizeSymbol>& symbols = {}) {
  LoopNest nest;
  nest.name = "sum";
  nest.symbols = symbols;
  IndexExpr flat = 0, out = 0;
  for (size_t d = 0; d < dims.size(); ++d) {
    const std::string name = (reduced[d] ? "r" : "i") + std::to_string(d);
    nest.dims.push_back({name, dims[d], reduced[d]});
    flat = flat * dims[d] + IndexExpr::Var(name);
    if (!reduced[d]) out = out * dims[d] + IndexExpr::Var(name);
  }
  BodyBuilder body(&nest);
  const int x = body.Buffer("x", DType::kF32, Product(dims), false);
  const ValueId sum = body.Reduce(ReduceKind::kSum, body.Load(x, flat));
  body.Store(body.Buffer("y", DType::kF32, nest.LoopNumel(), true), out, sum);
  return nest;
}

struct Case {
  const char* name;
  const char* target;
  std::vector<IndexExpr> dims;
  std::vector<bool> reduced;
  std::vector<int> whole;  // expected
  int cut;                 // -1: none
  int64_t pieces, chunk;
};

class ChooseSplitTest : public testing::TestWithParam<Case> {};

TEST_P(ChooseSplitTest, IsAsExpected) {
  const Case& c = GetParam();
  const LoopNest nest = SumNest(c.dims, c.reduced);
  const std::optional<SplitPlan> plan = ChooseSplit(nest, false, ParseTarget(c.target).value());
  ASSERT_EQ(plan.has_value(), c.cut >= 0 || !c.whole.empty());
  if (!plan.has_value()) return;
  EXPECT_EQ(plan->whole, c.whole);
  EXPECT_EQ(plan->cut.value_or(-1), c.cut);
  if (c.cut < 0) return;
  EXPECT_EQ(plan->pieces, c.pieces);
  EXPECT_EQ(plan->chunk, c.chunk);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, ChooseSplitTest,
    testing::Values(
        Case{"Example11", "cuda", {64, 128}, {false, true}, {}, -1, 0, 0},
        Case{"Example62", "cuda", {64, 16384}, {false, true}, {}, 1, 2, 8192},
        Case{"Example62OnA100", "cuda:sm_80", {64, 16384}, {false, true}, {}, 1, 2, 8192},
        Case{"Example62OnCpu", "cpu", {64, 16384}, {false, true}, {}, 1, 2, 8192},
        Case{"Rows8x16M", "cuda", {8, 1 << 24}, {false, true}, {}, 1, 2048, 8192},
        Case{"EnoughRows", "cuda", {512, 262144}, {false, true}, {}, -1, 0, 0},
        Case{"Columns", "cuda", {65536, 1024}, {true, false}, {}, 0, 128, 512},
        Case{"EnoughColumns", "cuda", {4096, 1 << 17}, {true, false}, {}, -1, 0, 0},
        Case{"SmallColumns", "cuda", {200, 500}, {true, false}, {}, -1, 0, 0},
        Case{"Everything", "cuda", {65536, 1024}, {true, true}, {}, 0, 8192, 8},
        Case{"FewElements", "cuda", {1, 40000}, {false, true}, {}, -1, 0, 0},
        Case{"PrimeRow", "cuda", {1, 100003}, {false, true}, {}, 1, 12, 8384},
        Case{"VeryLongRow", "cuda", {1, 1 << 28}, {false, true}, {}, 1, 8192, 32768},
        Case{"BatchStatistics", "cuda", {32, 64, 56, 56}, {true, false, true, true}, {}, 0, 16, 2},
        Case{"WholeDim", "cuda", {3, 1 << 20}, {true, true}, {0}, 1, 128, 8192}),
    [](const auto& info) { return info.param.name; });

TEST(ChooseSplitTest, SymbolicLengthIsJudgedAtItsHint) {
  const IndexExpr n = IndexExpr::Var("n");
  for (const int64_t hint : {1000, 16384, 100000}) {
    const LoopNest nest = SumNest({64, n}, {false, true}, {{"n", 2, 1 << 24, hint}});
    const auto plan = ChooseSplit(nest, false, ParseTarget("cuda").value());
    ASSERT_EQ(plan.has_value(), hint >= 16384);
    if (!plan.has_value()) continue;
    EXPECT_EQ(plan->pieces, hint / 8192);
    EXPECT_EQ(plan->chunk, 64 * CeilDiv(n, 64 * plan->pieces));  // aligned, and covers n
  }
}

}  // namespace
}  // namespace stax
