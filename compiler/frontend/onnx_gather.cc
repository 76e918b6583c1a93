// Operators that look elements up by index tensors.
#include <numeric>
#include <utility>

#include "compiler/frontend/onnx_ops.h"
#include "compiler/frontend/onnx_status.h"
#include "ir/graph_rules.h"

namespace stax {
namespace {

absl::Status CheckIndices(OnnxNode& n, int i) {
  if (IsInteger(n.dtype(i))) return absl::OkStatus();
  return OnnxError("input ", i, " (indices) is ", DTypeName(n.dtype(i)),
                   "; it must be int32 or int64");
}

absl::Status Gather(OnnxNode& n) {
  ONNX_RETURN_IF_ERROR(CheckIndices(n, 1));
  ONNX_ASSIGN_OR_RETURN(const int axis, n.Axis(n.Int("axis", 0), n.rank(0)));
  n.Set(0, n.b().Gather(n.In(0), n.In(1), axis));
  return absl::OkStatus();
}

absl::Status GatherElements(OnnxNode& n) {
  ONNX_RETURN_IF_ERROR(CheckIndices(n, 1));
  ONNX_ASSIGN_OR_RETURN(const int axis, n.Axis(n.Int("axis", 0), n.rank(0)));
  n.Set(0, n.b().GatherElements(n.In(0), n.In(1), axis));
  return absl::OkStatus();
}

// data [b.., i.., rest..], indices [b.., m.., k]: the last axis of the indices is a position in
// i... Data is read as [b i, rest..] and looked up by one row-major position.
absl::Status GatherND(OnnxNode& n) {
  ONNX_RETURN_IF_ERROR(CheckIndices(n, 1));
  GraphBuilder& b = n.b();
  const int64_t batch = n.Int("batch_dims", 0);
  if (n.rank(0) < 1 || n.rank(1) < 1 || batch < 0 || batch >= std::min(n.rank(0), n.rank(1)))
    return OnnxError("attribute batch_dims is ", batch,
                     "; it must be from 0 to less than the ranks ", n.rank(0), " and ", n.rank(1),
                     " of the inputs, which must be at least 1");
  const int lead = static_cast<int>(batch);
  const Dims data = n.dims(0), indices = n.dims(1);
  const std::optional<int64_t> k = indices.back().AsConst();
  if (!k.has_value() || *k < 1 || *k > n.rank(0) - lead)
    return OnnxError("input 1 (indices) has shape ", ShapeText(indices),
                     "; its last size must be "
                     "from 1 to ",
                     n.rank(0) - lead);
  const Dims result(indices.begin(), indices.end() - 1);
  const OnnxTensor all = b.Cast(n.In(1), DType::kI64);
  OnnxTensor position = b.Expand(b.Scalar(DType::kI64, 0), result);
  IndexExpr rows = 1;
  for (int d = 0; d < lead + *k; ++d) {
    const OnnxTensor extent = n.SizeTensor(data[d], DType::kI64);
    OnnxTensor index;
    if (d < lead) {
      index = b.Iota(DType::kI64, result, d);
    } else {
      index = b.Squeeze(b.Slice(all, -1, d - lead, 1, 1), {-1});
      const OnnxTensor is_negative = b.Binary(OpCode::kLt, index, n.Like(index, 0));
      index = b.Where(is_negative, b.Add(index, extent), index);
    }
    position = b.Add(b.Mul(position, extent), index);
    rows = rows * data[d];
  }
  Dims flat = {rows};
  flat.insert(flat.end(), data.begin() + lead + *k, data.end());
  n.Set(0, b.Gather(b.Reshape(n.In(0), flat), position, 0));
  return absl::OkStatus();
}

// The first sequence_lens[b] steps of each sequence turned around, the rest as it is.
absl::Status ReverseSequence(OnnxNode& n) {
  GraphBuilder& b = n.b();
  const int64_t time = n.Int("time_axis", 0), batch = n.Int("batch_axis", 1);
  if (time + batch != 1 || time * batch != 0 || n.rank(0) < 2)
    return OnnxError("attributes time_axis and batch_axis are ", time, " and ", batch,
                     "; one must be 0 and the other 1, and input 0 of rank 2 at least");
  ONNX_RETURN_IF_ERROR(CheckIndices(n, 1));
  const Dims dims = n.dims(0);
  Dims aligned(dims.size(), 1);
  if (n.rank(1) != 1)
    return OnnxError("input 1 (sequence_lens) has shape ", ShapeText(n.dims(1)),
                     "; it must be of rank 1");
  aligned[batch] = n.dims(1)[0];
  const OnnxTensor length = b.Reshape(b.Cast(n.In(1), DType::kI64), aligned);
  const OnnxTensor step = b.Iota(DType::kI64, dims, static_cast<int>(time));
  const OnnxTensor turned = b.Sub(b.Sub(length, step), n.Like(length, 1));
  const OnnxTensor from = b.Where(b.Binary(OpCode::kLt, step, length), turned, step);
  n.Set(0, b.GatherElements(n.In(0), from, static_cast<int>(time)));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const OnnxOp> OnnxGatherOps() {
  static constexpr OnnxOp kOps[] = {
      {"Gather", 1, 2, 2, Gather},
      {"GatherElements", 11, 2, 2, GatherElements},
      {"GatherND", 11, 2, 2, GatherND},
      {"ReverseSequence", 10, 2, 2, ReverseSequence},
  };
  return kOps;
}

}  // namespace stax
