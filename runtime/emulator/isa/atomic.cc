#include "runtime/emulator/isa/atomic.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/base/casts.h"
#include "absl/strings/string_view.h"
#include "runtime/emulator/isa/float_format.h"
#include "runtime/emulator/isa/float_functions.h"
#include "runtime/emulator/isa/float_value.h"

namespace stax::isa {
namespace {

using Found = std::optional<AtomicOperation>;

// The low bits of the right width: a signed T is not extended.
template <typename T>
constexpr uint64_t kMask = sizeof(T) == 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * sizeof(T))) - 1;

template <typename T>
uint64_t Add(uint64_t old, uint64_t operand, uint64_t /*compare*/) {
  return (old + operand) & kMask<T>;
}
template <typename T>
uint64_t Min(uint64_t old, uint64_t operand, uint64_t /*compare*/) {
  return static_cast<uint64_t>(std::min(static_cast<T>(old), static_cast<T>(operand))) & kMask<T>;
}
template <typename T>
uint64_t Max(uint64_t old, uint64_t operand, uint64_t /*compare*/) {
  return static_cast<uint64_t>(std::max(static_cast<T>(old), static_cast<T>(operand))) & kMask<T>;
}
template <typename T>
uint64_t And(uint64_t old, uint64_t operand, uint64_t /*compare*/) {
  return old & operand & kMask<T>;
}
template <typename T>
uint64_t Or(uint64_t old, uint64_t operand, uint64_t /*compare*/) {
  return (old | operand) & kMask<T>;
}
template <typename T>
uint64_t Xor(uint64_t old, uint64_t operand, uint64_t /*compare*/) {
  return (old ^ operand) & kMask<T>;
}
template <typename T>
uint64_t Exchange(uint64_t /*old*/, uint64_t operand, uint64_t /*compare*/) {
  return operand & kMask<T>;
}
template <typename T>
uint64_t CompareAndSwap(uint64_t old, uint64_t operand, uint64_t compare) {
  return static_cast<T>(old) == static_cast<T>(compare) ? operand & kMask<T> : old & kMask<T>;
}
// Counts from 0 to the operand and starts again.
uint64_t Increment(uint64_t old, uint64_t operand, uint64_t /*compare*/) {
  const auto value = static_cast<uint32_t>(old);
  return value >= static_cast<uint32_t>(operand) ? 0 : value + 1;
}
uint64_t Decrement(uint64_t old, uint64_t operand, uint64_t /*compare*/) {
  const auto value = static_cast<uint32_t>(old), top = static_cast<uint32_t>(operand);
  return value == 0 || value > top ? top : value - 1;
}

template <const FloatFormat& kFormat, typename Bits, bool kFtz = false>
uint64_t AddFloat(uint64_t old, uint64_t operand, uint64_t /*compare*/) {
  FloatModes modes;
  modes.ftz = kFtz;
  return EachHalf<kFormat, Bits>(
      [&](uint64_t a, uint64_t b) {
        return FinishFloat(kFormat, LoadFloat(kFormat, a, kFtz) + LoadFloat(kFormat, b, kFtz),
                           modes);
      },
      static_cast<Bits>(old), static_cast<Bits>(operand));
}
uint64_t AddF64(uint64_t old, uint64_t operand, uint64_t /*compare*/) {
  return absl::bit_cast<uint64_t>(absl::bit_cast<double>(old) + absl::bit_cast<double>(operand));
}
template <const FloatFormat& kFormat, typename Bits, bool kMax>
uint64_t MinMax(uint64_t old, uint64_t operand, uint64_t /*compare*/) {
  return EachHalf<kFormat, Bits>(
      [](uint64_t a, uint64_t b) { return MinMaxFloat(kFormat, kMax, /*nan_wins=*/false, a, b); },
      static_cast<Bits>(old), static_cast<Bits>(operand));
}

template <typename T>
AtomicOperation Of(AtomicFunction function) {
  return {function, sizeof(T), 1};
}

template <typename T>
Found FindArithmetic(absl::string_view op) {
  if (op == "add") return Of<T>(&Add<T>);
  if (op == "min") return Of<T>(&Min<T>);
  if (op == "max") return Of<T>(&Max<T>);
  return std::nullopt;
}

template <typename T>
Found FindBits(absl::string_view op) {
  if (op == "and") return Of<T>(&And<T>);
  if (op == "or") return Of<T>(&Or<T>);
  if (op == "xor") return Of<T>(&Xor<T>);
  if (op == "exch") return Of<T>(&Exchange<T>);
  if (op == "cas") return AtomicOperation{&CompareAndSwap<T>, sizeof(T), 2};
  return std::nullopt;
}

template <const FloatFormat& kFormat, typename Bits>
Found FindHalf(absl::string_view op) {
  if (op == "add") return Of<Bits>(&AddFloat<kFormat, Bits>);
  if (op == "min") return Of<Bits>(&MinMax<kFormat, Bits, false>);
  if (op == "max") return Of<Bits>(&MinMax<kFormat, Bits, true>);
  return std::nullopt;
}

}  // namespace

std::optional<AtomicOperation> FindAtomicOperation(absl::string_view op, absl::string_view type,
                                                   bool flush_subnormals) {
  if (type == "u32") {
    if (op == "inc") return Of<uint32_t>(&Increment);
    if (op == "dec") return Of<uint32_t>(&Decrement);
    return FindArithmetic<uint32_t>(op);
  }
  if (type == "s32") return FindArithmetic<int32_t>(op);
  if (type == "u64") return FindArithmetic<uint64_t>(op);
  if (type == "s64" && op != "add") return FindArithmetic<int64_t>(op);
  if (type == "b32") return FindBits<uint32_t>(op);
  if (type == "b64") return FindBits<uint64_t>(op);
  if (type == "b16" && op == "cas") return FindBits<uint16_t>(op);
  if (type == "f16") return FindHalf<kF16Format, uint16_t>(op);
  if (type == "f16x2") return FindHalf<kF16Format, uint32_t>(op);
  if (type == "bf16") return FindHalf<kBF16Format, uint16_t>(op);
  if (type == "bf16x2") return FindHalf<kBF16Format, uint32_t>(op);
  if (type == "f64" && op == "add") return Of<uint64_t>(&AddF64);
  if (type == "f32" && op == "add") {
    return Of<uint32_t>(flush_subnormals ? &AddFloat<kF32Format, uint32_t, true>
                                         : &AddFloat<kF32Format, uint32_t, false>);
  }
  return std::nullopt;
}

}  // namespace stax::isa
