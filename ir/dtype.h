// Element types of tensors and of scalar values in loop bodies.
//
// One table serves every part: names (as printed in all text forms), sizes, and classes.
// Half types (f16, bf16) are stored in 16 bits; arithmetic on them is done in f32 and rounded
// to nearest even after every operation, since that is what a graph of half tensors says.
#ifndef STAX_IR_DTYPE_H_
#define STAX_IR_DTYPE_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"

namespace stax {

enum class DType : uint8_t {
  kBool,
  kI8,
  kI16,
  kI32,
  kI64,
  kU8,
  kU16,
  kU32,
  kU64,
  kF16,
  kBF16,
  kF32,
  kF64,
};

inline constexpr int kNumDTypes = 13;

// "f32", "bf16", "i64", "bool" ...
std::string_view DTypeName(DType t);

// InvalidArgument that lists the known names when `name` is none of them.
absl::StatusOr<DType> ParseDType(std::string_view name);

// Bytes of one element in memory; bool takes one byte (0 or 1).
int DTypeBytes(DType t);

bool IsFloat(DType t);     // f16, bf16, f32, f64
bool IsHalf(DType t);      // f16, bf16
bool IsInteger(DType t);   // i8..i64, u8..u64; not bool
bool IsSigned(DType t);    // i8..i64 and the floats
bool IsUnsigned(DType t);  // u8..u64

}  // namespace stax

#endif  // STAX_IR_DTYPE_H_
