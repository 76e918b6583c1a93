#include "runtime/emulator/isa/warp_exchange.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "runtime/emulator/isa/float_format.h"
#include "runtime/emulator/isa/float_functions.h"
#include "runtime/emulator/isa/instruction_name.h"
#include "runtime/emulator/isa/lanes.h"
#include "runtime/emulator/isa/warp_operation.h"

namespace stax::isa {
namespace {

template <typename T>
T Add(T a, T b) {
  return static_cast<T>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}
template <typename T>
T Min(T a, T b) {
  return std::min(a, b);
}
template <typename T>
T Max(T a, T b) {
  return std::max(a, b);
}
uint32_t And(uint32_t a, uint32_t b) { return a & b; }
uint32_t Or(uint32_t a, uint32_t b) { return a | b; }
uint32_t Xor(uint32_t a, uint32_t b) { return a ^ b; }

template <bool kMax, bool kNan>
uint32_t MinMaxF32(uint32_t a, uint32_t b) {
  return static_cast<uint32_t>(MinMaxFloat(kF32Format, kMax, kNan, a, b));
}
template <bool kAbs, typename T>
T Prepare(T value) {
  return kAbs ? value & 0x7fffffff : value;
}

template <typename T, T (*kOp)(T, T), bool kAbs = false>
void Reduce(uint32_t lanes, const void* a, const void* /*b*/, const void* /*c*/, void* d) {
  if (lanes == 0) return;
  T result = Prepare<kAbs>(Lane<T>(a, __builtin_ctz(lanes)));
  ForEachLane(lanes & (lanes - 1),
              [&](int i) { result = kOp(result, Prepare<kAbs>(Lane<T>(a, i))); });
  ForEachLane(lanes, [&](int i) { static_cast<T*>(d)[i] = result; });
}

template <typename T>
void MatchAny(uint32_t lanes, const void* a, const void* /*b*/, const void* /*c*/, void* d) {
  std::array<uint32_t, kWarpLanes> same = {};  // d may be a
  ForEachLane(lanes, [&](int i) {
    ForEachLane(lanes, [&](int j) {
      same[i] |= static_cast<uint32_t>(Lane<T>(a, i) == Lane<T>(a, j)) << j;
    });
  });
  ForEachLane(lanes, [&](int i) { static_cast<uint32_t*>(d)[i] = same[i]; });
}

template <typename T>
bool AllSame(uint32_t lanes, const void* a) {
  if (lanes == 0) return true;
  const T first = Lane<T>(a, __builtin_ctz(lanes));
  bool same = true;
  ForEachLane(lanes, [&](int i) { same = same && Lane<T>(a, i) == first; });
  return same;
}

WarpOperation OneSource(WarpFunction function, int source_bytes) {
  WarpOperation result;
  result.function = function;
  result.sources = 1;
  result.source_bytes[0] = source_bytes;
  result.result_bytes = 4;
  return result;
}

std::optional<WarpOperation> FindReduction(InstructionName name) {
  if (!name.Take("sync")) return std::nullopt;
  const int op = name.TakeOneOf({"add", "min", "max", "and", "or", "xor"});
  if (op < 0) return std::nullopt;
  const bool abs = name.Take("abs"), nan = name.Take("NaN");
  const int type = name.TakeOneOf({"u32", "s32", "b32", "f32"});
  if (type < 0 || !name.done()) return std::nullopt;
  // A row an operation, a column a type.
  static constexpr WarpFunction kFunctions[6][3] = {
      {&Reduce<uint32_t, &Add>, &Reduce<int32_t, &Add>, nullptr},
      {&Reduce<uint32_t, &Min>, &Reduce<int32_t, &Min>, nullptr},
      {&Reduce<uint32_t, &Max>, &Reduce<int32_t, &Max>, nullptr},
      {nullptr, nullptr, &Reduce<uint32_t, &And>},
      {nullptr, nullptr, &Reduce<uint32_t, &Or>},
      {nullptr, nullptr, &Reduce<uint32_t, &Xor>}};
  // By max, NaN, abs.
  static constexpr WarpFunction kFloat[8] = {&Reduce<uint32_t, &MinMaxF32<false, false>>,
                                             &Reduce<uint32_t, &MinMaxF32<false, false>, true>,
                                             &Reduce<uint32_t, &MinMaxF32<false, true>>,
                                             &Reduce<uint32_t, &MinMaxF32<false, true>, true>,
                                             &Reduce<uint32_t, &MinMaxF32<true, false>>,
                                             &Reduce<uint32_t, &MinMaxF32<true, false>, true>,
                                             &Reduce<uint32_t, &MinMaxF32<true, true>>,
                                             &Reduce<uint32_t, &MinMaxF32<true, true>, true>};
  if (type == 3) {
    if (op != 1 && op != 2) return std::nullopt;
    return OneSource(kFloat[4 * (op - 1) + (nan ? 2 : 0) + (abs ? 1 : 0)], 4);
  }
  if (abs || nan || kFunctions[op][type] == nullptr) return std::nullopt;
  return OneSource(kFunctions[op][type], 4);
}

}  // namespace

std::optional<ShuffleMode> FindShuffle(absl::string_view text) {
  InstructionName name(text);
  if (name.opcode() != "shfl" || !name.Take("sync")) return std::nullopt;
  const int mode = name.TakeOneOf({"up", "down", "bfly", "idx"});
  if (mode < 0 || !name.Take("b32") || !name.done()) return std::nullopt;
  return static_cast<ShuffleMode>(mode);
}

ShuffleResult Shuffle(ShuffleMode mode, uint32_t lanes, const uint32_t* a, const uint32_t* b,
                      const uint32_t* c, uint32_t* d) {
  std::array<uint32_t, kWarpLanes> values = {};
  std::copy_n(a, kWarpLanes, values.begin());
  ShuffleResult result;
  ForEachLane(lanes, [&](int lane) {
    constexpr int kLaneMask = 31;
    const int distance = static_cast<int>(b[lane]) & kLaneMask;
    const int clamp = static_cast<int>(c[lane]) & kLaneMask;
    const int segment = static_cast<int>(c[lane] >> 8) & kLaneMask;
    const int first = lane & segment;
    const int last = first | (clamp & ~segment);
    int source = lane;
    bool in_range = false;
    switch (mode) {
      case ShuffleMode::kUp:
        source = lane - distance;
        in_range = source >= last;
        break;
      case ShuffleMode::kDown:
        source = lane + distance;
        in_range = source <= last;
        break;
      case ShuffleMode::kBfly:
        source = lane ^ distance;
        in_range = source <= last;
        break;
      case ShuffleMode::kIdx:
        source = first | (distance & ~segment);
        in_range = source <= last;
        break;
    }
    if (!in_range) source = lane;
    d[lane] = values[source];
    result.predicates |= static_cast<uint32_t>(in_range) << lane;
    result.inactive_sources |= (~lanes >> source & 1) << lane;
  });
  return result;
}

std::optional<VoteMode> FindVote(absl::string_view text) {
  InstructionName name(text);
  if (name.opcode() != "vote" || !name.Take("sync")) return std::nullopt;
  const int mode = name.TakeOneOf({"all", "any", "uni", "ballot"});
  if (mode < 0) return std::nullopt;
  const auto result = static_cast<VoteMode>(mode);
  if (!name.Take(result == VoteMode::kBallot ? "b32" : "pred") || !name.done()) return std::nullopt;
  return result;
}

uint32_t Vote(VoteMode mode, uint32_t lanes, uint32_t predicates) {
  const uint32_t votes = predicates & lanes;
  switch (mode) {
    case VoteMode::kAll:
      return votes == lanes ? lanes : 0;
    case VoteMode::kAny:
      return votes != 0 ? lanes : 0;
    case VoteMode::kUni:
      return votes == lanes || votes == 0 ? lanes : 0;
    case VoteMode::kBallot:
      break;
  }
  return votes;
}

bool MatchAll(uint32_t lanes, int bytes, const void* a, uint32_t* d) {
  const bool same = bytes == 8 ? AllSame<uint64_t>(lanes, a) : AllSame<uint32_t>(lanes, a);
  ForEachLane(lanes, [&](int i) { d[i] = same ? lanes : 0; });
  return same;
}

std::optional<WarpOperation> FindExchange(InstructionName name) {
  if (name.opcode() == "redux") return FindReduction(name);
  if (name.opcode() != "match" || !name.Take("any") || !name.Take("sync")) return std::nullopt;
  const int type = name.TakeOneOf({"b32", "b64"});
  if (type < 0 || !name.done()) return std::nullopt;
  return type == 0 ? OneSource(&MatchAny<uint32_t>, 4) : OneSource(&MatchAny<uint64_t>, 8);
}

}  // namespace stax::isa
