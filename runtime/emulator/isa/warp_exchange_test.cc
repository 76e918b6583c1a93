#include "runtime/emulator/isa/warp_exchange.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "runtime/emulator/isa/find_operation.h"
#include "runtime/emulator/isa/testing/operation_runner.h"
#include "runtime/emulator/isa/warp_operation.h"

namespace stax::isa {
namespace {

struct Warp {
  uint32_t lane[kWarpLanes];
};
Warp Same(uint32_t value) {
  Warp warp;
  std::fill_n(warp.lane, kWarpLanes, value);
  return warp;
}
Warp LaneNumbers() {
  Warp warp;
  for (uint32_t i = 0; i < kWarpLanes; ++i) warp.lane[i] = 100 + i;
  return warp;
}

TEST(WarpExchangeTest, ShufflesOfAWholeWarp) {
  const Warp a = LaneNumbers();
  Warp d = Same(0);
  // __shfl_down_sync(all, a, 4), __shfl_up_sync(all, a, 4), __shfl_xor_sync, __shfl_sync.
  ShuffleResult result =
      Shuffle(ShuffleMode::kDown, kAllLanes, a.lane, Same(4).lane, Same(0x1f).lane, d.lane);
  EXPECT_EQ(result.predicates, 0x0fffffffu);
  EXPECT_EQ(result.inactive_sources, 0u);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(d.lane[i], 100 + (i < 28 ? i + 4 : i));
  result = Shuffle(ShuffleMode::kUp, kAllLanes, a.lane, Same(4).lane, Same(0).lane, d.lane);
  EXPECT_EQ(result.predicates, 0xfffffff0u);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(d.lane[i], 100 + (i >= 4 ? i - 4 : i));
  result = Shuffle(ShuffleMode::kBfly, kAllLanes, a.lane, Same(5).lane, Same(0x1f).lane, d.lane);
  EXPECT_EQ(result.predicates, kAllLanes);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(d.lane[i], 100 + (i ^ 5));
  result = Shuffle(ShuffleMode::kIdx, kAllLanes, a.lane, Same(9).lane, Same(0x1f).lane, d.lane);
  for (const uint32_t value : d.lane) EXPECT_EQ(value, 109u);
}

TEST(WarpExchangeTest, ShufflesOfSegments) {
  const Warp a = LaneNumbers();
  Warp d = Same(0);
  // Width 8: the segment mask is 0x18, (32 - 8) << 8 | 0x1f.
  ShuffleResult result =
      Shuffle(ShuffleMode::kDown, kAllLanes, a.lane, Same(3).lane, Same(0x181f).lane, d.lane);
  EXPECT_EQ(result.predicates, 0x1f1f1f1fu);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(d.lane[i], 100 + (i % 8 < 5 ? i + 3 : i));
  result = Shuffle(ShuffleMode::kUp, kAllLanes, a.lane, Same(3).lane, Same(0x1800).lane, d.lane);
  EXPECT_EQ(result.predicates, 0xf8f8f8f8u);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(d.lane[i], 100 + (i % 8 >= 3 ? i - 3 : i));
  // The index counts within the segment.
  Shuffle(ShuffleMode::kIdx, kAllLanes, a.lane, Same(10).lane, Same(0x181f).lane, d.lane);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(d.lane[i], 100 + i / 8 * 8 + 2);
}

TEST(WarpExchangeTest, ShuffleFromLanesThatDoNotTakePart) {
  Warp a = LaneNumbers();
  // In place, and by distances of each lane's own.
  Warp b = Same(1);
  b.lane[2] = 2;
  const ShuffleResult result =
      Shuffle(ShuffleMode::kBfly, 0x0000000f & ~2u, a.lane, b.lane, Same(0x1f).lane, a.lane);
  EXPECT_EQ(result.inactive_sources, 1u);  // lane 0 reads lane 1
  EXPECT_EQ(result.predicates, 0xdu);
  EXPECT_EQ(a.lane[0], 101u);
  EXPECT_EQ(a.lane[1], 101u);  // untouched
  EXPECT_EQ(a.lane[2], 100u);  // what lane 0 had before
  EXPECT_EQ(a.lane[3], 102u);
  EXPECT_EQ(a.lane[4], 104u);
}

TEST(WarpExchangeTest, Votes) {
  EXPECT_EQ(Vote(VoteMode::kAll, 0xff, 0x1ff), 0xffu);
  EXPECT_EQ(Vote(VoteMode::kAll, 0xff, 0xfe), 0u);
  EXPECT_EQ(Vote(VoteMode::kAny, 0xff, 0x01), 0xffu);
  EXPECT_EQ(Vote(VoteMode::kAny, 0xff, 0x100), 0u);
  EXPECT_EQ(Vote(VoteMode::kUni, 0xff, 0x100), 0xffu);
  EXPECT_EQ(Vote(VoteMode::kUni, 0xff, 0xff), 0xffu);
  EXPECT_EQ(Vote(VoteMode::kUni, 0xff, 0x0f), 0u);
  EXPECT_EQ(Vote(VoteMode::kBallot, 0xff, 0xf0f), 0x0fu);
}

TEST(WarpExchangeTest, Matches) {
  Warp a = LaneNumbers();
  for (uint32_t& value : a.lane) value %= 3;
  Warp d = Same(7);
  const WarpOperation any = *FindWarpOperation("match.any.sync.b32");
  any.function(0x00ffffff, a.lane, nullptr, nullptr, d.lane);
  for (uint32_t i = 0; i < 32; ++i) {
    uint32_t expected = 0;
    for (uint32_t j = 0; j < 24; ++j) expected |= uint32_t{a.lane[i] == a.lane[j]} << j;
    EXPECT_EQ(d.lane[i], i < 24 ? expected : 7);
  }
  EXPECT_FALSE(MatchAll(kAllLanes, 4, a.lane, d.lane));
  EXPECT_EQ(d.lane[5], 0u);
  EXPECT_TRUE(MatchAll(0x49, 4, a.lane, d.lane));
  EXPECT_EQ(d.lane[6], 0x49u);
  uint64_t wide[kWarpLanes] = {};
  wide[3] = uint64_t{1} << 40;
  EXPECT_FALSE(MatchAll(kAllLanes, 8, wide, d.lane));
  EXPECT_TRUE(MatchAll(kAllLanes & ~8u, 8, wide, d.lane));
  const WarpOperation any64 = *FindWarpOperation("match.any.sync.b64");
  EXPECT_EQ(any64.source_bytes[0], 8);
  any64.function(kAllLanes, wide, nullptr, nullptr, d.lane);
  EXPECT_EQ(d.lane[3], 8u);
  EXPECT_EQ(d.lane[4], ~8u);
}

TEST(WarpExchangeTest, Reductions) {
  RandomBits random(1);
  for (int round = 0; round < 100; ++round) {
    Warp a = Same(0), d = Same(0);
    for (uint32_t& value : a.lane) value = static_cast<uint32_t>(random.Next());
    const uint32_t lanes = static_cast<uint32_t>(random.Next()) | 1;
    uint32_t sum = 0, all = ~0u, some = 0, odd = 0, min_u = ~0u, max_u = 0;
    int32_t min_s = INT32_MAX, max_s = INT32_MIN;
    for (int i = 0; i < kWarpLanes; ++i) {
      if ((lanes >> i & 1) == 0) continue;
      const uint32_t value = a.lane[i];
      sum += value;
      all &= value;
      some |= value;
      odd ^= value;
      min_u = std::min(min_u, value);
      max_u = std::max(max_u, value);
      min_s = std::min(min_s, static_cast<int32_t>(value));
      max_s = std::max(max_s, static_cast<int32_t>(value));
    }
    const auto check = [&](absl::string_view name, uint32_t expected) {
      const std::optional<WarpOperation> found = FindWarpOperation(name);
      ASSERT_TRUE(found.has_value()) << name;
      found->function(lanes, a.lane, nullptr, nullptr, d.lane);
      for (int i = 0; i < kWarpLanes; ++i) {
        if ((lanes >> i & 1) != 0) ASSERT_EQ(d.lane[i], expected) << name;
      }
    };
    check("redux.sync.add.u32", sum);
    check("redux.sync.add.s32", sum);
    check("redux.sync.and.b32", all);
    check("redux.sync.or.b32", some);
    check("redux.sync.xor.b32", odd);
    check("redux.sync.min.u32", min_u);
    check("redux.sync.max.u32", max_u);
    check("redux.sync.min.s32", static_cast<uint32_t>(min_s));
    check("redux.sync.max.s32", static_cast<uint32_t>(max_s));
  }
}

TEST(WarpExchangeTest, FloatReductions) {
  Warp a = Same(0x3f800000), d = Same(0);
  a.lane[3] = 0xc0000000;  // -2
  a.lane[4] = 0x7fc00000;  // NaN
  const auto reduce = [&](absl::string_view name) {
    FindWarpOperation(name)->function(kAllLanes, a.lane, nullptr, nullptr, d.lane);
    return d.lane[31];
  };
  EXPECT_EQ(reduce("redux.sync.min.f32"), 0xc0000000u);
  EXPECT_EQ(reduce("redux.sync.max.f32"), 0x3f800000u);
  EXPECT_EQ(reduce("redux.sync.max.abs.f32"), 0x40000000u);
  EXPECT_EQ(reduce("redux.sync.max.NaN.f32"), 0x7fffffffu);
  EXPECT_EQ(reduce("redux.sync.min.abs.NaN.f32"), 0x7fffffffu);
}

TEST(WarpExchangeTest, Names) {
  EXPECT_EQ(FindShuffle("shfl.sync.up.b32"), ShuffleMode::kUp);
  EXPECT_EQ(FindShuffle("shfl.sync.idx.b32"), ShuffleMode::kIdx);
  EXPECT_EQ(FindVote("vote.sync.uni.pred"), VoteMode::kUni);
  EXPECT_EQ(FindVote("vote.sync.ballot.b32"), VoteMode::kBallot);
  EXPECT_FALSE(FindShuffle("shfl.up.b32").has_value());
  EXPECT_FALSE(FindShuffle("shfl.sync.up.b64").has_value());
  EXPECT_FALSE(FindVote("vote.sync.any.b32").has_value());
  EXPECT_FALSE(FindVote("vote.all.pred").has_value());
  for (const absl::string_view name :
       {"redux.sync.add.b32", "redux.sync.and.u32", "redux.add.u32", "redux.sync.add.f32",
        "redux.sync.min.abs.u32", "match.any.b32", "match.any.sync.u32"}) {
    EXPECT_FALSE(FindWarpOperation(name).has_value()) << name;
  }
}

}  // namespace
}  // namespace stax::isa
