#include "ir/artifact/formula.h"

#include <cmath>
#include <cstdint>

#include "absl/strings/str_cat.h"

namespace stax {
namespace {

// Whole doubles are exact up to here; larger constants are written as formulas.
constexpr int64_t kMaxExactDouble = int64_t{1} << 53;

}  // namespace

google::protobuf::Value ToValue(const IndexExpr& e) {
  google::protobuf::Value value;
  std::optional<int64_t> constant = e.AsConst();
  if (constant.has_value() && std::abs(*constant) < kMaxExactDouble) {
    value.set_number_value(static_cast<double>(*constant));
  } else {
    value.set_string_value(e.ToString());
  }
  return value;
}

absl::StatusOr<IndexExpr> FromValue(const google::protobuf::Value& value) {
  if (value.kind_case() == google::protobuf::Value::kStringValue)
    return IndexExpr::Parse(value.string_value());
  if (value.kind_case() != google::protobuf::Value::kNumberValue)
    return absl::InvalidArgumentError("a number or a formula in the size symbols is missing");
  double number = value.number_value();
  if (!(std::abs(number) < static_cast<double>(kMaxExactDouble)) || number != std::floor(number))
    return absl::InvalidArgumentError(absl::StrCat(number, " is not a whole number below 2^53"));
  return IndexExpr(static_cast<int64_t>(number));
}

}  // namespace stax
