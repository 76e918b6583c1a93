// Activation functions, by formulas that hold for infinities and NaN, too.
#include <cmath>
#include <utility>

#include "compiler/frontend/onnx_ops.h"
#include "compiler/frontend/onnx_status.h"

namespace stax {
namespace {

OnnxTensor IsPositive(OnnxNode& n, OnnxTensor x) {
  return n.b().Binary(OpCode::kGt, x, n.Like(x, 0));
}

absl::Status Relu(OnnxNode& n) {
  n.Set(0, n.b().Relu(n.In(0)));
  return absl::OkStatus();
}

absl::Status Sigmoid(OnnxNode& n) {
  n.Set(0, n.b().Unary(OpCode::kSigmoid, n.In(0)));
  return absl::OkStatus();
}

absl::Status LeakyRelu(OnnxNode& n) {
  const double alpha = n.Float("alpha", 0.01);
  n.Set(0, InF32(n.b(), n.In(0), [&](OnnxTensor x) {
          const OnnxTensor is_negative = n.b().Binary(OpCode::kLt, x, n.Like(x, 0));
          return n.b().Where(is_negative, n.b().Mul(x, n.Like(x, alpha)), x);
        }));
  return absl::OkStatus();
}

absl::Status PRelu(OnnxNode& n) {
  OnnxTensor slope = n.In(1);
  // Before operator set 7 a slope per channel belonged to axis 1 instead of the last one.
  if (n.opset() < 7 && n.rank(1) == 1 && n.rank(0) > 2 && n.dims(1)[0] != IndexExpr(1)) {
    Dims dims = {n.dims(1)[0]};
    dims.resize(n.rank(0) - 1, 1);
    slope = n.b().Reshape(slope, std::move(dims));
  }
  const OnnxTensor x = n.In(0);
  const OnnxTensor is_negative = n.b().Binary(OpCode::kLt, x, n.Like(x, 0));
  n.Set(0, n.b().Where(is_negative, n.b().Mul(x, slope), x));
  return absl::OkStatus();
}

// x > 0 ? x : alpha (e^(x / divisor) - 1), times scale; e^x - 1 without cancellation.
OnnxTensor ExponentialUnit(OnnxNode& n, double alpha, double divisor, double scale) {
  GraphBuilder& b = n.b();
  return InF32(b, n.In(0), [&](OnnxTensor x) {
    const OnnxTensor argument = divisor == 1 ? x : b.Div(x, n.Like(x, divisor));
    const OnnxTensor negative = b.Mul(b.Unary(OpCode::kExpm1, argument), n.Like(x, alpha));
    const OnnxTensor result = b.Where(IsPositive(n, x), x, negative);
    return scale == 1 ? result : b.Mul(result, n.Like(x, scale));
  });
}

absl::Status Elu(OnnxNode& n) {
  n.Set(0, ExponentialUnit(n, n.Float("alpha", 1), 1, 1));
  return absl::OkStatus();
}

absl::Status Celu(OnnxNode& n) {
  const double alpha = n.Float("alpha", 1);
  n.Set(0, ExponentialUnit(n, alpha, alpha, 1));
  return absl::OkStatus();
}

absl::Status Selu(OnnxNode& n) {
  // The defaults of operator set 1 had fewer digits.
  const double alpha = n.Float("alpha", n.opset() < 6 ? 1.6732 : 1.67326319217681884765625);
  const double gamma = n.Float("gamma", n.opset() < 6 ? 1.0507 : 1.05070102214813232421875);
  n.Set(0, ExponentialUnit(n, alpha, 1, gamma));
  return absl::OkStatus();
}

absl::Status ThresholdedRelu(OnnxNode& n) {
  const OnnxTensor x = n.In(0);
  const OnnxTensor above = n.b().Binary(OpCode::kGt, x, n.Like(x, n.Float("alpha", 1)));
  n.Set(0, n.b().Where(above, x, n.Like(x, 0)));
  return absl::OkStatus();
}

// max(0, min(1, alpha x + beta))
OnnxTensor HardSigmoidOf(OnnxNode& n, OnnxTensor x, double alpha, double beta) {
  GraphBuilder& b = n.b();
  const OnnxTensor line = b.Add(b.Mul(x, n.Like(x, alpha)), n.Like(x, beta));
  return b.Binary(OpCode::kMax, b.Binary(OpCode::kMin, line, n.Like(x, 1)), n.Like(x, 0));
}

absl::Status HardSigmoid(OnnxNode& n) {
  const double alpha = n.Float("alpha", 0.2), beta = n.Float("beta", 0.5);
  n.Set(0, InF32(n.b(), n.In(0), [&](OnnxTensor x) { return HardSigmoidOf(n, x, alpha, beta); }));
  return absl::OkStatus();
}

absl::Status HardSwish(OnnxNode& n) {
  n.Set(0, InF32(n.b(), n.In(0),
                 [&](OnnxTensor x) { return n.b().Mul(x, HardSigmoidOf(n, x, 1.0 / 6, 0.5)); }));
  return absl::OkStatus();
}

// log(1 + e^x) as max(x, 0) + log1p(e^-|x|): no overflow, and no loss for large negative x.
OnnxTensor SoftplusOf(OnnxNode& n, OnnxTensor x) {
  GraphBuilder& b = n.b();
  const OnnxTensor decay = b.Unary(OpCode::kExp, b.Unary(OpCode::kNeg, b.Unary(OpCode::kAbs, x)));
  return b.Add(b.Relu(x), b.Unary(OpCode::kLog1p, decay));
}

absl::Status Softplus(OnnxNode& n) {
  n.Set(0, InF32(n.b(), n.In(0), [&](OnnxTensor x) { return SoftplusOf(n, x); }));
  return absl::OkStatus();
}

absl::Status Mish(OnnxNode& n) {
  n.Set(0, InF32(n.b(), n.In(0), [&](OnnxTensor x) {
          return n.b().Mul(x, n.b().Unary(OpCode::kTanh, SoftplusOf(n, x)));
        }));
  return absl::OkStatus();
}

absl::Status Softsign(OnnxNode& n) {
  n.Set(0, InF32(n.b(), n.In(0), [&](OnnxTensor x) {
          return n.b().Div(x, n.b().Add(n.b().Unary(OpCode::kAbs, x), n.Like(x, 1)));
        }));
  return absl::OkStatus();
}

absl::Status Gelu(OnnxNode& n) {
  GraphBuilder& b = n.b();
  const std::string form = n.Str("approximate", "none");
  if (form == "none") {
    n.Set(0, b.Gelu(n.In(0)));
    return absl::OkStatus();
  }
  if (form != "tanh")
    return OnnxError("attribute approximate is '", form, "'; it must be none or tanh");
  n.Set(0, InF32(b, n.In(0), [&](OnnxTensor x) {
          const OnnxTensor cube = b.Mul(b.Mul(b.Mul(x, x), x), n.Like(x, 0.044715));
          const OnnxTensor inner = b.Mul(b.Add(x, cube), n.Like(x, std::sqrt(2 / M_PI)));
          const OnnxTensor gate = b.Add(b.Unary(OpCode::kTanh, inner), n.Like(x, 1));
          return b.Mul(b.Mul(x, n.Like(x, 0.5)), gate);
        }));
  return absl::OkStatus();
}

absl::Status Shrink(OnnxNode& n) {
  GraphBuilder& b = n.b();
  const double bias = n.Float("bias", 0), lambd = n.Float("lambd", 0.5);
  const DType dtype = n.dtype(0);
  // Integers are compared and moved as floats, then cut back to their type.
  const OnnxTensor x = IsFloat(dtype) ? n.In(0) : b.Cast(n.In(0), DType::kF64);
  const OnnxTensor low = b.Binary(OpCode::kLt, x, n.Like(x, -lambd));
  const OnnxTensor high = b.Binary(OpCode::kGt, x, n.Like(x, lambd));
  const OnnxTensor shift = n.Like(x, bias);
  const OnnxTensor otherwise = b.Where(high, b.Sub(x, shift), n.Like(x, 0));
  n.Set(0, b.Cast(b.Where(low, b.Add(x, shift), otherwise), dtype));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const OnnxOp> OnnxActivationOps() {
  static constexpr OnnxOp kOps[] = {
      {"Celu", 12, 1, 1, Celu},
      {"Elu", 1, 1, 1, Elu},
      {"Gelu", 20, 1, 1, Gelu},
      {"HardSigmoid", 1, 1, 1, HardSigmoid},
      {"HardSwish", 14, 1, 1, HardSwish},
      {"LeakyRelu", 1, 1, 1, LeakyRelu},
      {"Mish", 18, 1, 1, Mish},
      {"PRelu", 1, 2, 2, PRelu},
      {"Relu", 1, 1, 1, Relu},
      {"Selu", 1, 1, 1, Selu},
      {"Shrink", 9, 1, 1, Shrink},
      {"Sigmoid", 1, 1, 1, Sigmoid},
      {"Softplus", 1, 1, 1, Softplus},
      {"Softsign", 1, 1, 1, Softsign},
      {"ThresholdedRelu", 10, 1, 1, ThresholdedRelu},
  };
  return kOps;
}

}  // namespace stax
