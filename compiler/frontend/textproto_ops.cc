#include "compiler/frontend/textproto_ops.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/graph_rules.h"

namespace stax {
namespace {

using Tensor = GraphBuilder::Tensor;
using OpTable = std::map<std::string, TextOp>;

void AddScalarOps(OpTable& ops) {
  const auto add = [&](OpCode code) {
    const int arity = OpArity(code);
    ops[std::string(OpName(code))] = {arity, arity, {}, [code, arity](TextNode& n) {
                                        return arity == 1
                                                   ? n.b.Unary(code, n.inputs[0])
                                                   : n.b.Binary(code, n.inputs[0], n.inputs[1]);
                                      }};
  };
#define STAX_ADD_OP(name, text, arity, cls) add(OpCode::name);
  STAX_SCALAR_OPS(STAX_ADD_OP)
#undef STAX_ADD_OP
  ops["relu"] = {1, 1, {}, [](TextNode& n) { return n.b.Relu(n.inputs[0]); }};
  ops["gelu"] = {1, 1, {}, [](TextNode& n) { return n.b.Gelu(n.inputs[0]); }};
  ops["silu"] = {1, 1, {}, [](TextNode& n) { return n.b.Silu(n.inputs[0]); }};
  ops["where"] = {
      3, 3, {}, [](TextNode& n) { return n.b.Where(n.inputs[0], n.inputs[1], n.inputs[2]); }};
  ops["cast"] = {1, 1, {"dtype"}, [](TextNode& n) {
                   const auto type = n.Type();
                   return type.has_value() ? n.b.Cast(n.inputs[0], *type) : Tensor{};
                 }};
}

// No axes: all of them.
std::vector<int> ReducedAxes(const TextNode& n) {
  return n.def.axes().empty() ? n.b.AllAxes(n.inputs[0]) : n.Axes();
}

void AddReductions(OpTable& ops) {
  const std::vector<std::string> attributes = {"axes", "keep_dims"};
  const std::pair<const char*, ReduceKind> kinds[] = {
      {"sum", ReduceKind::kSum},
      {"prod", ReduceKind::kProd},
      {"reduce_max", ReduceKind::kMax},
      {"reduce_min", ReduceKind::kMin},
      {"argmax", ReduceKind::kArgMax},
      {"argmin", ReduceKind::kArgMin},
      {"argmax_last", ReduceKind::kArgMaxLast},
      {"argmin_last", ReduceKind::kArgMinLast},
  };
  for (const auto& [name, kind] : kinds) {
    ops[name] = {1, 1, attributes, [kind = kind](TextNode& n) {
                   return n.b.Reduce(kind, n.inputs[0], ReducedAxes(n), n.def.keep_dims());
                 }};
  }
  ops["mean"] = {1, 1, attributes, [](TextNode& n) {
                   return n.b.Mean(n.inputs[0], ReducedAxes(n), n.def.keep_dims());
                 }};
  ops["log_sum_exp"] = {1, 1, attributes, [](TextNode& n) {
                          return n.b.LogSumExp(n.inputs[0], ReducedAxes(n), n.def.keep_dims());
                        }};
  const std::pair<const char*, ReduceKind> running[] = {
      {"cum_sum", ReduceKind::kSum},
      {"cum_prod", ReduceKind::kProd},
      {"cum_max", ReduceKind::kMax},
      {"cum_min", ReduceKind::kMin},
  };
  for (const auto& [name, kind] : running) {
    ops[name] = {1, 1, {"axes", "exclusive", "reverse"}, [kind = kind](TextNode& n) {
                   const auto axis = n.Axis();
                   if (!axis.has_value()) return Tensor{};
                   return n.b.Cumulative(kind, n.inputs[0], *axis, n.def.exclusive(),
                                         n.def.reverse());
                 }};
  }
}

Tensor LayerNorm(TextNode& n) {
  const auto axis = n.Axis(-1);
  if (!axis.has_value()) return {};
  std::optional<Tensor> scale, bias;
  if (n.inputs.size() > 1) scale = n.inputs[1];
  if (n.inputs.size() > 2) bias = n.inputs[2];
  const double epsilon = n.def.epsilon() == 0 ? 1e-5 : n.def.epsilon();
  return n.b.LayerNorm(n.inputs[0], *axis, scale, bias, epsilon);
}

void AddComposites(OpTable& ops) {
  ops["softmax"] = {1, 1, {"axes"}, [](TextNode& n) {
                      const auto axis = n.Axis(-1);
                      return axis.has_value() ? n.b.Softmax(n.inputs[0], *axis) : Tensor{};
                    }};
  ops["log_softmax"] = {1, 1, {"axes"}, [](TextNode& n) {
                          const auto axis = n.Axis(-1);
                          return axis.has_value() ? n.b.LogSoftmax(n.inputs[0], *axis) : Tensor{};
                        }};
  ops["layer_norm"] = {1, 3, {"axes", "epsilon"}, LayerNorm};
  ops["matmul"] = {2, 2, {}, [](TextNode& n) { return n.b.MatMul(n.inputs[0], n.inputs[1]); }};
  ops["einsum"] = {
      1, -1, {"equation"}, [](TextNode& n) { return n.b.Einsum(n.def.equation(), n.inputs); }};
}

// Python's rule for x[start:end:step]: negative bounds count from the end, then they are moved into
// the dim. Symbolic bounds must be of a known sign.
Tensor SliceAxis(TextNode& n, Tensor x, int axis, const IndexExpr& start, const IndexExpr& end,
                 int64_t step) {
  const RangeContext known = n.b.ranges();
  const IndexExpr extent = n.b.dims(x)[axis < 0 ? axis + n.b.rank(x) : axis];
  // Backwards, bounds go from extent - 1 down to -1, which is before the first element.
  const IndexExpr low = step > 0 ? 0 : -1, high = step > 0 ? extent : extent - 1;
  IndexExpr bounds[2] = {start, end};
  for (IndexExpr& bound : bounds) {
    if (bound.IsConst()) {
      // Large numbers are common for "to the end"; they must not overflow below.
      bound = std::clamp(bound.ConstOrDie(), -kMaxElements - 1, kMaxElements + 1);
    } else if (Magnitude(bound) > kMaxElements) {
      return n.Fail(absl::StrCat("bound ", bound.ToString(), " is too large"));
    }
    if (known.ProveLt(bound, 0)) {
      bound = Max(extent + bound, low);
    } else if (!known.ProveLe(0, bound)) {
      return n.Fail(absl::StrCat("bound ", bound.ToString(), " is not known to be of one sign"));
    }
    bound = Simplify(Min(bound, high), known);
  }
  const IndexExpr span = step > 0 ? bounds[1] - bounds[0] : bounds[0] - bounds[1];
  const IndexExpr size = Simplify(Max(CeilDiv(span, step > 0 ? step : -step), 0), known);
  return n.b.Slice(x, axis, bounds[0], step, size);
}

Tensor Slice(TextNode& n) {
  const auto starts = n.Formulas("starts", n.def.starts());
  const auto ends = n.Formulas("ends", n.def.ends());
  const auto steps = n.Formulas("steps", n.def.steps());
  if (!starts.has_value() || !ends.has_value() || !steps.has_value()) return {};
  std::vector<int> axes = n.Axes();
  if (axes.empty()) {
    axes.resize(starts->size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (starts->empty() || ends->size() != starts->size() || axes.size() != starts->size() ||
      (!steps->empty() && steps->size() != starts->size())) {
    return n.Fail(absl::StrCat("has ", starts->size(), " starts, ", ends->size(), " ends, ",
                               steps->size(), " steps and ", axes.size(),
                               " axes; give equally many (steps and axes may be left out)"));
  }
  Tensor x = n.inputs[0];
  for (size_t k = 0; k < axes.size(); ++k) {
    const int rank = n.b.rank(x);
    if (axes[k] < -rank || axes[k] >= rank) {
      return n.Fail(absl::StrCat("axis ", axes[k], " of a tensor of rank ", rank));
    }
    const std::optional<int64_t> step = steps->empty() ? 1 : (*steps)[k].AsConst();
    if (!step.has_value() || *step == 0 || *step == INT64_MIN) {
      return n.Fail(
          absl::StrCat("step ", (*steps)[k].ToString(), "; it must be a number other than 0"));
    }
    x = SliceAxis(n, x, axes[k], (*starts)[k], (*ends)[k], *step);
    if (x.id < 0) return {};
  }
  return x;
}

Tensor Pad(TextNode& n) {
  auto before = n.Formulas("before", n.def.before());
  auto after = n.Formulas("after", n.def.after());
  if (!before.has_value() || !after.has_value()) return {};
  PadMode mode = PadMode::kConstant;
  if (n.def.mode() == PadModeName(PadMode::kReflect)) {
    mode = PadMode::kReflect;
  } else if (n.def.mode() == PadModeName(PadMode::kEdge)) {
    mode = PadMode::kEdge;
  } else if (!n.def.mode().empty() && n.def.mode() != PadModeName(PadMode::kConstant)) {
    return n.Fail(absl::StrCat("mode '", n.def.mode(), "'; expected constant, reflect or edge"));
  }
  if (mode != PadMode::kConstant && n.inputs.size() > 1) {
    return n.Fail(absl::StrCat("mode '", n.def.mode(), "' takes no value as second input"));
  }
  std::optional<Tensor> value;
  if (n.inputs.size() > 1) value = n.inputs[1];
  return n.b.Pad(n.inputs[0], *std::move(before), *std::move(after), mode, value);
}

Tensor Transpose(TextNode& n) {
  std::vector<int> perm = n.Axes();
  if (perm.empty()) {
    perm = n.b.AllAxes(n.inputs[0]);
    std::reverse(perm.begin(), perm.end());
  }
  return n.b.Transpose(n.inputs[0], std::move(perm));
}

void AddMovement(OpTable& ops) {
  ops["reshape"] = {1, 1, {"dims"}, [](TextNode& n) {
                      auto dims = n.Formulas("dims", n.def.dims());
                      return dims.has_value() ? n.b.Reshape(n.inputs[0], *std::move(dims))
                                              : Tensor{};
                    }};
  ops["expand"] = {1, 1, {"dims"}, [](TextNode& n) {
                     auto dims = n.Formulas("dims", n.def.dims());
                     return dims.has_value() ? n.b.Expand(n.inputs[0], *std::move(dims)) : Tensor{};
                   }};
  ops["transpose"] = {1, 1, {"axes"}, Transpose};
  ops["squeeze"] = {1, 1, {"axes"}, [](TextNode& n) { return n.b.Squeeze(n.inputs[0], n.Axes()); }};
  ops["unsqueeze"] = {
      1, 1, {"axes"}, [](TextNode& n) { return n.b.Unsqueeze(n.inputs[0], n.Axes()); }};
  ops["slice"] = {1, 1, {"axes", "starts", "ends", "steps"}, Slice};
  ops["pad"] = {1, 2, {"before", "after", "mode"}, Pad};
  ops["concat"] = {1, -1, {"axes"}, [](TextNode& n) {
                     const auto axis = n.Axis();
                     return axis.has_value() ? n.b.Concat(n.inputs, *axis) : Tensor{};
                   }};
  ops["gather"] = {2, 2, {"axes"}, [](TextNode& n) {
                     const auto axis = n.Axis();
                     return axis.has_value() ? n.b.Gather(n.inputs[0], n.inputs[1], *axis)
                                             : Tensor{};
                   }};
  ops["gather_elements"] = {
      2, 2, {"axes"}, [](TextNode& n) {
        const auto axis = n.Axis();
        return axis.has_value() ? n.b.GatherElements(n.inputs[0], n.inputs[1], *axis) : Tensor{};
      }};
}

void AddSources(OpTable& ops) {
  ops["iota"] = {0, 0, {"dtype", "dims", "axes"}, [](TextNode& n) {
                   const auto axis = n.Axis(-1);
                   const auto type = n.Type();
                   auto dims = n.Formulas("dims", n.def.dims());
                   if (!axis.has_value() || !type.has_value() || !dims.has_value()) return Tensor{};
                   return n.b.Iota(*type, *std::move(dims), *axis);
                 }};
  ops["shape_value"] = {0, 0, {"dims"}, [](TextNode& n) {
                          auto values = n.Formulas("dims", n.def.dims());
                          if (!values.has_value()) return Tensor{};
                          const auto count = static_cast<int64_t>(values->size());
                          return n.b.ShapeValue(*std::move(values), {count});
                        }};
}

}  // namespace

Tensor TextNode::Fail(const std::string& problem) {
  b.SetError(absl::InvalidArgumentError(problem));
  return {};
}

std::optional<int> TextNode::Axis(std::optional<int> if_missing) {
  if (def.axes_size() == 1) return def.axes(0);
  if (def.axes_size() == 0 && if_missing.has_value()) return if_missing;
  Fail(absl::StrCat("takes one axis, not ", def.axes_size(), "; write axes: 0"));
  return std::nullopt;
}

std::optional<std::vector<IndexExpr>> TextNode::Formulas(
    std::string_view field, const google::protobuf::RepeatedPtrField<std::string>& texts) {
  std::vector<IndexExpr> formulas;
  for (const std::string& text : texts) {
    absl::StatusOr<IndexExpr> e = IndexExpr::Parse(text);
    if (!e.ok()) {
      Fail(absl::StrCat(std::string(field), " '", text, "': ", e.status().message()));
      return std::nullopt;
    }
    formulas.push_back(*std::move(e));
  }
  return formulas;
}

std::optional<DType> TextNode::Type() {
  const absl::StatusOr<DType> type = ParseDType(def.dtype());
  if (type.ok()) return *type;
  b.SetError(type.status());
  return std::nullopt;
}

const std::map<std::string, TextOp>& TextOps() {
  static const OpTable& ops = *[] {
    auto* table = new OpTable();
    AddScalarOps(*table);
    AddReductions(*table);
    AddComposites(*table);
    AddMovement(*table);
    AddSources(*table);
    return table;
  }();
  return ops;
}

}  // namespace stax
