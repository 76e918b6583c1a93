#include "runtime/emulator/isa/compare.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/base/casts.h"
#include "absl/strings/string_view.h"
#include "runtime/emulator/isa/float_format.h"
#include "runtime/emulator/isa/float_value.h"
#include "runtime/emulator/isa/instruction_name.h"
#include "runtime/emulator/isa/integer_types.h"
#include "runtime/emulator/isa/lanes.h"
#include "runtime/emulator/isa/warp_operation.h"

namespace stax::isa {
namespace {

// How two values may be ordered; a comparison is the set of orders for which it holds.
constexpr unsigned kLess = 1, kEqual = 2, kGreater = 4, kUnordered = 8, kSets = 16;

struct Comparison {
  unsigned holds;
  bool unsigned_only;  // lo ls hi hs
  bool float_only;     // equ ... num, nan
};

std::optional<Comparison> TakeComparison(InstructionName& name) {
  static constexpr Comparison kComparisons[] = {{kEqual, false, false},
                                                {kLess | kGreater, false, false},
                                                {kLess, false, false},
                                                {kLess | kEqual, false, false},
                                                {kGreater, false, false},
                                                {kGreater | kEqual, false, false},
                                                {kLess, true, false},
                                                {kLess | kEqual, true, false},
                                                {kGreater, true, false},
                                                {kGreater | kEqual, true, false},
                                                {kEqual | kUnordered, false, true},
                                                {kLess | kGreater | kUnordered, false, true},
                                                {kLess | kUnordered, false, true},
                                                {kLess | kEqual | kUnordered, false, true},
                                                {kGreater | kUnordered, false, true},
                                                {kGreater | kEqual | kUnordered, false, true},
                                                {kLess | kEqual | kGreater, false, true},
                                                {kUnordered, false, true}};
  const int index = name.TakeOneOf({"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs",
                                    "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"});
  if (index < 0) return std::nullopt;
  return kComparisons[index];
}

template <typename T>
unsigned OrderOf(T a, T b) {
  if (a < b) return kLess;
  if (a > b) return kGreater;
  return a == b ? kEqual : kUnordered;
}

// The type of a comparison: how the element of a register becomes a value. `kUpper` is for x2.
template <typename T>
struct Integer {
  using Element = T;
  static T Value(T bits) { return bits; }
};
template <const FloatFormat& kFormat, typename E, bool kFtz, bool kUpper = false>
struct Floating {
  using Element = E;
  static double Value(E bits) {
    if constexpr (kFormat.bits == 64) {
      return absl::bit_cast<double>(bits);
    } else if constexpr (sizeof(E) * 8 == kFormat.bits) {
      return LoadFloat(kFormat, bits, kFtz);
    } else {
      return LoadFloat(kFormat, kUpper ? bits >> kFormat.bits : bits & 0xffff, kFtz);
    }
  }
};

template <typename Type, unsigned kHolds>
bool Compare(typename Type::Element a, typename Type::Element b) {
  return (OrderOf(Type::Value(a), Type::Value(b)) & kHolds) != 0;
}

template <typename Type, size_t... kHolds>
CompareFunction PickCompareFrom(unsigned holds, std::index_sequence<kHolds...> /*all*/) {
  static constexpr std::array<CompareFunction, sizeof...(kHolds)> kFunctions = {
      &CompareCall<&Compare<Type, kHolds>>::Run...};
  return kFunctions[holds];
}

template <typename Type>
CompareOperation PickCompare(unsigned holds) {
  CompareOperation result;
  result.function = PickCompareFrom<Type>(holds, std::make_index_sequence<kSets>());
  result.sources = 2;
  result.source_bytes = sizeof(typename Type::Element);
  return result;
}

template <const FloatFormat& kFormat, bool kFtz>
CompareOperation PickX2(unsigned holds) {
  CompareOperation result = PickCompare<Floating<kFormat, uint32_t, kFtz, false>>(holds);
  result.high = PickCompare<Floating<kFormat, uint32_t, kFtz, true>>(holds).function;
  return result;
}

std::optional<CompareOperation> PickFloat(int type, bool ftz, unsigned holds) {
  switch (type) {
    case 0:
      return ftz ? PickCompare<Floating<kF16Format, uint16_t, true>>(holds)
                 : PickCompare<Floating<kF16Format, uint16_t, false>>(holds);
    case 1:
      return ftz ? PickX2<kF16Format, true>(holds) : PickX2<kF16Format, false>(holds);
    case 2:
      return ftz ? PickCompare<Floating<kF32Format, uint32_t, true>>(holds)
                 : PickCompare<Floating<kF32Format, uint32_t, false>>(holds);
    default:
      break;
  }
  if (ftz) return std::nullopt;
  if (type == 3) return PickCompare<Floating<kF64Format, uint64_t, false>>(holds);
  if (type == 4) return PickCompare<Floating<kBF16Format, uint16_t, false>>(holds);
  return PickX2<kBF16Format, false>(holds);
}

// The source type, last in the name, and its comparison.
std::optional<CompareOperation> TakeLastType(InstructionName& name, const Comparison& comparison,
                                             bool ftz) {
  const int type = name.TakeOneOf({"f16", "f16x2", "f32", "f64", "bf16", "bf16x2"});
  if (type >= 0) {
    if (!name.done() || comparison.unsigned_only) return std::nullopt;
    return PickFloat(type, ftz, comparison.holds);
  }
  const absl::string_view written = name.Peek();
  const bool untyped = !written.empty() && written[0] == 'b';
  const bool is_signed = !written.empty() && written[0] == 's';
  const std::optional<IntegerType> integer = TakeLastIntegerType(name, /*bits=*/true);
  if (!integer.has_value() || comparison.float_only || ftz) return std::nullopt;
  const bool equality = comparison.holds == kEqual || comparison.holds == (kLess | kGreater);
  if ((untyped && !equality) || (is_signed && comparison.unsigned_only)) return std::nullopt;
  return WithIntegerType(*integer, [&](auto example) {
    return PickCompare<Integer<decltype(example)>>(comparison.holds);
  });
}

enum class Test { kFinite, kInfinite, kNumber, kNotANumber, kNormal, kSubnormal };

template <const FloatFormat& kFormat, typename Bits, Test kTest>
bool TestProperty(Bits a) {
  const uint64_t magnitude = a & (SignBit(kFormat) - 1);
  switch (kTest) {
    case Test::kFinite:
      return magnitude <= kFormat.max_finite;
    case Test::kInfinite:
      return magnitude == kFormat.max_finite + 1;
    case Test::kNumber:
      return !IsNan(kFormat, a);
    case Test::kNotANumber:
      return IsNan(kFormat, a);
    case Test::kNormal:
      return !BelowNormal(kFormat, a) && magnitude <= kFormat.max_finite;
    case Test::kSubnormal:
      return BelowNormal(kFormat, a) && magnitude != 0;
  }
  return false;
}

template <const FloatFormat& kFormat, typename Bits>
CompareOperation PickTest(int test) {
  static constexpr CompareFunction kTests[] = {
      &CompareCall<&TestProperty<kFormat, Bits, Test::kFinite>>::Run,
      &CompareCall<&TestProperty<kFormat, Bits, Test::kInfinite>>::Run,
      &CompareCall<&TestProperty<kFormat, Bits, Test::kNumber>>::Run,
      &CompareCall<&TestProperty<kFormat, Bits, Test::kNotANumber>>::Run,
      &CompareCall<&TestProperty<kFormat, Bits, Test::kNormal>>::Run,
      &CompareCall<&TestProperty<kFormat, Bits, Test::kSubnormal>>::Run};
  CompareOperation result;
  result.function = kTests[test];
  result.sources = 1;
  result.source_bytes = sizeof(Bits);
  return result;
}

std::optional<CompareOperation> FindTest(InstructionName name) {
  const int test =
      name.TakeOneOf({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  const int type = name.TakeOneOf({"f32", "f64"});
  if (test < 0 || type < 0 || !name.done()) return std::nullopt;
  return type == 0 ? PickTest<kF32Format, uint32_t>(test) : PickTest<kF64Format, uint64_t>(test);
}

// `Type` compares; of x2 types `Upper` compares the upper halves, else it is void.
template <typename Type, typename Upper, typename Result, Result kValue>
struct SetFamily {
  template <unsigned kHolds>
  static Result Apply(typename Type::Element a, typename Type::Element b) {
    Result result = Compare<Type, kHolds>(a, b) ? kValue : 0;
    if constexpr (!std::is_void_v<Upper>) {
      result |= Compare<Upper, kHolds>(a, b) ? kValue << 16 : 0;
    }
    return result;
  }
};

constexpr uint32_t kOnes = 0xffffffff, kOneF32 = 0x3f800000;
constexpr uint16_t kOnes16 = 0xffff, kOneF16 = 0x3c00, kOneBF16 = 0x3f80;

// Results of set: u32 and s32 (all ones), f32 (1.0).
template <typename Type>
std::optional<WarpOperation> PickSet(int result, unsigned holds) {
  if (result == 2) return PickOperation<SetFamily<Type, void, uint32_t, kOneF32>, kSets>(holds);
  return PickOperation<SetFamily<Type, void, uint32_t, kOnes>, kSets>(holds);
}

// Of halves: also one of their own type, and of their width.
template <const FloatFormat& kFormat, uint16_t kOne, bool kFtz>
std::optional<WarpOperation> PickSetHalf(absl::string_view result, absl::string_view own,
                                         unsigned holds) {
  using Type = Floating<kFormat, uint16_t, kFtz>;
  if (result == own) return PickOperation<SetFamily<Type, void, uint16_t, kOne>, kSets>(holds);
  if (result == "u16" || result == "s16") {
    return PickOperation<SetFamily<Type, void, uint16_t, kOnes16>, kSets>(holds);
  }
  if (result == "u32" || result == "s32") return PickSet<Type>(0, holds);
  return std::nullopt;
}

template <const FloatFormat& kFormat, uint16_t kOne, bool kFtz>
std::optional<WarpOperation> PickSetX2(absl::string_view result, absl::string_view own,
                                       unsigned holds) {
  using Lower = Floating<kFormat, uint32_t, kFtz, false>;
  using Upper = Floating<kFormat, uint32_t, kFtz, true>;
  if (result == own) return PickOperation<SetFamily<Lower, Upper, uint32_t, kOne>, kSets>(holds);
  if (result == "u32" || result == "s32") {  // ones in either half
    return PickOperation<SetFamily<Lower, Upper, uint32_t, kOnes16>, kSets>(holds);
  }
  return std::nullopt;
}

}  // namespace

std::optional<CompareOperation> FindCompareOperation(absl::string_view text) {
  if (text.empty() || text.back() == '.') return std::nullopt;
  InstructionName name(text);
  if (name.opcode() == "testp") return FindTest(name);
  if (name.opcode() != "setp") return std::nullopt;
  const std::optional<Comparison> comparison = TakeComparison(name);
  if (!comparison.has_value()) return std::nullopt;
  const int combine = name.TakeOneOf({"and", "or", "xor"});
  const bool ftz = name.Take("ftz");
  std::optional<CompareOperation> result = TakeLastType(name, *comparison, ftz);
  if (result.has_value()) result->combine = static_cast<PredicateOp>(combine + 1);
  return result;
}

std::optional<WarpOperation> FindSet(InstructionName name) {
  if (name.opcode() != "set") return std::nullopt;
  const std::optional<Comparison> comparison = TakeComparison(name);
  if (!comparison.has_value()) return std::nullopt;
  const bool ftz = name.Take("ftz");
  const unsigned holds = comparison->holds;
  const absl::string_view result = name.TakeAny();
  const absl::string_view source = name.Peek();
  // The same rules as for setp.
  InstructionName rest = name;
  if (!TakeLastType(rest, *comparison, ftz).has_value()) return std::nullopt;
  if (source == "f16") {
    return ftz ? PickSetHalf<kF16Format, kOneF16, true>(result, source, holds)
               : PickSetHalf<kF16Format, kOneF16, false>(result, source, holds);
  }
  if (source == "f16x2") {
    return ftz ? PickSetX2<kF16Format, kOneF16, true>(result, source, holds)
               : PickSetX2<kF16Format, kOneF16, false>(result, source, holds);
  }
  if (source == "bf16") return PickSetHalf<kBF16Format, kOneBF16, false>(result, source, holds);
  if (source == "bf16x2") return PickSetX2<kBF16Format, kOneBF16, false>(result, source, holds);
  if (result != "u32" && result != "s32" && result != "f32") return std::nullopt;
  const int kind = result == "f32" ? 2 : 0;
  if (source == "f32") {
    return ftz ? PickSet<Floating<kF32Format, uint32_t, true>>(kind, holds)
               : PickSet<Floating<kF32Format, uint32_t, false>>(kind, holds);
  }
  if (source == "f64") return PickSet<Floating<kF64Format, uint64_t, false>>(kind, holds);
  const std::optional<IntegerType> integer = TakeLastIntegerType(name, /*bits=*/true);
  return WithIntegerType(
      *integer, [&](auto example) { return PickSet<Integer<decltype(example)>>(kind, holds); });
}

}  // namespace stax::isa
