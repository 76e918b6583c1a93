// Shapes of a program's inputs and outputs: binding the size symbols to what a caller passes.
#ifndef STAX_RUNTIME_SHAPES_H_
#define STAX_RUNTIME_SHAPES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ir/artifact/program.pb.h"
#include "ir/dtype.h"
#include "ir/index_expr.h"

namespace stax {

using SizeMap = std::map<std::string, int64_t>;

// A Program's Buffer with its formulas parsed.
struct BufferShape {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<IndexExpr> dims;

  // "f32[n, 128]"
  std::string ToString() const;
  absl::StatusOr<std::vector<int64_t>> Evaluate(const SizeMap& sizes) const;
};

absl::StatusOr<BufferShape> ParseBufferShape(const Buffer& buffer);

// Checks rank and dims of one tensor against its declared shape, binding symbols not yet in
// `sizes`. Dims that are formulas of several symbols are checked once all symbols are bound, by a
// second call with `final` set. InvalidArgument names input, dimension, actual and wanted size.
absl::Status BindShape(const BufferShape& shape, absl::Span<const int64_t> dims,
                       const std::map<std::string, SizeSymbolProto>& symbols, bool final,
                       SizeMap& sizes);

// Product of dims times the element size; OutOfRange beyond int64.
absl::StatusOr<int64_t> ByteSize(DType dtype, absl::Span<const int64_t> dims);

}  // namespace stax

#endif  // STAX_RUNTIME_SHAPES_H_
