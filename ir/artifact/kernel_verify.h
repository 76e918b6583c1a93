// The part of VerifyProgram about one kernel.
#ifndef STAX_IR_ARTIFACT_KERNEL_VERIFY_H_
#define STAX_IR_ARTIFACT_KERNEL_VERIFY_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/struct.pb.h"
#include "ir/artifact/program.pb.h"
#include "ir/index_expr.h"
#include "ir/loop_nest.h"

namespace stax {

// The declared size symbols of a program.
struct ProgramSizes {
  std::map<std::string, SizeSymbolProto> symbols;
  std::map<std::string, int64_t> hints;
};

// Value at the hints. InvalidArgument when `e` uses something else than the symbols, or has no
// value or a negative one.
absl::StatusOr<int64_t> SizeAtHints(const IndexExpr& e, const ProgramSizes& sizes);
// The same of a formula as text or as a number.
absl::StatusOr<int64_t> SizeAtHints(const std::string& formula, const ProgramSizes& sizes);
absl::StatusOr<int64_t> SizeAtHints(const google::protobuf::Value& formula,
                                    const ProgramSizes& sizes);

// Everything in `kernel` but its code. Returns its nest, which has passed VerifyStructure.
absl::StatusOr<LoopNest> VerifyKernel(const Kernel& kernel, const Target& target,
                                      const ProgramSizes& sizes);

}  // namespace stax

#endif  // STAX_IR_ARTIFACT_KERNEL_VERIFY_H_
