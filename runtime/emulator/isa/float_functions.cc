#include "runtime/emulator/isa/float_functions.h"

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "runtime/emulator/isa/approximate.h"
#include "runtime/emulator/isa/float_format.h"
#include "runtime/emulator/isa/float_names.h"
#include "runtime/emulator/isa/float_value.h"
#include "runtime/emulator/isa/instruction_name.h"
#include "runtime/emulator/isa/lanes.h"
#include "runtime/emulator/isa/warp_operation.h"

namespace stax::isa {
namespace {

// Variant 1 is .ftz.
template <Approximate kFunction, const FloatFormat& kFormat, typename Bits>
struct ApproximateFamily {
  template <unsigned kFtz>
  static Bits Apply(Bits a) {
    FloatModes modes;
    modes.ftz = kFtz != 0;
    return EachHalf<kFormat, Bits>(
        [&](uint64_t x) {
          return FinishFloat(kFormat,
                             ApproximateDouble(kFunction, LoadFloat(kFormat, x, modes.ftz)), modes);
        },
        a);
  }
};

// Variant bit 0 is .ftz, bit 1 is div.full.
struct DivideFamily {
  template <unsigned kVariant>
  static uint32_t Apply(uint32_t a, uint32_t b) {
    FloatModes modes;
    modes.ftz = (kVariant & 1) != 0;
    const double x = LoadFloat(kF32Format, a, modes.ftz);
    const double y = LoadFloat(kF32Format, b, modes.ftz);
    return static_cast<uint32_t>(
        FinishFloat(kF32Format, (kVariant & 2) != 0 ? x / y : DivideApproximate(x, y), modes));
  }
};

template <Approximate kFunction>
std::optional<WarpOperation> PickApproximate(bool ftz, FloatType type) {
  if (type == FloatType::kF32 && !(ftz && kFunction == Approximate::kTanh)) {
    return PickOperation<ApproximateFamily<kFunction, kF32Format, uint32_t>, 2>(ftz);
  }
  if constexpr (kFunction == Approximate::kExp2 || kFunction == Approximate::kTanh) {
    // ex2 of bf16 is always .ftz, which is all but invisible: 2^x of a tiny x is 1.
    const bool ftz_bf16 = kFunction == Approximate::kExp2;
    if (ftz == ftz_bf16 && type == FloatType::kBF16) {
      return PickOperation<ApproximateFamily<kFunction, kBF16Format, uint16_t>, 2>(ftz);
    }
    if (ftz == ftz_bf16 && type == FloatType::kBF16x2) {
      return PickOperation<ApproximateFamily<kFunction, kBF16Format, uint32_t>, 2>(ftz);
    }
    if (!ftz && type == FloatType::kF16) {
      return MakeOperation<
          &ApproximateFamily<kFunction, kF16Format, uint16_t>::template Apply<0>>();
    }
    if (!ftz && type == FloatType::kF16x2) {
      return MakeOperation<
          &ApproximateFamily<kFunction, kF16Format, uint32_t>::template Apply<0>>();
    }
  }
  return std::nullopt;
}

std::optional<WarpOperation> FindApproximate(InstructionName name) {
  const absl::string_view opcode = name.opcode();
  if (opcode == "div" && name.Take("full")) {
    const bool ftz = name.Take("ftz");
    if (TakeLastFloatType(name) != FloatType::kF32) return std::nullopt;
    return PickOperation<DivideFamily, 4>(ftz ? 3 : 2);
  }
  if (!name.Take("approx")) return std::nullopt;
  const bool ftz = name.Take("ftz");
  const std::optional<FloatType> type = TakeLastFloatType(name);
  if (!type.has_value()) return std::nullopt;
  if (*type == FloatType::kF64) {
    if (opcode == "rcp" && ftz) return MakeOperation<&ReciprocalF64>();
    if (opcode != "rsqrt") return std::nullopt;
    return ftz ? MakeOperation<&ReciprocalSqrtF64>() : MakeOperation<&ReciprocalSqrtFull>();
  }
  if (opcode == "div" && *type == FloatType::kF32) return PickOperation<DivideFamily, 4>(ftz);
  if (opcode == "rcp") return PickApproximate<Approximate::kReciprocal>(ftz, *type);
  if (opcode == "rsqrt") return PickApproximate<Approximate::kReciprocalSqrt>(ftz, *type);
  if (opcode == "sqrt") return PickApproximate<Approximate::kSqrt>(ftz, *type);
  if (opcode == "sin") return PickApproximate<Approximate::kSin>(ftz, *type);
  if (opcode == "cos") return PickApproximate<Approximate::kCos>(ftz, *type);
  if (opcode == "lg2") return PickApproximate<Approximate::kLog2>(ftz, *type);
  if (opcode == "ex2") return PickApproximate<Approximate::kExp2>(ftz, *type);
  if (opcode == "tanh") return PickApproximate<Approximate::kTanh>(ftz, *type);
  return std::nullopt;
}

enum class SignOp { kNegate, kAbsolute };

template <SignOp kOp, const FloatFormat& kFormat, typename Bits>
struct SignFamily {
  template <unsigned kFtz>
  static Bits Apply(Bits a) {
    return EachHalf<kFormat, Bits>(
        [](uint64_t x) -> uint64_t {
          if (kFtz != 0) x = FlushSubnormal(kFormat, x);
          const uint64_t sign = SignBit(kFormat);
          return kOp == SignOp::kNegate ? x ^ sign : x & ~sign;
        },
        a);
  }
};

// Variant bits: .ftz, .NaN, .xorsign.abs.
template <bool kMax, const FloatFormat& kFormat, typename Bits>
struct MinMaxFamily {
  template <unsigned kVariant>
  static Bits Apply(Bits a, Bits b) {
    return EachHalf<kFormat, Bits>(
        [](uint64_t x, uint64_t y) -> uint64_t {
          const uint64_t sign = SignBit(kFormat);
          if ((kVariant & 1) != 0) {
            x = FlushSubnormal(kFormat, x);
            y = FlushSubnormal(kFormat, y);
          }
          constexpr bool kNanWins = (kVariant & 2) != 0, kXorSign = (kVariant & 4) != 0;
          if (!kXorSign) return MinMaxFloat(kFormat, kMax, kNanWins, x, y);
          const uint64_t result = MinMaxFloat(kFormat, kMax, kNanWins, x & ~sign, y & ~sign);
          return IsNan(kFormat, result) ? result : result | ((x ^ y) & sign);
        },
        a, b);
  }
};

template <template <const FloatFormat&, typename> class Family, size_t kVariants>
WarpOperation PickType(FloatType type, unsigned variant) {
  switch (type) {
    case FloatType::kF16:
      return PickOperation<Family<kF16Format, uint16_t>, kVariants>(variant);
    case FloatType::kF16x2:
      return PickOperation<Family<kF16Format, uint32_t>, kVariants>(variant);
    case FloatType::kBF16:
      return PickOperation<Family<kBF16Format, uint16_t>, kVariants>(variant);
    case FloatType::kBF16x2:
      return PickOperation<Family<kBF16Format, uint32_t>, kVariants>(variant);
    case FloatType::kF32:
      return PickOperation<Family<kF32Format, uint32_t>, kVariants>(variant);
    case FloatType::kF64:
      break;
  }
  return PickOperation<Family<kF64Format, uint64_t>, kVariants>(variant);
}

template <const FloatFormat& kFormat, typename Bits>
using NegateFamily = SignFamily<SignOp::kNegate, kFormat, Bits>;
template <const FloatFormat& kFormat, typename Bits>
using AbsoluteFamily = SignFamily<SignOp::kAbsolute, kFormat, Bits>;
template <const FloatFormat& kFormat, typename Bits>
using MinFamily = MinMaxFamily<false, kFormat, Bits>;
template <const FloatFormat& kFormat, typename Bits>
using MaxFamily = MinMaxFamily<true, kFormat, Bits>;

// bf16 and f64 have no .ftz.
bool MayFlush(FloatType type) {
  return type == FloatType::kF16 || type == FloatType::kF16x2 || type == FloatType::kF32;
}

template <const FloatFormat& kFormat, typename Bits>
Bits CopySign(Bits a, Bits b) {
  constexpr Bits kSign = static_cast<Bits>(SignBit(kFormat));
  return (a & kSign) | (b & ~kSign);
}

}  // namespace

uint64_t MinMaxFloat(const FloatFormat& format, bool max, bool nan_wins, uint64_t a, uint64_t b) {
  const bool a_nan = IsNan(format, a), b_nan = IsNan(format, b);
  if (a_nan || b_nan) {
    if (nan_wins || (a_nan && b_nan)) return format.nan;
    return a_nan ? b : a;
  }
  // Numbers in order of their values: negative ones complemented below the positive ones.
  const uint64_t sign = SignBit(format);
  const uint64_t mask = sign | (sign - 1);
  const auto order = [&](uint64_t x) { return (x & sign) != 0 ? ~x & mask : x | sign; };
  return (order(a) < order(b)) != max ? a : b;
}

std::optional<WarpOperation> FindFloatFunction(InstructionName name) {
  const absl::string_view opcode = name.opcode();
  if (opcode == "neg" || opcode == "abs") {
    const bool ftz = name.Take("ftz");
    const std::optional<FloatType> type = TakeLastFloatType(name);
    if (!type.has_value() || (ftz && !MayFlush(*type))) return std::nullopt;
    return opcode == "neg" ? PickType<NegateFamily, 2>(*type, ftz)
                           : PickType<AbsoluteFamily, 2>(*type, ftz);
  }
  if (opcode == "min" || opcode == "max") {
    const bool ftz = name.Take("ftz");
    const bool nan = name.Take("NaN");
    bool xorsign = false;
    if (name.Take("xorsign")) {
      if (!name.Take("abs")) return std::nullopt;
      xorsign = true;
    }
    const std::optional<FloatType> type = TakeLastFloatType(name);
    if (!type.has_value() || (ftz && !MayFlush(*type))) return std::nullopt;
    if (*type == FloatType::kF64 && (nan || xorsign)) return std::nullopt;
    const unsigned variant = unsigned{ftz} | unsigned{nan} << 1 | unsigned{xorsign} << 2;
    return opcode == "min" ? PickType<MinFamily, 8>(*type, variant)
                           : PickType<MaxFamily, 8>(*type, variant);
  }
  if (opcode == "copysign") {
    const std::optional<FloatType> type = TakeLastFloatType(name);
    if (type == FloatType::kF32) return MakeOperation<&CopySign<kF32Format, uint32_t>>();
    if (type == FloatType::kF64) return MakeOperation<&CopySign<kF64Format, uint64_t>>();
    return std::nullopt;
  }
  return FindApproximate(name);
}

}  // namespace stax::isa
