#include "runtime/emulator/isa/bit_operations.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <type_traits>

#include "absl/base/casts.h"
#include "absl/strings/string_view.h"
#include "runtime/emulator/isa/instruction_name.h"
#include "runtime/emulator/isa/integer_types.h"
#include "runtime/emulator/isa/lanes.h"
#include "runtime/emulator/isa/warp_operation.h"

namespace stax::isa {
namespace {

using Found = std::optional<WarpOperation>;

template <typename T>
constexpr uint32_t kBits = 8 * sizeof(T);

template <typename T>
T And(T a, T b) {
  return a & b;
}
template <typename T>
T Or(T a, T b) {
  return a | b;
}
template <typename T>
T Xor(T a, T b) {
  return a ^ b;
}
template <typename T>
T Not(T a) {
  return static_cast<T>(~a);
}
template <typename T>
T Cnot(T a) {
  return a == 0 ? 1 : 0;
}

// Amounts beyond the width shift everything out.
template <typename T>
T Shl(T a, uint32_t amount) {
  return amount >= kBits<T> ? T{0} : static_cast<T>(a << amount);
}
template <typename T>
T Shr(T a, uint32_t amount) {
  return static_cast<T>(amount >= kBits<T> ? (a < 0 ? -1 : 0) : a >> amount);
}

// The 64 bits {b, a} shifted, of which the left shift keeps the upper and the right one the lower
// half. The variant bits are: right, .wrap.
template <unsigned kVariant>
uint32_t FunnelShift(uint32_t a, uint32_t b, uint32_t c) {
  const uint64_t both = uint64_t{b} << 32 | a;
  const uint32_t amount = (kVariant & 2) != 0 ? c & 31 : std::min(c, 32U);
  if ((kVariant & 1) != 0) return static_cast<uint32_t>(both >> amount);
  return static_cast<uint32_t>((both << amount) >> 32);
}

template <typename T>
uint32_t Popc(T a) {
  return static_cast<uint32_t>(__builtin_popcountll(a));
}
template <typename T>
uint32_t Clz(T a) {
  return a == 0 ? kBits<T> : static_cast<uint32_t>(__builtin_clzll(a)) - (64 - kBits<T>);
}
template <typename T>
T Brev(T a) {
  T result = 0;
  for (uint32_t i = 0; i < kBits<T>; ++i) result |= ((a >> i) & 1) << (kBits<T> - 1 - i);
  return result;
}
template <typename T, bool kShiftAmount>
uint32_t Bfind(T a) {
  using U = std::make_unsigned_t<T>;
  const U bits = static_cast<U>(a < 0 ? ~a : a);
  if (bits == 0) return 0xffffffff;
  const uint32_t zeros = Clz<U>(bits);
  return kShiftAmount ? zeros : kBits<T> - 1 - zeros;
}
uint32_t Fns(uint32_t mask, uint32_t base, int32_t offset) {
  if (offset == 0) return base < 32 && (mask >> base & 1) != 0 ? base : 0xffffffff;
  const int64_t step = offset > 0 ? 1 : -1;
  int64_t left = std::abs(int64_t{offset}) - 1;
  for (int64_t i = base; i >= 0 && i < 32; i += step) {
    if ((mask >> i & 1) == 0) continue;
    if (left == 0) return static_cast<uint32_t>(i);
    --left;
  }
  return 0xffffffff;
}

// Position and length are the low bytes of their registers.
template <typename T>
T Bfe(T a, uint32_t b, uint32_t c) {
  using U = std::make_unsigned_t<T>;
  const uint32_t position = b & 0xff, length = c & 0xff;
  if (length == 0) return 0;
  // Above the register there are copies of its sign bit, or zeros.
  const T shifted = Shr<T>(a, position);
  if (length >= kBits<T>) return shifted;
  const U field = static_cast<U>(shifted) & static_cast<U>((U{1} << length) - 1);
  // The sign is the field's last bit, but no later one than the register's.
  const uint32_t sign_position = std::min(position + length - 1, kBits<T> - 1);
  const bool negative = std::is_signed_v<T> && (static_cast<U>(a) >> sign_position & 1) != 0;
  return static_cast<T>(negative ? field | static_cast<U>(~U{0} << length) : field);
}
template <typename T>
T Bfi(T a, T b, uint32_t c, uint32_t d) {
  const uint32_t position = c & 0xff, length = d & 0xff;
  if (position >= kBits<T> || length == 0) return b;
  const T ones = length >= kBits<T> ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << length) - 1);
  const T mask = static_cast<T>(ones << position);
  return (static_cast<T>(a << position) & mask) | (b & ~mask);
}
// Ones from bit `a` on, `b` of them.
template <bool kClamp>
uint32_t Bmsk(uint32_t a, uint32_t b) {
  if (kClamp && a >= 32) return 0;
  const uint32_t from = ~uint32_t{0} << (a & 31);
  if (kClamp && b >= 32) return from;
  const uint32_t end = (a & 31) + (b & 31);
  return end >= 32 ? from : from & ~(~uint32_t{0} << end);
}
// The low `b` bits extended.
template <typename T, bool kClamp>
T Szext(T a, uint32_t b) {
  if (kClamp && b >= 32) return a;
  const uint32_t width = b & 31;
  if (width == 0) return 0;
  const uint32_t unused = 32 - width;
  return static_cast<T>(static_cast<uint32_t>(a) << unused) >> unused;
}

uint32_t Lop3(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t result = 0;
  for (uint32_t entry = 0; entry < 8; ++entry) {
    if ((table >> entry & 1) == 0) continue;
    result |=
        ((entry & 4) != 0 ? a : ~a) & ((entry & 2) != 0 ? b : ~b) & ((entry & 1) != 0 ? c : ~c);
  }
  return result;
}

// The modes of prmt but for the default: which of the eight bytes {b, a} goes where, for each value
// of the low two bits of c, a digit a byte as in the default mode's selector.
constexpr uint16_t kPermutations[6][4] = {
    {0x3210, 0x4321, 0x5432, 0x6543},  // f4e: forward 4 extract
    {0x5670, 0x6701, 0x7012, 0x0123},  // b4e: backward
    {0x0000, 0x1111, 0x2222, 0x3333},  // rc8: replicate
    {0x3210, 0x3211, 0x3222, 0x3333},  // ecl: edge clamp left
    {0x0000, 0x1110, 0x2210, 0x3210},  // ecr: edge clamp right
    {0x1010, 0x3232, 0x1010, 0x3232},  // rc16: replicate 16 bits
};

uint32_t Permute(uint32_t a, uint32_t b, uint32_t selector) {
  const uint64_t bytes = uint64_t{b} << 32 | a;
  uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    const uint32_t select = selector >> (4 * i) & 0xf;
    uint32_t byte = static_cast<uint32_t>(bytes >> (8 * (select & 7))) & 0xff;
    if ((select & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;  // its sign only
    result |= byte << (8 * i);
  }
  return result;
}
template <int kMode>
uint32_t PermuteInMode(uint32_t a, uint32_t b, uint32_t c) {
  return Permute(a, b, kPermutations[kMode][c & 3]);
}

template <typename T>
T SelectByInteger(T a, T b, int32_t c) {
  return c >= 0 ? a : b;
}
// By a float's sign; -0 is not less than 0, and NaN is not at least 0.
template <typename T, bool kFtz>
T SelectByFloat(T a, T b, uint32_t c) {
  float value = absl::bit_cast<float>(c);
  if (kFtz && (c & 0x7f800000) == 0) value = 0;
  return value >= 0 ? a : b;
}

Found FindSelect(InstructionName name) {
  const bool ftz = name.Take("ftz");
  const int bits = name.TakeOneOf(
      {"b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f16", "f32", "f64"});
  const int by = name.TakeOneOf({"f32", "s32"});
  if (bits < 0 || by < 0 || !name.done() || (ftz && by == 1)) return std::nullopt;
  const auto pick = [&](auto example) {
    using T = decltype(example);
    if (by == 1) return MakeOperation<&SelectByInteger<T>>();
    return ftz ? MakeOperation<&SelectByFloat<T, true>>()
               : MakeOperation<&SelectByFloat<T, false>>();
  };
  if (bits % 3 == 0) return pick(uint16_t{});
  return bits % 3 == 1 ? pick(uint32_t{}) : pick(uint64_t{});
}

Found FindPermute(InstructionName name) {
  if (!name.Take("b32")) return std::nullopt;
  const int mode = name.TakeOneOf({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  if (!name.done()) return std::nullopt;
  if (mode < 0) return MakeOperation<&Permute>();
  static constexpr WarpOperation kModes[] = {
      MakeOperation<&PermuteInMode<0>>(), MakeOperation<&PermuteInMode<1>>(),
      MakeOperation<&PermuteInMode<2>>(), MakeOperation<&PermuteInMode<3>>(),
      MakeOperation<&PermuteInMode<4>>(), MakeOperation<&PermuteInMode<5>>()};
  return kModes[mode];
}

// shf, bmsk, szext: a mode and a 32-bit type.
Found FindClampOrWrap(InstructionName name) {
  const absl::string_view opcode = name.opcode();
  const int right = opcode == "shf" ? name.TakeOneOf({"l", "r"}) : 0;
  const int wrap = name.TakeOneOf({"clamp", "wrap"});
  const int type = name.TakeOneOf({"b32", "u32", "s32"});
  if (right < 0 || wrap < 0 || type < 0 || !name.done()) return std::nullopt;
  if (opcode == "szext") {
    if (type == 0) return std::nullopt;
    if (type == 1) {
      return wrap == 0 ? MakeOperation<&Szext<uint32_t, true>>()
                       : MakeOperation<&Szext<uint32_t, false>>();
    }
    return wrap == 0 ? MakeOperation<&Szext<int32_t, true>>()
                     : MakeOperation<&Szext<int32_t, false>>();
  }
  if (type != 0) return std::nullopt;
  if (opcode == "bmsk")
    return wrap == 0 ? MakeOperation<&Bmsk<true>>() : MakeOperation<&Bmsk<false>>();
  static constexpr WarpOperation kFunnelShifts[] = {
      MakeOperation<&FunnelShift<0>>(), MakeOperation<&FunnelShift<1>>(),
      MakeOperation<&FunnelShift<2>>(), MakeOperation<&FunnelShift<3>>()};
  return kFunnelShifts[right + 2 * wrap];
}

// Instructions whose type is .b16, .b32 or .b64.
template <typename T>
Found FindUntyped(absl::string_view opcode) {
  if (opcode == "and") return MakeOperation<&And<T>>();
  if (opcode == "or") return MakeOperation<&Or<T>>();
  if (opcode == "xor") return MakeOperation<&Xor<T>>();
  if (opcode == "not") return MakeOperation<&Not<T>>();
  if (opcode == "cnot") return MakeOperation<&Cnot<T>>();
  if (opcode == "shl") return MakeOperation<&Shl<T>>();
  if (opcode == "shr") return MakeOperation<&Shr<T>>();
  if constexpr (sizeof(T) > 2) {
    if (opcode == "popc") return MakeOperation<&Popc<T>>();
    if (opcode == "clz") return MakeOperation<&Clz<T>>();
    if (opcode == "brev") return MakeOperation<&Brev<T>>();
    if (opcode == "bfi") return MakeOperation<&Bfi<T>>();
  }
  if constexpr (sizeof(T) == 4) {
    if (opcode == "lop3") return MakeOperation<&Lop3>();
    if (opcode == "fns") return MakeOperation<&Fns>();
  }
  return std::nullopt;
}

// Instructions whose type is .u16 ... .s64.
Found FindTyped(InstructionName name) {
  const absl::string_view opcode = name.opcode();
  const bool shift_amount = opcode == "bfind" && name.Take("shiftamt");
  const std::optional<IntegerType> type = TakeLastIntegerType(name);
  if (!type.has_value()) return std::nullopt;
  return WithIntegerType(*type, [&](auto example) -> Found {
    using T = decltype(example);
    if (opcode == "shr") return MakeOperation<&Shr<T>>();
    if constexpr (sizeof(T) > 2) {
      if (opcode == "bfe") return MakeOperation<&Bfe<T>>();
      if (opcode == "bfind") {
        return shift_amount ? MakeOperation<&Bfind<T, true>>() : MakeOperation<&Bfind<T, false>>();
      }
    }
    return std::nullopt;
  });
}

}  // namespace

std::optional<WarpOperation> FindBitOperation(InstructionName name) {
  const absl::string_view opcode = name.opcode();
  if (opcode == "slct") return FindSelect(name);
  if (opcode == "prmt") return FindPermute(name);
  if (opcode == "shf" || opcode == "bmsk" || opcode == "szext") return FindClampOrWrap(name);
  const int bits = name.TakeOneOf({"b16", "b32", "b64"});
  if (bits < 0) return FindTyped(name);
  if (!name.done()) return std::nullopt;
  if (bits == 0) return FindUntyped<uint16_t>(opcode);
  return bits == 1 ? FindUntyped<uint32_t>(opcode) : FindUntyped<uint64_t>(opcode);
}

}  // namespace stax::isa
