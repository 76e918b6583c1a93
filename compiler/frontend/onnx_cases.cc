#include "compiler/frontend/onnx_cases.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/frontend/onnx.h"
#include "compiler/frontend/onnx_status.h"
#include "compiler/frontend/onnx_tensor.h"
#include "ir/graph_interpreter.h"
#include "ir/op_semantics.h"
#include "ir/scalar.h"

namespace stax {
namespace {

namespace fs = std::filesystem;

std::string Read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

absl::StatusOr<std::vector<OnnxValue>> ReadTensors(const fs::path& folder, const char* prefix) {
  std::vector<OnnxValue> tensors;
  for (int i = 0;; ++i) {
    const fs::path path = folder / absl::StrCat(prefix, "_", i, ".pb");
    if (!fs::exists(path)) return tensors;
    ONNX_ASSIGN_OR_RETURN(NamedOnnxValue tensor, ParseOnnxTensor(Read(path)));
    tensors.push_back(std::move(tensor.value));
  }
}

// One element as a double; integers beyond 2^53 are compared as integers before.
double AsDouble(const Scalar& s) { return IsFloat(s.dtype) ? s.f : static_cast<double>(s.i); }

bool IsClose(const Scalar& got, const Scalar& want, const OnnxTolerance& tolerance) {
  if (!IsFloat(want.dtype)) return got.i == want.i;
  if (std::isnan(want.f) || std::isnan(got.f)) return std::isnan(want.f) && std::isnan(got.f);
  if (std::isinf(want.f) || std::isinf(got.f)) return want.f == got.f;
  return std::abs(got.f - want.f) <= tolerance.atol + tolerance.rtol * std::abs(want.f);
}

absl::Status Compare(const std::string& name, const OnnxValue& got, const OnnxValue& want,
                     const OnnxTolerance& tolerance) {
  if (got.dtype != want.dtype || got.dims != want.dims)
    return absl::AbortedError(
        absl::StrCat("output '", name, "' is ", std::string(DTypeName(got.dtype)), "[",
                     absl::StrJoin(got.dims, ","), "], expected ",
                     std::string(DTypeName(want.dtype)), "[", absl::StrJoin(want.dims, ","), "]"));
  const int bytes = DTypeBytes(want.dtype);
  int64_t wrong = 0, first = -1;
  const int64_t count = static_cast<int64_t>(want.bytes.size()) / bytes;
  for (int64_t i = 0; i < count; ++i) {
    if (IsClose(LoadScalar(got.dtype, got.bytes.data() + i * bytes),
                LoadScalar(want.dtype, want.bytes.data() + i * bytes), tolerance)) {
      continue;
    }
    if (wrong++ == 0) first = i;
  }
  if (wrong == 0) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat(
      "output '", name, "': ", wrong, " of ", count, " elements are wrong, the first at ", first,
      ": ", AsDouble(LoadScalar(got.dtype, got.bytes.data() + first * bytes)), ", expected ",
      AsDouble(LoadScalar(want.dtype, want.bytes.data() + first * bytes))));
}

// Sizes of the symbols, from the dims of the inputs.
std::map<std::string, int64_t> SizesOf(const Graph& graph, const std::vector<OnnxValue>& inputs) {
  std::map<std::string, int64_t> sizes;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const Dims& dims = graph.tensors[graph.inputs[i]].dims;
    for (size_t d = 0; d < dims.size(); ++d)
      if (const auto name = dims[d].AsVar(); name.has_value()) sizes[*name] = inputs[i].dims[d];
  }
  return sizes;
}

absl::Status RunDataSet(const std::string& model, const fs::path& folder,
                        const OnnxTolerance& tolerance) {
  ONNX_ASSIGN_OR_RETURN(const std::vector<OnnxValue> inputs, ReadTensors(folder, "input"));
  ONNX_ASSIGN_OR_RETURN(const std::vector<std::string> names, OnnxInputNames(model));
  if (names.size() != inputs.size())
    return absl::InvalidArgumentError(
        absl::StrCat("there are data of ", inputs.size(), " inputs, not ", names.size()));
  OnnxOptions options;
  std::map<std::string, Bytes> memory;
  for (size_t i = 0; i < names.size(); ++i) {
    options.known_inputs[names[i]] = inputs[i];
    memory[names[i]] = inputs[i].bytes;
  }
  ONNX_ASSIGN_OR_RETURN(const Graph graph, GraphFromOnnx(model, options));
  const std::map<std::string, int64_t> sizes = SizesOf(graph, inputs);
  ONNX_ASSIGN_OR_RETURN(auto outputs, InterpretGraph(graph, sizes, memory, Precision::kTyped));
  ONNX_ASSIGN_OR_RETURN(const std::vector<OnnxValue> expected, ReadTensors(folder, "output"));
  if (expected.size() > graph.outputs.size())
    return absl::AbortedError(
        absl::StrCat("there are ", graph.outputs.size(), " outputs, expected ", expected.size()));
  for (size_t o = 0; o < expected.size(); ++o) {
    const GraphTensor& tensor = graph.tensors[graph.outputs[o]];
    OnnxValue got;
    got.dtype = tensor.dtype;
    for (const IndexExpr& d : tensor.dims) {
      ONNX_ASSIGN_OR_RETURN(const int64_t size, d.Evaluate(sizes));
      got.dims.push_back(size);
    }
    got.bytes = outputs[graph.output_names[o]];
    OnnxValue want = expected[o];
    // ONNX's own test data has bf16 as uint16.
    if (got.dtype == DType::kBF16 && want.dtype == DType::kU16) want.dtype = DType::kBF16;
    ONNX_RETURN_IF_ERROR(Compare(graph.output_names[o], got, want, tolerance));
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string> OnnxCasesBelow(const std::string& folder) {
  std::vector<std::string> cases;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    if (fs::exists(entry.path() / "model.onnx")) cases.push_back(entry.path().string());
  std::sort(cases.begin(), cases.end());
  return cases;
}

absl::Status RunOnnxCase(const std::string& folder, const OnnxTolerance& tolerance) {
  const std::string model = Read(fs::path(folder) / "model.onnx");
  // What the model needs comes first: a skip should name the operator, not the data's type.
  const absl::StatusOr<Graph> probe = GraphFromOnnx(model);
  if (probe.status().code() == absl::StatusCode::kUnimplemented) return probe.status();
  for (int i = 0;; ++i) {
    const fs::path data = fs::path(folder) / absl::StrCat("test_data_set_", i);
    if (!fs::is_directory(data)) return absl::OkStatus();
    ONNX_RETURN_IF_ERROR(RunDataSet(model, data, tolerance));
  }
}

}  // namespace stax
