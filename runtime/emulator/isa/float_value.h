// One value of a narrow format (f16, bf16, f32) under an instruction's modifiers: how operands are
// read, and how results are rounded, flushed and clamped.
#ifndef STAX_RUNTIME_EMULATOR_ISA_FLOAT_VALUE_H_
#define STAX_RUNTIME_EMULATOR_ISA_FLOAT_VALUE_H_

#include <cstdint>

#include "absl/base/casts.h"
#include "runtime/emulator/isa/float_format.h"

namespace stax::isa {

struct FloatModes {
  Rounding rounding = Rounding::kNearestEven;
  bool ftz = false;
  bool sat = false;   // to [0, 1], NaN to +0
  bool relu = false;  // negative to +0
};

// The modes as a template parameter: rounding in the low two bits, then ftz, sat, relu.
constexpr unsigned EncodeModes(const FloatModes& modes) {
  return static_cast<unsigned>(modes.rounding) | unsigned{modes.ftz} << 2 |
         unsigned{modes.sat} << 3 | unsigned{modes.relu} << 4;
}
constexpr FloatModes DecodeModes(unsigned code) {
  return {static_cast<Rounding>(code & 3), (code & 4) != 0, (code & 8) != 0, (code & 16) != 0};
}

inline double LoadFloat(const FloatFormat& format, uint64_t bits, bool ftz) {
  return ToDouble(format, ftz ? FlushSubnormal(format, bits) : bits);
}

// What .ftz, .sat and .relu make of a rounded result.
inline uint64_t ClampFloat(const FloatFormat& format, uint64_t bits, const FloatModes& modes) {
  if (modes.ftz) bits = FlushSubnormal(format, bits);
  const bool negative = (bits & SignBit(format)) != 0;
  if (modes.relu && negative && !IsNan(format, bits)) return 0;
  if (modes.sat) {
    if (negative || IsNan(format, bits)) return 0;
    // 1.0: the exponent field that is biased to 0.
    const uint64_t one = static_cast<uint64_t>(1 - format.min_exponent) << (format.precision - 1);
    if (bits > one) return one;
  }
  return bits;
}

// `value` is exact or rounded to odd, or its rounding to f64 does no harm to that to the format.
inline uint64_t FinishFloat(const FloatFormat& format, double value, const FloatModes& modes,
                            Overflow overflow = Overflow::kIeee) {
  uint64_t bits = 0;
  if (&format == &kF32Format && modes.rounding == Rounding::kNearestEven &&
      overflow == Overflow::kIeee) {  // one instruction of the processor
    bits = absl::bit_cast<uint32_t>(static_cast<float>(value));
    if (IsNan(format, bits)) bits = format.nan;
  } else {
    bits = FromDouble(format, modes.rounding, value, overflow);
  }
  return ClampFloat(format, bits, modes);
}

// Calls `function` on the value, or on the lower and the upper half of an x2 register.
template <const FloatFormat& kFormat, typename Bits, typename Function, typename... Args>
inline Bits EachHalf(const Function& function, Args... args) {
  if constexpr (sizeof(Bits) * 8 == kFormat.bits) {
    return static_cast<Bits>(function(uint64_t{args}...));
  } else {
    return static_cast<Bits>(function((uint64_t{args} & 0xffff)...) |
                             function((uint64_t{args} >> 16)...) << 16);
  }
}

}  // namespace stax::isa

#endif  // STAX_RUNTIME_EMULATOR_ISA_FLOAT_VALUE_H_
