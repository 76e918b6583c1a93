// A compile-time constant of any element type.
//
// Floating values are held as double, already rounded to the type; integers and bool as int64
// (u64 as its two's-complement bits), already wrapped to the type's width.
#ifndef STAX_IR_SCALAR_H_
#define STAX_IR_SCALAR_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "ir/dtype.h"

namespace stax {

struct Scalar {
  DType dtype = DType::kF32;
  double f = 0.0;  // valid when IsFloat(dtype)
  int64_t i = 0;   // valid otherwise

  static Scalar Float(DType t, double value);  // rounds to `t`
  static Scalar Int(DType t, int64_t value);   // wraps to `t`; bool: value != 0
  // `value` converted to `t` by the cast rules of ir/loop_op.h.
  static Scalar FromDouble(DType t, double value);

  // Bit-exact: NaN equals NaN, 0.0 differs from -0.0.
  bool operator==(const Scalar& other) const;
};

// Shortest text that parses back to the same bits: "0.5", "-0.0", "inf", "nan", "42", "true".
std::string ToText(const Scalar& s);
absl::StatusOr<Scalar> ParseScalar(DType t, std::string_view text);

// Rounding of a double to a 16- or 32-bit format (to nearest even), as a double. f64: identity.
double RoundTo(DType t, double value);

// One element of memory <-> Scalar. `bytes` points to DTypeBytes(t) bytes. Every NaN is stored as
// the positive quiet NaN without payload.
Scalar LoadScalar(DType t, const void* bytes);
void StoreScalar(const Scalar& s, void* bytes);

}  // namespace stax

#endif  // STAX_IR_SCALAR_H_
