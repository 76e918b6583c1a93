#include "runtime/emulator/isa/integer.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

#include "absl/strings/string_view.h"
#include "runtime/emulator/isa/instruction_name.h"
#include "runtime/emulator/isa/integer_types.h"
#include "runtime/emulator/isa/lanes.h"
#include "runtime/emulator/isa/warp_operation.h"

namespace stax::isa {
namespace {

using Found = std::optional<WarpOperation>;

// Wraps: conversion to a narrower type takes the low bits.
template <typename T>
T Add(T a, T b) {
  return static_cast<T>(static_cast<Widest<T>>(a) + b);
}
template <typename T>
T Sub(T a, T b) {
  return static_cast<T>(static_cast<Widest<T>>(a) - b);
}
template <typename T>
T MulLo(T a, T b) {
  return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
template <typename T>
T MulHi(T a, T b) {
  return static_cast<T>((static_cast<Widest<T>>(a) * b) >> (8 * sizeof(T)));
}
template <typename T>
TwiceAsWide<T> MulWide(T a, T b) {
  return static_cast<TwiceAsWide<T>>(static_cast<TwiceAsWide<T>>(a) * b);
}
template <typename T>
T MadLo(T a, T b, T c) {
  return Add<T>(MulLo<T>(a, b), c);
}
template <typename T>
T MadHi(T a, T b, T c) {
  return Add<T>(MulHi<T>(a, b), c);
}
template <typename T>
TwiceAsWide<T> MadWide(T a, T b, TwiceAsWide<T> c) {
  return Add<TwiceAsWide<T>>(MulWide<T>(a, b), c);
}

int32_t Clamp(int64_t value) {
  return static_cast<int32_t>(std::clamp<int64_t>(value, std::numeric_limits<int32_t>::min(),
                                                  std::numeric_limits<int32_t>::max()));
}
int32_t AddSat(int32_t a, int32_t b) { return Clamp(int64_t{a} + b); }
int32_t SubSat(int32_t a, int32_t b) { return Clamp(int64_t{a} - b); }
int32_t MadHiSat(int32_t a, int32_t b, int32_t c) {
  return Clamp(int64_t{MulHi<int32_t>(a, b)} + c);
}

// The low 24 bits, sign-extended for s32.
template <typename T>
int64_t Low24(T a) {
  constexpr int kBitsAbove = 8;
  return static_cast<T>(static_cast<uint32_t>(a) << kBitsAbove) >> kBitsAbove;
}
template <typename T>
T Mul24Lo(T a, T b) {
  return static_cast<T>(Low24(a) * Low24(b));
}
// Bits 16 to 47 of the 48-bit product.
template <typename T>
T Mul24Hi(T a, T b) {
  return static_cast<T>((Low24(a) * Low24(b)) >> 16);
}
template <typename T>
T Mad24Lo(T a, T b, T c) {
  return Add<T>(Mul24Lo<T>(a, b), c);
}
template <typename T>
T Mad24Hi(T a, T b, T c) {
  return Add<T>(Mul24Hi<T>(a, b), c);
}
int32_t Mad24HiSat(int32_t a, int32_t b, int32_t c) {
  return Clamp(int64_t{Mul24Hi<int32_t>(a, b)} + c);
}

template <typename T>
T Sad(T a, T b, T c) {
  return Add<T>(c, a > b ? Sub<T>(a, b) : Sub<T>(b, a));
}
template <typename T>
T Div(T a, T b) {
  if (b == 0) return static_cast<T>(~T{0});
  return static_cast<T>(static_cast<Widest<T>>(a) / b);  // wide: the least number by -1 wraps
}
template <typename T>
T Rem(T a, T b) {
  if (b == 0) return a;
  return static_cast<T>(static_cast<Widest<T>>(a) % b);
}
template <typename T>
T Neg(T a) {
  return Sub<T>(0, a);
}
template <typename T>
T Abs(T a) {
  return a < 0 ? Neg<T>(a) : a;
}
template <typename T>
T Min(T a, T b) {
  return std::min(a, b);
}
template <typename T>
T Max(T a, T b) {
  return std::max(a, b);
}
template <typename T>
T MinRelu(T a, T b) {
  return std::max(std::min(a, b), T{0});
}
template <typename T>
T MaxRelu(T a, T b) {
  return std::max({a, b, T{0}});
}

// A function of 16-bit numbers on both halves.
template <typename T, T (*kFunction)(T, T)>
uint32_t OnHalves(uint32_t a, uint32_t b) {
  const auto low = static_cast<uint16_t>(kFunction(static_cast<T>(a), static_cast<T>(b)));
  const auto high =
      static_cast<uint16_t>(kFunction(static_cast<T>(a >> 16), static_cast<T>(b >> 16)));
  return uint32_t{high} << 16 | low;
}

// Element `index` of type E in the register.
template <typename E>
int64_t Element(uint32_t bits, int index) {
  return static_cast<E>(bits >> (8 * sizeof(E) * index));
}
template <typename A, typename B>
uint32_t Dp4a(uint32_t a, uint32_t b, uint32_t c) {
  int64_t sum = 0;
  for (int i = 0; i < 4; ++i) sum += Element<A>(a, i) * Element<B>(b, i);
  return c + static_cast<uint32_t>(sum);
}
template <typename A, typename B, bool kHigh>
uint32_t Dp2a(uint32_t a, uint32_t b, uint32_t c) {
  const int first = kHigh ? 2 : 0;
  const int64_t sum =
      Element<A>(a, 0) * Element<B>(b, first) + Element<A>(a, 1) * Element<B>(b, first + 1);
  return c + static_cast<uint32_t>(sum);
}

Found FindDotProduct(InstructionName name) {
  const bool four = name.opcode() == "dp4a";
  const int half = four ? 0 : name.TakeOneOf({"lo", "hi"});
  const int a = name.TakeOneOf({"u32", "s32"}), b = name.TakeOneOf({"u32", "s32"});
  if (half < 0 || a < 0 || b < 0 || !name.done()) return std::nullopt;
  static constexpr WarpOperation kDp4a[] = {
      MakeOperation<&Dp4a<uint8_t, uint8_t>>(), MakeOperation<&Dp4a<uint8_t, int8_t>>(),
      MakeOperation<&Dp4a<int8_t, uint8_t>>(), MakeOperation<&Dp4a<int8_t, int8_t>>()};
  static constexpr WarpOperation kDp2a[] = {MakeOperation<&Dp2a<uint16_t, uint8_t, false>>(),
                                            MakeOperation<&Dp2a<uint16_t, int8_t, false>>(),
                                            MakeOperation<&Dp2a<int16_t, uint8_t, false>>(),
                                            MakeOperation<&Dp2a<int16_t, int8_t, false>>(),
                                            MakeOperation<&Dp2a<uint16_t, uint8_t, true>>(),
                                            MakeOperation<&Dp2a<uint16_t, int8_t, true>>(),
                                            MakeOperation<&Dp2a<int16_t, uint8_t, true>>(),
                                            MakeOperation<&Dp2a<int16_t, int8_t, true>>()};
  return four ? kDp4a[2 * a + b] : kDp2a[4 * half + 2 * a + b];
}

template <typename T>
Found FindX2(absl::string_view opcode, bool relu) {
  if (relu && std::is_unsigned_v<T>) return std::nullopt;
  if (opcode == "min") {
    return relu ? MakeOperation<&OnHalves<T, &MinRelu<T>>>()
                : MakeOperation<&OnHalves<T, &Min<T>>>();
  }
  if (opcode == "max") {
    return relu ? MakeOperation<&OnHalves<T, &MaxRelu<T>>>()
                : MakeOperation<&OnHalves<T, &Max<T>>>();
  }
  if (relu) return std::nullopt;
  if (opcode == "add") return MakeOperation<&OnHalves<T, &Add<T>>>();
  if (opcode == "sub") return MakeOperation<&OnHalves<T, &Sub<T>>>();
  return std::nullopt;
}

Found FindSimple(InstructionName name) {
  const absl::string_view opcode = name.opcode();
  const bool sat = name.Take("sat");
  const bool relu = name.Take("relu");
  const int x2 = name.TakeOneOf({"u16x2", "s16x2"});
  if (x2 >= 0) {
    if (sat || !name.done()) return std::nullopt;
    return x2 == 0 ? FindX2<uint16_t>(opcode, relu) : FindX2<int16_t>(opcode, relu);
  }
  const std::optional<IntegerType> type = TakeLastIntegerType(name);
  if (!type.has_value()) return std::nullopt;
  if (sat) {
    if (*type != IntegerType::kS32 || relu) return std::nullopt;
    if (opcode == "add") return MakeOperation<&AddSat>();
    if (opcode == "sub") return MakeOperation<&SubSat>();
    return std::nullopt;
  }
  if (relu) {
    if (*type != IntegerType::kS32) return std::nullopt;
    if (opcode == "min") return MakeOperation<&MinRelu<int32_t>>();
    if (opcode == "max") return MakeOperation<&MaxRelu<int32_t>>();
    return std::nullopt;
  }
  return WithIntegerType(*type, [&](auto example) -> Found {
    using T = decltype(example);
    if (opcode == "add") return MakeOperation<&Add<T>>();
    if (opcode == "sub") return MakeOperation<&Sub<T>>();
    if (opcode == "min") return MakeOperation<&Min<T>>();
    if (opcode == "max") return MakeOperation<&Max<T>>();
    if (opcode == "div") return MakeOperation<&Div<T>>();
    if (opcode == "rem") return MakeOperation<&Rem<T>>();
    if (opcode == "sad") return MakeOperation<&Sad<T>>();
    if constexpr (std::is_signed_v<T>) {
      if (opcode == "neg") return MakeOperation<&Neg<T>>();
      if (opcode == "abs") return MakeOperation<&Abs<T>>();
    }
    return std::nullopt;
  });
}

Found FindMul24(InstructionName name) {
  const bool mad = name.opcode() == "mad24";
  const int half = name.TakeOneOf({"lo", "hi"});
  const bool sat = name.Take("sat");
  const std::optional<IntegerType> type = TakeLastIntegerType(name);
  if (half < 0 || (type != IntegerType::kU32 && type != IntegerType::kS32)) return std::nullopt;
  const bool is_signed = type == IntegerType::kS32;
  if (sat) {
    if (!mad || half == 0 || !is_signed) return std::nullopt;
    return MakeOperation<&Mad24HiSat>();
  }
  static constexpr WarpOperation kMul[] = {
      MakeOperation<&Mul24Lo<uint32_t>>(), MakeOperation<&Mul24Lo<int32_t>>(),
      MakeOperation<&Mul24Hi<uint32_t>>(), MakeOperation<&Mul24Hi<int32_t>>()};
  static constexpr WarpOperation kMad[] = {
      MakeOperation<&Mad24Lo<uint32_t>>(), MakeOperation<&Mad24Lo<int32_t>>(),
      MakeOperation<&Mad24Hi<uint32_t>>(), MakeOperation<&Mad24Hi<int32_t>>()};
  return (mad ? kMad : kMul)[2 * half + (is_signed ? 1 : 0)];
}

Found FindMultiply(InstructionName name) {
  const bool mad = name.opcode() == "mad";
  const int part = name.TakeOneOf({"lo", "hi", "wide"});
  const bool sat = name.Take("sat");
  const std::optional<IntegerType> type = TakeLastIntegerType(name);
  if (part < 0 || !type.has_value()) return std::nullopt;
  if (sat) {
    if (!mad || part != 1 || *type != IntegerType::kS32) return std::nullopt;
    return MakeOperation<&MadHiSat>();
  }
  return WithIntegerType(*type, [&](auto example) -> Found {
    using T = decltype(example);
    if (part == 0) return mad ? MakeOperation<&MadLo<T>>() : MakeOperation<&MulLo<T>>();
    if (part == 1) return mad ? MakeOperation<&MadHi<T>>() : MakeOperation<&MulHi<T>>();
    if constexpr (sizeof(T) < 8) {
      return mad ? MakeOperation<&MadWide<T>>() : MakeOperation<&MulWide<T>>();
    }
    return std::nullopt;
  });
}

}  // namespace

std::optional<WarpOperation> FindInteger(InstructionName name) {
  const absl::string_view opcode = name.opcode();
  if (opcode == "dp4a" || opcode == "dp2a") return FindDotProduct(name);
  if (opcode == "mul24" || opcode == "mad24") return FindMul24(name);
  if (opcode == "mul" || opcode == "mad") return FindMultiply(name);
  return FindSimple(name);
}

}  // namespace stax::isa
