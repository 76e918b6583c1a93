#include "runtime/emulator/isa/float_arithmetic.h"

#include <cmath>
#include <cstdint>
#include <optional>

#include "absl/base/casts.h"
#include "absl/strings/string_view.h"
#include "runtime/emulator/isa/float_format.h"
#include "runtime/emulator/isa/float_names.h"
#include "runtime/emulator/isa/float_value.h"
#include "runtime/emulator/isa/instruction_name.h"
#include "runtime/emulator/isa/lanes.h"
#include "runtime/emulator/isa/round_to_odd.h"
#include "runtime/emulator/isa/warp_operation.h"
#include "runtime/emulator/isa/wide_float.h"

namespace stax::isa {
namespace {

enum class Op { kAdd, kSub, kMul, kDiv, kFma, kRcp, kSqrt };

constexpr int SourcesOf(Op op) {
  if (op == Op::kFma) return 3;
  return op == Op::kRcp || op == Op::kSqrt ? 1 : 2;
}

// On values of f32 or narrower. Rounding to nearest twice, to f64 and then to at most 24 bits, is
// rounding once for all but fma (Figueroa, "When is double rounding innocuous?", 1995).
template <Op kOp>
double Compute(double a, double b, double c, Rounding rounding) {
  const bool nearest = rounding == Rounding::kNearestEven;
  switch (kOp) {
    case Op::kAdd:
      return nearest ? a + b : OddAdd(a, b, rounding);
    case Op::kSub:
      return nearest ? a - b : OddAdd(a, -b, rounding);
    case Op::kMul:
      return a * b;  // exact
    case Op::kFma:
      return OddAdd(a * b, c, rounding);
    case Op::kDiv:
      return nearest ? a / b : OddDivide(a, b);
    case Op::kRcp:
      return nearest ? 1 / a : OddDivide(1, a);
    case Op::kSqrt:
      return nearest ? std::sqrt(a) : OddSqrt(a);
  }
  return 0;
}

template <Op kOp>
double ComputeF64(double a, double b, double c, Rounding rounding) {
  switch (kOp) {
    case Op::kAdd:
      return AddF64(a, b, rounding);
    case Op::kSub:
      return AddF64(a, -b, rounding);
    case Op::kMul:
      return MultiplyF64(a, b, rounding);
    case Op::kFma:
      return FmaF64(a, b, c, rounding);
    case Op::kDiv:
      return DivideF64(a, b, rounding);
    case Op::kRcp:
      return DivideF64(1, a, rounding);
    case Op::kSqrt:
      return SqrtF64(a, rounding);
  }
  return 0;
}

// The modes of an instance: f32 and f64 have roundings, halves have all the rest.
constexpr unsigned kF32Variants = 16;
constexpr unsigned kF64Variants = 4;
constexpr unsigned kHalfVariants = 8;
constexpr unsigned kHalfShift = 2;  // past the rounding, which is .rn

template <Op kOp, const FloatFormat& kFormat, typename Bits>
Bits Run(Bits a, Bits b, Bits c, const FloatModes& modes) {
  return EachHalf<kFormat, Bits>(
      [&](uint64_t x, uint64_t y, uint64_t z) {
        const double value =
            Compute<kOp>(LoadFloat(kFormat, x, modes.ftz), LoadFloat(kFormat, y, modes.ftz),
                         LoadFloat(kFormat, z, modes.ftz), modes.rounding);
        return FinishFloat(kFormat, value, modes);
      },
      a, b, c);
}

template <Op kOp, const FloatFormat& kFormat, typename Bits, int kSources = SourcesOf(kOp)>
struct Family;

template <Op kOp, const FloatFormat& kFormat, typename Bits>
struct Family<kOp, kFormat, Bits, 1> {
  template <unsigned kModes>
  static Bits Apply(Bits a) {
    return Run<kOp, kFormat, Bits>(a, 0, 0, DecodeModes(kModes));
  }
};

template <Op kOp, const FloatFormat& kFormat, typename Bits>
struct Family<kOp, kFormat, Bits, 2> {
  template <unsigned kModes>
  static Bits Apply(Bits a, Bits b) {
    constexpr unsigned kShift = kFormat.bits == 16 ? kHalfShift : 0;
    return Run<kOp, kFormat, Bits>(a, b, 0, DecodeModes(kModes << kShift));
  }
};

template <Op kOp, const FloatFormat& kFormat, typename Bits>
struct Family<kOp, kFormat, Bits, 3> {
  template <unsigned kModes>
  static Bits Apply(Bits a, Bits b, Bits c) {
    constexpr unsigned kShift = kFormat.bits == 16 ? kHalfShift : 0;
    return Run<kOp, kFormat, Bits>(a, b, c, DecodeModes(kModes << kShift));
  }
};

template <Op kOp, int kSources = SourcesOf(kOp)>
struct FamilyF64;

template <Op kOp>
struct FamilyF64<kOp, 1> {
  template <unsigned kRounding>
  static double Apply(double a) {
    return ComputeF64<kOp>(a, 0, 0, static_cast<Rounding>(kRounding));
  }
};

template <Op kOp>
struct FamilyF64<kOp, 2> {
  template <unsigned kRounding>
  static double Apply(double a, double b) {
    return ComputeF64<kOp>(a, b, 0, static_cast<Rounding>(kRounding));
  }
};

template <Op kOp>
struct FamilyF64<kOp, 3> {
  template <unsigned kRounding>
  static double Apply(double a, double b, double c) {
    return ComputeF64<kOp>(a, b, c, static_cast<Rounding>(kRounding));
  }
};

template <Op kOp>
WarpOperation Pick(FloatType type, const FloatModes& modes) {
  const unsigned code = EncodeModes(modes);
  if (type == FloatType::kF64) return PickOperation<FamilyF64<kOp>, kF64Variants>(code);
  if constexpr (SourcesOf(kOp) > 1 && kOp != Op::kDiv) {
    const unsigned half_code = code >> kHalfShift;
    switch (type) {
      case FloatType::kF16:
        return PickOperation<Family<kOp, kF16Format, uint16_t>, kHalfVariants>(half_code);
      case FloatType::kF16x2:
        return PickOperation<Family<kOp, kF16Format, uint32_t>, kHalfVariants>(half_code);
      case FloatType::kBF16:
        return PickOperation<Family<kOp, kBF16Format, uint16_t>, kHalfVariants>(half_code);
      case FloatType::kBF16x2:
        return PickOperation<Family<kOp, kBF16Format, uint32_t>, kHalfVariants>(half_code);
      default:
        break;
    }
  }
  return PickOperation<Family<kOp, kF32Format, uint32_t>, kF32Variants>(code);
}

std::optional<Op> OpOf(absl::string_view opcode) {
  if (opcode == "add") return Op::kAdd;
  if (opcode == "sub") return Op::kSub;
  if (opcode == "mul") return Op::kMul;
  if (opcode == "div") return Op::kDiv;
  if (opcode == "fma" || opcode == "mad") return Op::kFma;
  if (opcode == "rcp") return Op::kRcp;
  if (opcode == "sqrt") return Op::kSqrt;
  return std::nullopt;
}

// Which modifiers the ISA lets the type have.
bool Legal(Op op, FloatType type, bool mad, const FloatModes& modes) {
  const bool additive = op == Op::kAdd || op == Op::kSub || op == Op::kMul || op == Op::kFma;
  switch (type) {
    case FloatType::kF64:
      return !modes.ftz && !modes.sat && !modes.relu;
    case FloatType::kF32:
      return !modes.relu && (!modes.sat || additive);
    case FloatType::kF16:
    case FloatType::kF16x2:
      return additive && !mad && modes.rounding == Rounding::kNearestEven &&
             (!modes.relu || (op == Op::kFma && !modes.sat));
    case FloatType::kBF16:
    case FloatType::kBF16x2:
      return additive && !mad && modes.rounding == Rounding::kNearestEven && !modes.ftz &&
             !modes.sat && (!modes.relu || op == Op::kFma);
  }
  return false;
}

}  // namespace

std::optional<WarpOperation> FindFloatArithmetic(InstructionName name) {
  const std::optional<Op> op = OpOf(name.opcode());
  if (!op.has_value()) return std::nullopt;
  FloatModes modes;
  const std::optional<Rounding> rounding = TakeRounding(name);
  modes.rounding = rounding.value_or(Rounding::kNearestEven);
  modes.ftz = name.Take("ftz");
  modes.sat = name.Take("sat");
  modes.relu = name.Take("relu");
  const std::optional<FloatType> type = TakeLastFloatType(name);
  if (!type.has_value() || !Legal(*op, *type, name.opcode() == "mad", modes)) return std::nullopt;
  switch (*op) {
    case Op::kAdd:
      return Pick<Op::kAdd>(*type, modes);
    case Op::kSub:
      return Pick<Op::kSub>(*type, modes);
    case Op::kMul:
      return Pick<Op::kMul>(*type, modes);
    default:
      break;
  }
  // These have no default rounding.
  if (!rounding.has_value()) return std::nullopt;
  switch (*op) {
    case Op::kFma:
      return Pick<Op::kFma>(*type, modes);
    case Op::kDiv:
      return Pick<Op::kDiv>(*type, modes);
    case Op::kRcp:
      return Pick<Op::kRcp>(*type, modes);
    default:
      return Pick<Op::kSqrt>(*type, modes);
  }
}

}  // namespace stax::isa
