#include "runtime/emulator/isa/mma.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "absl/base/casts.h"
#include "absl/strings/string_view.h"
#include "runtime/emulator/isa/float_format.h"
#include "runtime/emulator/isa/instruction_name.h"
#include "runtime/emulator/isa/warp_operation.h"

namespace stax::isa {
namespace {

// The sides of the largest matrices: 32 by 16 and 16 by 64.
constexpr int kMaxOuter = 32, kMaxK = 64;
constexpr int kTf32Shift = 13;  // the bits of an f32 that tf32 does not have

bool IsF8(MmaElement e) { return e == MmaElement::kE4M3 || e == MmaElement::kE5M2; }
bool IsByte(MmaElement e) { return e == MmaElement::kS8 || e == MmaElement::kU8; }
bool IsNibble(MmaElement e) { return e == MmaElement::kS4 || e == MmaElement::kU4; }

// An element of a matrix as a double, which holds all but the f64 ones' sums exactly.
double Decode(MmaElement element, uint64_t bits) {
  switch (element) {
    case MmaElement::kF16:
      return ToDouble(kF16Format, bits);
    case MmaElement::kBF16:
      return ToDouble(kBF16Format, bits);
    case MmaElement::kTF32:
      return ToDouble(kTF32Format, bits >> kTf32Shift);
    case MmaElement::kF32:
      return ToDouble(kF32Format, bits);
    case MmaElement::kF64:
      return absl::bit_cast<double>(bits);
    case MmaElement::kE4M3:
      return ToDouble(kE4M3Format, bits);
    case MmaElement::kE5M2:
      return ToDouble(kE5M2Format, bits);
    case MmaElement::kS8:
      return static_cast<int8_t>(bits);
    case MmaElement::kS4:
      return static_cast<double>(bits & 7) - static_cast<double>(bits & 8);
    case MmaElement::kU8:
    case MmaElement::kU4:
      return static_cast<double>(bits);
    case MmaElement::kS32:
      return static_cast<int32_t>(bits);
  }
  return 0;
}

uint64_t Encode(MmaElement element, bool satfinite, double value) {
  switch (element) {
    case MmaElement::kF16:
      return FromDouble(kF16Format, Rounding::kNearestEven, value);
    case MmaElement::kF64:
      return absl::bit_cast<uint64_t>(value);
    case MmaElement::kS32: {
      auto sum = static_cast<int64_t>(value);  // exact
      if (satfinite) {
        sum = std::clamp<int64_t>(sum, std::numeric_limits<int32_t>::min(),
                                  std::numeric_limits<int32_t>::max());
      }
      return static_cast<uint32_t>(sum);
    }
    default:
      return FromDouble(kF32Format, Rounding::kNearestEven, value);
  }
}

uint64_t LoadRegister(const MmaFragment& fragment, const void* reg, int lane) {
  return fragment.register_bytes == 8 ? static_cast<const uint64_t*>(reg)[lane]
                                      : static_cast<const uint32_t*>(reg)[lane];
}

// Calls `body(position, reg, lane, index)` for all elements of the fragment.
template <typename Body>
void ForEachElement(const MmaFragment& fragment, MmaMatrix matrix, const Body& body) {
  for (int reg = 0; reg < fragment.registers; ++reg) {
    for (int lane = 0; lane < kWarpLanes; ++lane) {
      for (int index = 0; index < fragment.elements_a_register; ++index) {
        body(FragmentPosition(fragment, matrix, lane, reg, index), reg, lane, index);
      }
    }
  }
}

// values: [rows, columns] row-major
void LoadMatrix(const MmaFragment& fragment, MmaMatrix matrix, const void* const* registers,
                double* values) {
  const int bits = BitsOf(fragment.element);
  const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  ForEachElement(fragment, matrix, [&](MatrixPosition at, int reg, int lane, int index) {
    const uint64_t packed = LoadRegister(fragment, registers[reg], lane);
    values[at.row * fragment.columns + at.column] =
        Decode(fragment.element, packed >> (bits * index) & mask);
  });
}

void StoreMatrix(const MmaFragment& fragment, bool satfinite, const double* values,
                 void* const* registers) {
  const int bits = BitsOf(fragment.element);
  for (int reg = 0; reg < fragment.registers; ++reg) {
    for (int lane = 0; lane < kWarpLanes; ++lane) {
      uint64_t packed = 0;
      for (int index = 0; index < fragment.elements_a_register; ++index) {
        const MatrixPosition at =
            FragmentPosition(fragment, MmaMatrix::kAccumulator, lane, reg, index);
        packed |= Encode(fragment.element, satfinite, values[at.row * fragment.columns + at.column])
                  << (bits * index);
      }
      if (fragment.register_bytes == 8) {
        static_cast<uint64_t*>(registers[reg])[lane] = packed;
      } else {
        static_cast<uint32_t*>(registers[reg])[lane] = static_cast<uint32_t>(packed);
      }
    }
  }
}

// The shapes m * n * k that the ISA has for elements of `a`; `m` is 8 or 16, n is 8.
bool HasShape(MmaElement a, int m, int k) {
  switch (a) {
    case MmaElement::kF16:
    case MmaElement::kBF16:
      return m == 16 && (k == 8 || k == 16);
    case MmaElement::kTF32:
      return m == 16 && (k == 4 || k == 8);
    case MmaElement::kF64:
      return k == 4 || (m == 16 && (k == 8 || k == 16));
    case MmaElement::kE4M3:
    case MmaElement::kE5M2:
      return m == 16 && (k == 16 || k == 32);
    case MmaElement::kS8:
    case MmaElement::kU8:
      return k == 16 || (m == 16 && k == 32);
    case MmaElement::kS4:
    case MmaElement::kU4:
      return k == 32 || (m == 16 && k == 64);
    default:
      return false;
  }
}

bool HasTypes(MmaElement d, MmaElement a, MmaElement b, MmaElement c) {
  if (IsByte(a)) return IsByte(b) && c == MmaElement::kS32 && d == c;
  if (IsNibble(a)) return IsNibble(b) && c == MmaElement::kS32 && d == c;
  const auto f16_or_f32 = [](MmaElement e) {
    return e == MmaElement::kF16 || e == MmaElement::kF32;
  };
  if (IsF8(a)) return IsF8(b) && f16_or_f32(c) && d == c;
  if (a != b) return false;
  if (a == MmaElement::kF16) return f16_or_f32(c) && f16_or_f32(d);
  if (a == MmaElement::kF64) return c == MmaElement::kF64 && d == c;
  return c == MmaElement::kF32 && d == c;
}

}  // namespace

int BitsOf(MmaElement element) {
  switch (element) {
    case MmaElement::kF64:
      return 64;
    case MmaElement::kF16:
    case MmaElement::kBF16:
      return 16;
    case MmaElement::kE4M3:
    case MmaElement::kE5M2:
    case MmaElement::kS8:
    case MmaElement::kU8:
      return 8;
    case MmaElement::kS4:
    case MmaElement::kU4:
      return 4;
    default:
      return 32;
  }
}

MmaFragment MakeFragment(MmaElement element, int rows, int columns) {
  MmaFragment result;
  result.element = element;
  result.rows = rows;
  result.columns = columns;
  result.register_bytes = element == MmaElement::kF64 ? 8 : 4;
  result.elements_a_register = 8 * result.register_bytes / BitsOf(element);
  result.registers = rows * columns / (kWarpLanes * result.elements_a_register);
  return result;
}

std::optional<MmaElement> TakeMmaElement(InstructionName& name) {
  const int index = name.TakeOneOf(
      {"f16", "bf16", "tf32", "f32", "f64", "e4m3", "e5m2", "s8", "u8", "s4", "u4", "s32"});
  if (index < 0) return std::nullopt;
  return static_cast<MmaElement>(index);
}

MatrixPosition FragmentPosition(const MmaFragment& fragment, MmaMatrix matrix, int lane, int reg,
                                int index) {
  const int per_register = fragment.elements_a_register;
  if (fragment.wmma) {
    const int slot = (lane * fragment.registers + reg) * per_register + index;
    const int element = slot % (fragment.rows * fragment.columns);
    return {element / fragment.columns, element % fragment.columns};
  }
  const int group = lane / 4, in_group = lane % 4;
  if (matrix == MmaMatrix::kAccumulator) {
    // Two neighbours in a row; the next two are eight rows below.
    const int element = reg * per_register + index;
    return {group + 8 * (element / 2), 2 * in_group + element % 2};
  }
  // A register of the four lanes of a group holds neighbours in k.
  const int depth = per_register * in_group + index;
  const int per_group = 4 * per_register;
  if (matrix == MmaMatrix::kB) return {depth + per_group * reg, group};
  // Of a, registers go down through the rows first.
  const int row_blocks = fragment.rows / 8;
  return {group + 8 * (reg % row_blocks), depth + per_group * (reg / row_blocks)};
}

std::optional<MmaOperation> FindMma(absl::string_view text) {
  if (text.empty() || text.back() == '.') return std::nullopt;
  InstructionName name(text);
  if (name.opcode() != "mma" || !name.Take("sync") || !name.Take("aligned")) return std::nullopt;
  const int shape = name.TakeOneOf(
      {"m8n8k4", "m8n8k16", "m8n8k32", "m16n8k4", "m16n8k8", "m16n8k16", "m16n8k32", "m16n8k64"});
  if (shape < 0 || !name.Take("row") || !name.Take("col")) return std::nullopt;
  static constexpr int kM[] = {8, 8, 8, 16, 16, 16, 16, 16};
  static constexpr int kK[] = {4, 16, 32, 4, 8, 16, 32, 64};
  const int m = kM[shape], n = 8, k = kK[shape];
  MmaOperation result;
  result.satfinite = name.Take("satfinite");
  const std::optional<MmaElement> d = TakeMmaElement(name), a = TakeMmaElement(name),
                                  b = TakeMmaElement(name), c = TakeMmaElement(name);
  if (!d.has_value() || !a.has_value() || !b.has_value() || !c.has_value() || !name.done()) {
    return std::nullopt;
  }
  if (!HasTypes(*d, *a, *b, *c) || !HasShape(*a, m, k)) return std::nullopt;
  if (result.satfinite && *d != MmaElement::kS32) return std::nullopt;
  result.a = MakeFragment(*a, m, k);
  result.b = MakeFragment(*b, k, n);
  result.c = MakeFragment(*c, m, n);
  result.d = MakeFragment(*d, m, n);
  return result;
}

void RunMma(const MmaOperation& operation, const void* const* a, const void* const* b,
            const void* const* c, void* const* d) {
  double left[kMaxOuter * kMaxK], right[kMaxK * kMaxOuter], sums[kMaxOuter * kMaxOuter];
  LoadMatrix(operation.a, MmaMatrix::kA, a, left);
  LoadMatrix(operation.b, MmaMatrix::kB, b, right);
  LoadMatrix(operation.c, MmaMatrix::kAccumulator, c, sums);
  const bool fused = operation.a.element == MmaElement::kF64;
  const int depth = operation.a.columns, columns = operation.b.columns;
  for (int row = 0; row < operation.a.rows; ++row) {
    double* sum = sums + row * columns;
    for (int k = 0; k < depth; ++k) {
      const double factor = left[row * depth + k];
      for (int column = 0; column < columns; ++column) {
        const double other = right[k * columns + column];
        sum[column] = fused ? std::fma(factor, other, sum[column]) : sum[column] + factor * other;
      }
    }
  }
  StoreMatrix(operation.d, operation.satfinite, sums, d);
}

}  // namespace stax::isa
