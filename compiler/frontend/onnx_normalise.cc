// Softmax and its kin, and the normalisations at inference.
#include <cmath>
#include <numeric>
#include <utility>

#include "compiler/frontend/onnx_ops.h"
#include "compiler/frontend/onnx_status.h"
#include "ir/graph_rules.h"

namespace stax {
namespace {

std::vector<int> AxesRange(int from, int to) {
  std::vector<int> axes(std::max(to - from, 0));
  std::iota(axes.begin(), axes.end(), from);
  return axes;
}

IndexExpr ProductOf(const Dims& dims, int from, int to) {
  return Product(std::vector<IndexExpr>(dims.begin() + from, dims.begin() + to));
}

// From operator set 13 on along `axis`; before, over all axes from `axis` on together.
using AlongAxis = OnnxTensor (*)(OnnxNode& n, OnnxTensor x, int axis);
template <AlongAxis kCompute>
absl::Status SoftmaxLike(OnnxNode& n) {
  const bool flattens = n.opset() < 13;
  ONNX_ASSIGN_OR_RETURN(const int axis, n.Axis(n.Int("axis", flattens ? 1 : -1), n.rank(0)));
  const OnnxTensor x = n.In(0);
  if (!flattens || axis == n.rank(0) - 1) {
    n.Set(0, kCompute(n, x, axis));
    return absl::OkStatus();
  }
  const Dims dims = n.dims(0);
  const OnnxTensor flat =
      n.b().Reshape(x, {ProductOf(dims, 0, axis), ProductOf(dims, axis, n.rank(0))});
  n.Set(0, n.b().Reshape(kCompute(n, flat, 1), dims));
  return absl::OkStatus();
}

OnnxTensor Softmax(OnnxNode& n, OnnxTensor x, int axis) { return n.b().Softmax(x, axis); }

OnnxTensor LogSoftmax(OnnxNode& n, OnnxTensor x, int axis) { return n.b().LogSoftmax(x, axis); }

// 1 at the first maximum, 0 elsewhere.
OnnxTensor Hardmax(OnnxNode& n, OnnxTensor x, int axis) {
  GraphBuilder& b = n.b();
  const OnnxTensor first = b.Reduce(ReduceKind::kArgMax, x, {axis}, true);
  const OnnxTensor position = b.Iota(DType::kI64, b.dims(x), axis);
  return b.Cast(b.Binary(OpCode::kEq, position, first), b.dtype(x));
}

// x minus its mean over `axes`, and the variance, with dims kept.
struct Moments {
  OnnxTensor mean, deviation, variance;
};
Moments MomentsOf(GraphBuilder& b, OnnxTensor x, const std::vector<int>& axes) {
  Moments m;
  m.mean = b.Mean(x, axes, true);
  m.deviation = b.Sub(x, m.mean);
  m.variance = b.Mean(b.Mul(m.deviation, m.deviation), axes, true);
  return m;
}

OnnxTensor InverseDeviation(OnnxNode& n, OnnxTensor variance, double epsilon) {
  return n.b().Unary(OpCode::kRsqrt, n.b().Add(variance, n.Like(variance, epsilon)));
}

absl::Status LayerNormalization(OnnxNode& n) {
  GraphBuilder& b = n.b();
  ONNX_ASSIGN_OR_RETURN(const int axis, n.Axis(n.Int("axis", -1), n.rank(0)));
  const double epsilon = n.Float("epsilon", 1e-5);
  if (n.Int("stash_type", 1) != 1 && !(n.dtype(0) == DType::kF64 && n.Int("stash_type", 1) == 11))
    return absl::UnimplementedError("attribute stash_type other than 1 (float)");
  const OnnxTensor scale = n.In(1);
  const std::optional<OnnxTensor> bias = n.OptionalIn(2);
  if (!n.Wants(1) && !n.Wants(2)) {
    n.Set(0, b.LayerNorm(n.In(0), axis, scale, bias, epsilon));
    return absl::OkStatus();
  }
  const DType dtype = n.dtype(0);
  const OnnxTensor x = IsHalf(dtype) ? b.Cast(n.In(0), DType::kF32) : n.In(0);
  const Moments m = MomentsOf(b, x, AxesRange(axis, n.rank(0)));
  const OnnxTensor inverse = InverseDeviation(n, m.variance, epsilon);
  OnnxTensor y = b.Mul(b.Mul(m.deviation, inverse), b.Cast(scale, b.dtype(x)));
  if (bias.has_value()) y = b.Add(y, b.Cast(*bias, b.dtype(x)));
  n.Set(0, b.Cast(y, dtype));
  // Statistics have the stash type, float, whatever x is.
  n.Set(1, b.Cast(m.mean, DType::kF32));
  n.Set(2, b.Cast(inverse, DType::kF32));
  return absl::OkStatus();
}

// [C] as [C, 1, 1 ...], which broadcasts to x of the rank along axis 1.
OnnxTensor PerChannel(GraphBuilder& b, OnnxTensor v, int rank, DType dtype) {
  Dims dims = b.dims(v);
  dims.resize(std::max(rank - 1, 1), 1);
  return b.Cast(b.Reshape(v, std::move(dims)), dtype);
}

absl::Status CheckPerChannel(OnnxNode& n, int first, int last) {
  if (n.rank(0) < 2) return OnnxError("input 0 has rank ", n.rank(0), "; it must be at least 2");
  for (int i = first; i <= last; ++i)
    if (n.rank(i) != 1 || !n.ranges().ProveEq(n.dims(i)[0], n.dims(0)[1]))
      return OnnxError("input ", i, " has shape ", ShapeText(n.dims(i)), "; it must be [",
                       n.dims(0)[1].ToString(), "], one per channel of input 0");
  return absl::OkStatus();
}

absl::Status BatchNormalization(OnnxNode& n) {
  GraphBuilder& b = n.b();
  if (n.opset() < 9 && n.Int("spatial", 1) == 0)
    return absl::UnimplementedError("attribute spatial = 0");
  ONNX_RETURN_IF_ERROR(CheckPerChannel(n, 1, 4));
  const bool training = n.opset() >= 14 ? n.Int("training_mode", 0) != 0
                                        : n.opset() < 7 && n.Int("is_test", 0) == 0 && n.Wants(1);
  if (!training && n.Wants(1))
    return absl::UnimplementedError("more than one output (training) without training_mode");
  if (training && n.opset() < 14) return absl::UnimplementedError("training");
  const DType dtype = n.dtype(0), wide = IsHalf(dtype) ? DType::kF32 : dtype;
  const OnnxTensor x = b.Cast(n.In(0), wide);
  const auto channels = [&](OnnxTensor v) { return PerChannel(b, v, n.rank(0), wide); };
  OnnxTensor deviation, variance;
  if (training) {
    std::vector<int> axes = AxesRange(2, n.rank(0));
    axes.push_back(0);
    const Moments m = MomentsOf(b, x, axes);
    deviation = m.deviation;
    variance = m.variance;
    const double momentum = n.Float("momentum", 0.9);
    const auto running = [&](int input, OnnxTensor batch) {
      const OnnxTensor old = b.Cast(n.In(input), wide);
      const OnnxTensor now = b.Reshape(batch, n.dims(input));
      return b.Cast(b.Add(b.Mul(old, n.Like(old, momentum)), b.Mul(now, n.Like(now, 1 - momentum))),
                    n.dtype(input));
    };
    n.Set(1, running(3, m.mean));
    n.Set(2, running(4, m.variance));
  } else {
    deviation = b.Sub(x, channels(n.In(3)));
    variance = channels(n.In(4));
  }
  const OnnxTensor inverse = InverseDeviation(n, variance, n.Float("epsilon", 1e-5));
  const OnnxTensor scaled = b.Mul(b.Mul(deviation, inverse), channels(n.In(1)));
  n.Set(0, b.Cast(b.Add(scaled, channels(n.In(2))), dtype));
  return absl::OkStatus();
}

absl::Status InstanceNormalization(OnnxNode& n) {
  GraphBuilder& b = n.b();
  ONNX_RETURN_IF_ERROR(CheckPerChannel(n, 1, 2));
  n.Set(0, InF32(b, n.In(0), [&](OnnxTensor x) {
          const Moments m = MomentsOf(b, x, AxesRange(2, n.rank(0)));
          const OnnxTensor inverse = InverseDeviation(n, m.variance, n.Float("epsilon", 1e-5));
          const OnnxTensor scale = PerChannel(b, n.In(1), n.rank(0), b.dtype(x));
          const OnnxTensor bias = PerChannel(b, n.In(2), n.rank(0), b.dtype(x));
          return b.Add(b.Mul(b.Mul(m.deviation, inverse), scale), bias);
        }));
  return absl::OkStatus();
}

absl::Status MeanVarianceNormalization(OnnxNode& n) {
  GraphBuilder& b = n.b();
  std::vector<int64_t> given = n.Ints("axes");
  if (given.empty()) given = {0, 2, 3};
  ONNX_ASSIGN_OR_RETURN(const std::vector<int> axes, n.Axes(given, n.rank(0)));
  n.Set(0, InF32(b, n.In(0), [&](OnnxTensor x) {
          const Moments m = MomentsOf(b, x, axes);
          const OnnxTensor deviation = b.Unary(OpCode::kSqrt, m.variance);
          return b.Div(m.deviation, b.Add(deviation, n.Like(x, 1e-9)));
        }));
  return absl::OkStatus();
}

absl::Status LpNormalization(OnnxNode& n) {
  GraphBuilder& b = n.b();
  ONNX_ASSIGN_OR_RETURN(const int axis, n.Axis(n.Int("axis", -1), n.rank(0)));
  const int64_t p = n.Int("p", 2);
  if (p != 1 && p != 2) return OnnxError("attribute p is ", p, "; it must be 1 or 2");
  n.Set(0, InF32(b, n.In(0), [&](OnnxTensor x) {
          const OnnxTensor terms = p == 1 ? b.Unary(OpCode::kAbs, x) : b.Mul(x, x);
          const OnnxTensor sum = b.Sum(terms, {axis}, true);
          return b.Div(x, p == 1 ? sum : b.Unary(OpCode::kSqrt, sum));
        }));
  return absl::OkStatus();
}

// x / (bias + alpha / size * sum of squares of `size` neighbouring channels)^beta
absl::Status Lrn(OnnxNode& n) {
  GraphBuilder& b = n.b();
  const int64_t size = n.Int("size", 0);
  if (n.rank(0) < 2) return OnnxError("input 0 has rank ", n.rank(0), "; it must be at least 2");
  if (size < 1 || size > kMaxOnnxElements)
    return OnnxError("attribute size is ", size, "; it must be at least 1");
  const double alpha = n.Float("alpha", 1e-4), beta = n.Float("beta", 0.75);
  const double bias = n.Float("bias", 1);
  n.Set(0, InF32(b, n.In(0), [&](OnnxTensor x) {
          std::vector<IndexExpr> before(n.rank(0), 0), after(n.rank(0), 0);
          before[1] = (size - 1) / 2;
          after[1] = size - 1 - (size - 1) / 2;
          const OnnxTensor padded =
              b.Pad(b.Mul(x, x), before, after, PadMode::kConstant, std::nullopt);
          const OnnxTensor windows = OnnxWindows(b, padded, 1, n.dims(0)[1], size, 1, 1);
          const OnnxTensor sum = b.Sum(windows, {2});
          const OnnxTensor base =
              b.Add(b.Mul(sum, n.Like(x, alpha / static_cast<double>(size))), n.Like(x, bias));
          return b.Div(x, b.Binary(OpCode::kPow, base, n.Like(x, beta)));
        }));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const OnnxOp> OnnxNormaliseOps() {
  static constexpr OnnxOp kOps[] = {
      {"BatchNormalization", 1, 5, 5, BatchNormalization},
      {"Hardmax", 1, 1, 1, SoftmaxLike<Hardmax>},
      {"InstanceNormalization", 1, 3, 3, InstanceNormalization},
      {"LRN", 1, 1, 1, Lrn},
      {"LayerNormalization", 17, 2, 3, LayerNormalization},
      {"LogSoftmax", 1, 1, 1, SoftmaxLike<LogSoftmax>},
      {"LpNormalization", 1, 1, 1, LpNormalization},
      {"MeanVarianceNormalization", 9, 1, 1, MeanVarianceNormalization},
      {"Softmax", 1, 1, 1, SoftmaxLike<Softmax>},
  };
  return kOps;
}

}  // namespace stax
