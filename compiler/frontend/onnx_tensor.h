// ONNX tensors as plain data: dtype, dims and dense row-major little-endian bytes.
//
// Stands alone (no graph, no compiler), since programs that only read test data or weights need it:
//
//   absl::StatusOr<NamedOnnxValue> x = ParseOnnxTensor(contents_of("input_0.pb"));
//   x->name, x->value.dtype, x->value.dims, x->value.bytes
//
// Nothing is trusted: sizes are checked against the data that is there before memory is taken, so
// a hostile file costs no more memory than a few times its own length.
#ifndef STAX_COMPILER_FRONTEND_ONNX_TENSOR_H_
#define STAX_COMPILER_FRONTEND_ONNX_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/dtype.h"
#include "ir/host_tensor.h"

namespace onnx {
class SparseTensorProto;
class TensorProto;
}  // namespace onnx

namespace stax {

// Tensors from here on are refused, in elements and in bytes: no device has as much memory, and
// index arithmetic below it has room.
inline constexpr int64_t kMaxOnnxElements = int64_t{1} << 40;
inline constexpr int kMaxOnnxRank = 32;

using OnnxValue = HostTensor;

struct NamedOnnxValue {
  std::string name;
  OnnxValue value;
};

// Product of dims. InvalidArgument for a negative dim, a rank above kMaxOnnxRank, or
// kMaxOnnxElements elements and more.
absl::StatusOr<int64_t> OnnxElements(const std::vector<int64_t>& dims);

// ONNX's TensorProto.DataType. Unimplemented for types Stax has no element type for (string,
// complex); InvalidArgument for numbers that are no type at all.
absl::StatusOr<DType> DTypeFromOnnx(int data_type);
int OnnxFromDType(DType dtype);
// "float", "string", "bfloat16"; "type 77" for what is none.
std::string OnnxTypeName(int data_type);

// From raw_data or the typed field. InvalidArgument names the tensor and says what is wrong: data
// kept in another file, wrong length, dims that cannot be. Unimplemented for strings and complex.
absl::StatusOr<OnnxValue> OnnxValueFromProto(const onnx::TensorProto& tensor);
// Made dense. Index forms [nnz] and [nnz, rank].
absl::StatusOr<OnnxValue> OnnxValueFromSparse(const onnx::SparseTensorProto& sparse);

// A serialized TensorProto, e.g. a file input_0.pb of an ONNX backend test.
absl::StatusOr<NamedOnnxValue> ParseOnnxTensor(std::string_view serialized);

}  // namespace stax

#endif  // STAX_COMPILER_FRONTEND_ONNX_TENSOR_H_
