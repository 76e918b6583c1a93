#include "compiler/lowering/testing/run_program.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/graph_interpreter.h"
#include "ir/scalar.h"

namespace stax {
namespace {

size_t SizeInBytes(DType dtype, const Dims& dims, const Sizes& sizes) {
  return static_cast<size_t>(NumElements(dims).Evaluate(sizes).value()) * DTypeBytes(dtype);
}

// Part of a value's magnitude by which sums in another order may differ after a few ops.
double Tolerance(DType t) {
  switch (t) {
    case DType::kF16:
      return 4e-3;
    case DType::kBF16:
      return 3e-2;
    default:  // an f64 may have been an f32
      return 2e-5;
  }
}

bool Close(const Scalar& a, const Scalar& b) {
  if (!IsFloat(a.dtype)) return a.i == b.i;
  if (std::isnan(a.f) || std::isnan(b.f)) return std::isnan(a.f) && std::isnan(b.f);
  if (a.f == b.f) return true;
  const double scale = std::max({1.0, std::abs(a.f), std::abs(b.f)});
  return std::abs(a.f - b.f) <= Tolerance(a.dtype) * scale;
}

Scalar RandomScalar(DType t, bool specials, std::mt19937_64& random) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kSpecials[] = {std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity,
                                  0.0, -0.0};
  if (IsFloat(t) && specials && random() % 16 == 0)
    return Scalar::Float(t, kSpecials[random() % 5]);
  if (IsFloat(t)) return Scalar::Float(t, std::uniform_real_distribution<double>(-2, 2)(random));
  const int64_t lo = t == DType::kBool || IsUnsigned(t) ? 0 : -8;
  const int64_t hi = t == DType::kBool ? 1 : 8;
  return Scalar::Int(t, std::uniform_int_distribution<int64_t>(lo, hi)(random));
}

}  // namespace

absl::StatusOr<TensorBytes> RunNests(const LoopProgram& plan, const std::vector<LoopNest>& nests,
                                     const Sizes& sizes, const TensorBytes& inputs) {
  TensorBytes memory;
  for (const PlanBuffer& buffer : plan.buffers) {
    if (buffer.kind == PlanBuffer::Kind::kInput) memory[buffer.name] = inputs.at(buffer.tensor);
    if (buffer.kind == PlanBuffer::Kind::kConstant) memory[buffer.name] = *buffer.data;
  }
  for (const LoopNest& nest : nests) {
    Sizes used;
    for (const SizeSymbol& s : nest.symbols) used[s.name] = sizes.at(s.name);
    absl::Status status = Interpret(nest, used, memory, Precision::kTyped);
    if (!status.ok()) return status;
  }
  TensorBytes outputs;
  for (const PlanOutput& output : plan.outputs) outputs[output.name] = memory[output.buffer];
  return outputs;
}

TensorBytes RandomInputs(const Graph& graph, const Sizes& sizes, uint64_t seed, bool specials) {
  std::mt19937_64 random(seed);
  TensorBytes inputs;
  for (TensorId id : graph.inputs) {
    const GraphTensor& t = graph.tensors[id];
    Bytes bytes(SizeInBytes(t.dtype, t.dims, sizes));
    for (size_t at = 0; at < bytes.size(); at += DTypeBytes(t.dtype))
      StoreScalar(RandomScalar(t.dtype, specials, random), &bytes[at]);
    inputs[t.name] = std::move(bytes);
  }
  return inputs;
}

std::string CompareOutputs(const Graph& graph, const TensorBytes& want, const TensorBytes& got) {
  for (size_t k = 0; k < graph.outputs.size(); ++k) {
    const std::string& name = graph.output_names[k];
    const DType type = graph.tensors[graph.outputs[k]].dtype;
    const Bytes &w = want.at(name), &g = got.at(name);
    if (w.size() != g.size())
      return absl::StrCat(name, ": ", g.size(), " bytes instead of ", w.size());
    for (size_t at = 0; at < w.size(); at += DTypeBytes(type)) {
      const Scalar wanted = LoadScalar(type, &w[at]), gotten = LoadScalar(type, &g[at]);
      if (!Close(wanted, gotten))
        return absl::StrCat(name, "[", at / DTypeBytes(type), "]: ", ToText(gotten), " instead of ",
                            ToText(wanted));
    }
  }
  return "";
}

std::string CompareWithGraph(const Graph& graph, const Sizes& sizes, const TensorBytes& inputs,
                             const TensorBytes& got) {
  absl::StatusOr<TensorBytes> want = InterpretGraph(graph, sizes, inputs, Precision::kTyped);
  return want.ok() ? CompareOutputs(graph, *want, got) : want.status().ToString();
}

}  // namespace stax
