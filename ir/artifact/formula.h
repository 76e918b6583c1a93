// Numbers that may depend on symbolic sizes, as google.protobuf.Value: a JSON number when constant,
// else a string with the formula.
#ifndef STAX_IR_ARTIFACT_FORMULA_H_
#define STAX_IR_ARTIFACT_FORMULA_H_

#include "absl/status/statusor.h"
#include "google/protobuf/struct.pb.h"
#include "ir/index_expr.h"

namespace stax {

google::protobuf::Value ToValue(const IndexExpr& e);

// InvalidArgument when the value is neither a whole number below 2^53 nor a formula.
absl::StatusOr<IndexExpr> FromValue(const google::protobuf::Value& value);

}  // namespace stax

#endif  // STAX_IR_ARTIFACT_FORMULA_H_
