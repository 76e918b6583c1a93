#include "compiler/schedule/configurations.h"

#include <algorithm>
#include <string>

#include "compiler/schedule/choose_form.h"
#include "gtest/gtest.h"

namespace stax {
namespace {

// A sum over the last (rows) or first (columns) of two dims, or a pointwise op when `r` is 0.
LoopNest MakeNest(int64_t x, int64_t r, bool rows, DType type) {
  LoopNest nest;
  nest.name = "n";
  const IndexExpr i = IndexExpr::Var("i0"), j = IndexExpr::Var("r0");
  nest.dims.push_back({"i0", x, false});
  if (r > 0) nest.dims.push_back({"r0", r, true});
  BodyBuilder body(&nest);
  const IndexExpr at = r == 0 ? i : rows ? r * i + j : i + x * j;
  ValueId value = body.Load(body.Buffer("x", type, x * std::max<int64_t>(r, 1), false), at);
  if (r > 0) value = body.Reduce(ReduceKind::kMax, value);
  body.Store(body.Buffer("y", type, x, true), i, value);
  return nest;
}

Configurations Choose(const LoopNest& nest, const std::string& target_name) {
  const TargetSpec target = ParseTarget(target_name).value();
  const TileChoice tile = ChooseTile(nest, target);
  return ChooseConfigurations(nest, tile, ChooseForm(nest, tile.contraction, target), target);
}

bool Allowed(const Configurations& c, const Config& config) {
  for (const ConfigParameter& p : c.space)
    if (std::count(p.values.begin(), p.values.end(), config.at(p.name)) != 1) return false;
  for (const std::string& constraint : c.constraints)
    if (IndexExpr::Parse(constraint)->Evaluate(config).value() < 0) return false;
  return config.size() == c.space.size();
}

TEST(ConfigurationsTest, CandidatesAreFewAndAllowed) {
  for (const char* target : {"cuda", "cuda:sm_80", "cpu:x86-64-v3", "cpu:x86-64-v4"}) {
    for (const DType type : {DType::kI8, DType::kBF16, DType::kF32, DType::kF64}) {
      for (const int64_t x : {1, 2, 7, 64, 1000, 65536, 1 << 26}) {
        for (const int64_t r : {0, 1, 2, 33, 64, 128, 1000, 1024, 1025, 8192, 1 << 20}) {
          for (const bool rows : {true, false}) {
            const Configurations c = Choose(MakeNest(x, r, rows, type), target);
            SCOPED_TRACE(testing::Message() << target << " x " << x << " r " << r);
            ASSERT_GE(c.candidates.size(), 1);
            ASSERT_LE(c.candidates.size(), 6);
            for (const Config& config : c.candidates) ASSERT_TRUE(Allowed(c, config));
          }
        }
      }
    }
  }
}

TEST(ConfigurationsTest, LargePointwiseIsOneVectorAThread) {
  const Config f32 = Choose(MakeNest(1 << 26, 0, true, DType::kF32), "cuda").candidates[0];
  EXPECT_EQ(f32.at("WARPS"), 8);
  EXPECT_EQ(f32.at("XBLOCK"), 256 * 4);
  const Config bf16 = Choose(MakeNest(1 << 26, 0, true, DType::kBF16), "cuda").candidates[0];
  EXPECT_EQ(bf16.at("XBLOCK"), 256 * 8);
}

TEST(ConfigurationsTest, SmallPointwiseReachesManyMultiprocessors) {
  const Config c = Choose(MakeNest(16384, 0, true, DType::kF32), "cuda").candidates[0];
  EXPECT_GE(16384 / c.at("XBLOCK"), 100);
}

TEST(ConfigurationsTest, RowsOfABlock) {
  const Config row = Choose(MakeNest(65536, 1000, true, DType::kF32), "cuda").candidates[0];
  EXPECT_EQ(row, (Config{{"XBLOCK", 1}, {"RBLOCK", 1024}, {"WARPS", 4}}));
  const Config shorter = Choose(MakeNest(65536, 128, true, DType::kF32), "cuda").candidates[0];
  EXPECT_EQ(shorter, (Config{{"XBLOCK", 8}, {"RBLOCK", 128}, {"WARPS", 4}}));
  // Few rows: a block each.
  const Config few = Choose(MakeNest(64, 128, true, DType::kF32), "cuda").candidates[0];
  EXPECT_EQ(few, (Config{{"XBLOCK", 1}, {"RBLOCK", 128}, {"WARPS", 1}}));
}

TEST(ConfigurationsTest, LongRowsStream) {
  const Config c = Choose(MakeNest(16384, 8192, true, DType::kF32), "cuda").candidates[0];
  EXPECT_EQ(c, (Config{{"XBLOCK", 1}, {"RBLOCK", 8192}, {"WARPS", 16}}));
}

TEST(ConfigurationsTest, ColumnsAreWide) {
  const Config c = Choose(MakeNest(131072, 512, false, DType::kF32), "cuda").candidates[0];
  EXPECT_EQ(c, (Config{{"XBLOCK", 128}, {"RBLOCK", 64}, {"WARPS", 8}}));
}

TEST(ConfigurationsTest, PersistentRowsHaveNoChoiceOfRBlock) {
  for (const ConfigParameter& p : Choose(MakeNest(64, 1000, true, DType::kF32), "cuda").space) {
    if (p.name == "RBLOCK") {
      EXPECT_EQ(p.values, std::vector<int64_t>{1024});
    }
  }
}

TEST(ConfigurationsTest, CpuTilesAreAFewVectors) {
  for (const int64_t r : {0, 2000}) {
    for (const bool rows : {true, false}) {
      const Configurations c = Choose(MakeNest(4096, r, rows, DType::kF32), "cpu:x86-64-v3");
      for (const Config& config : c.candidates) {
        EXPECT_EQ(config.count("WARPS"), 0);
        int64_t elements = 1;
        for (const auto& [name, value] : config) elements *= value;
        EXPECT_LE(elements / 8, 32);
      }
    }
  }
}

}  // namespace
}  // namespace stax
