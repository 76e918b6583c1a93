// Propagation of absl::Status in the ONNX frontend.
//
//   ONNX_RETURN_IF_ERROR(CheckRank(x));
//   ONNX_ASSIGN_OR_RETURN(const int axis, node.Axis(-1, rank));
#ifndef STAX_COMPILER_FRONTEND_ONNX_STATUS_H_
#define STAX_COMPILER_FRONTEND_ONNX_STATUS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define ONNX_RETURN_IF_ERROR(expr)                                             \
  do {                                                                         \
    if (absl::Status status_of_ = (expr); !status_of_.ok()) return status_of_; \
  } while (false)

// NOLINTBEGIN(bugprone-macro-parentheses): `tmp` is a name, `lhs` may be a declaration.
#define ONNX_CONCAT_INNER_(a, b) a##b
#define ONNX_CONCAT_(a, b) ONNX_CONCAT_INNER_(a, b)
#define ONNX_ASSIGN_OR_RETURN_(tmp, lhs, expr) \
  auto tmp = (expr);                           \
  if (!tmp.ok()) return tmp.status();          \
  lhs = *std::move(tmp)
#define ONNX_ASSIGN_OR_RETURN(lhs, ...) \
  ONNX_ASSIGN_OR_RETURN_(ONNX_CONCAT_(statusor_, __LINE__), lhs, (__VA_ARGS__))
// NOLINTEND(bugprone-macro-parentheses)

#endif  // STAX_COMPILER_FRONTEND_ONNX_STATUS_H_
