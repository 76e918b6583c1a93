#include "compiler/schedule/configurations.h"

#include <algorithm>
#include <string>
#include <vector>

#include "compiler/schedule/choose_form.h"
#include "compiler/schedule/kept_row.h"
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

// y[i0, r0] = x - max(x): each row is read twice. `loads` of such rows.
LoopNest KeptRows(int64_t rows, int64_t length, DType type, int loads = 1) {
  LoopNest nest;
  nest.name = "n";
  const IndexExpr at = length * IndexExpr::Var("i0") + IndexExpr::Var("r0");
  nest.dims = {{"i0", rows, false}, {"r0", length, true}};
  BodyBuilder body(&nest);
  for (int k = 0; k < loads; ++k) {
    const std::string n = std::to_string(k);
    const ValueId x = body.Load(body.Buffer("x" + n, type, rows * length, false), at);
    const ValueId max = body.Reduce(ReduceKind::kMax, x);
    const ValueId y = body.Op(OpCode::kSub, {x, max});
    body.Store(body.Buffer("y" + n, type, rows * length, true), at, y);
  }
  return nest;
}

TEST(KeptRowTest, WhatIsReadTwice) {
  EXPECT_EQ(FindKeptRow(KeptRows(8, 4096, DType::kBF16)).loads, 1);
  EXPECT_EQ(FindKeptRow(KeptRows(8, 4096, DType::kBF16)).bytes, 2);
  EXPECT_EQ(FindKeptRow(KeptRows(8, 4096, DType::kF32, 2)).loads, 2);
  EXPECT_EQ(FindKeptRow(KeptRows(8, 4096, DType::kF32, 2)).bytes, 8);
  EXPECT_EQ(FindKeptRow(MakeNest(8, 4096, true, DType::kF32)).loads, 0);
}

TEST(ConfigurationsTest, KeptRowsAreSpread) {
  const auto first = [](int64_t length, DType type, const char* target = "cuda") {
    const Config c = Choose(KeptRows(4096, length, type), target).candidates[0];
    EXPECT_EQ(c.at("XBLOCK"), 1);
    const int64_t cluster = c.count("CLUSTER") > 0 ? c.at("CLUSTER") : 0;
    return std::vector<int64_t>{c.at("WARPS"), cluster, c.at("MIN_BLOCKS")};
  };
  using Numbers = std::vector<int64_t>;
  // 65536 registers are 12 blocks of 128 threads of 16 + 24 registers each.
  EXPECT_EQ(first(2048, DType::kBF16), (Numbers{4, 1, 12}));
  EXPECT_EQ(first(4096, DType::kBF16), (Numbers{8, 1, 6}));
  EXPECT_EQ(first(8192, DType::kBF16), (Numbers{8, 1, 4}));
  EXPECT_EQ(first(32768, DType::kBF16), (Numbers{16, 1, 2}));
  EXPECT_EQ(first(65536, DType::kBF16), (Numbers{16, 2, 2}));
  EXPECT_EQ(first(262144, DType::kBF16), (Numbers{16, 8, 2}));
  EXPECT_EQ(first(8192, DType::kF32), (Numbers{16, 1, 3}));
  EXPECT_EQ(first(65536, DType::kF32), (Numbers{8, 4, 2}));
  EXPECT_EQ(first(32768, DType::kBF16, "cuda:sm_80"), (Numbers{16, 0, 2}));
}

TEST(ConfigurationsTest, CandidatesOfKeptRowsAreAllowed) {
  for (const char* target : {"cuda", "cuda:sm_80"}) {
    for (const DType type : {DType::kBF16, DType::kF32, DType::kF64}) {
      for (const int64_t length : {1025, 1500, 2048, 5000, 16384, 50257, 128256, 262144}) {
        for (const int loads : {1, 2, 3}) {
          const Configurations c = Choose(KeptRows(1000, length, type, loads), target);
          SCOPED_TRACE(testing::Message() << target << " " << length << " x " << loads);
          ASSERT_GE(c.candidates.size(), 1);
          ASSERT_LE(c.candidates.size(), 6);
          for (const Config& config : c.candidates) ASSERT_TRUE(Allowed(c, config));
        }
      }
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
