#include "tools/run/onnx_test.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/frontend/onnx.h"
#include "compiler/frontend/onnx_tensor.h"
#include "compiler/pipeline.h"
#include "compiler/target.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"
#include "ir/artifact/artifact_io.h"
#include "ir/graph.h"
#include "ir/host_tensor.h"
#include "runtime/executor.h"
#include "third_party/onnx/onnx.pb.h"
#include "tools/run/compare.h"
#include "tools/run/host_run.h"

namespace stax {
namespace {

namespace fs = std::filesystem;

struct DataSet {
  std::vector<HostTensor> inputs;
  std::vector<HostTensor> outputs;
};

// prefix_0.pb, prefix_1.pb ... as far as they go.
absl::StatusOr<std::vector<HostTensor>> ReadTensors(const fs::path& folder,
                                                    absl::string_view prefix) {
  std::vector<HostTensor> tensors;
  for (int i = 0;; ++i) {
    fs::path path = folder / absl::StrCat(prefix, "_", i, ".pb");
    std::error_code ignored;
    if (!fs::exists(path, ignored)) return tensors;
    absl::StatusOr<std::string> bytes = ReadFile(path.string());
    if (!bytes.ok()) return bytes.status();
    absl::StatusOr<NamedOnnxValue> tensor = ParseOnnxTensor(*bytes);
    if (!tensor.ok())
      return absl::Status(tensor.status().code(),
                          absl::StrCat(path.filename().string(), ": ", tensor.status().message()));
    tensors.push_back(std::move(tensor->value));
  }
}

absl::StatusOr<std::vector<DataSet>> ReadDataSets(const fs::path& folder) {
  std::vector<DataSet> sets;
  for (int i = 0;; ++i) {
    fs::path path = folder / absl::StrCat("test_data_set_", i);
    std::error_code ignored;
    if (!fs::is_directory(path, ignored)) break;
    absl::StatusOr<std::vector<HostTensor>> inputs = ReadTensors(path, "input");
    if (!inputs.ok()) return inputs.status();
    absl::StatusOr<std::vector<HostTensor>> outputs = ReadTensors(path, "output");
    if (!outputs.ok()) return outputs.status();
    sets.push_back({*std::move(inputs), *std::move(outputs)});
  }
  if (sets.empty()) return absl::NotFoundError("no test_data_set_0");
  return sets;
}

absl::StatusOr<Tolerance> ReadTolerance(const fs::path& folder) {
  Tolerance tolerance;
  fs::path path = folder / "case.json";
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return tolerance;
  absl::StatusOr<std::string> text = ReadFile(path.string());
  if (!text.ok()) return text.status();
  google::protobuf::Struct json;
  auto status = google::protobuf::util::JsonStringToMessage(*text, &json);
  if (!status.ok())
    return absl::InvalidArgumentError(absl::StrCat("case.json: ", std::string(status.message())));
  auto number = [&](const std::string& key, double& value) {
    auto field = json.fields().find(key);
    if (field != json.fields().end()) value = field->second.number_value();
  };
  number("rtol", tolerance.rtol);
  number("atol", tolerance.atol);
  return tolerance;
}

bool SameDims(const onnx::TensorShapeProto& shape, const std::vector<int64_t>& dims) {
  if (shape.dim_size() != static_cast<int>(dims.size())) return false;
  for (int d = 0; d < shape.dim_size(); ++d) {
    if (shape.dim(d).has_dim_value() && shape.dim(d).dim_value() != dims[d]) return false;
  }
  return true;
}

// Some of ONNX's models contradict their own data (CastLike's, in an input of which only the type
// matters), and its runner does not look at declared shapes: there the data's dims count.
std::string WithDimsOf(const DataSet& data, const std::vector<std::string>& names,
                       const std::string& model) {
  onnx::ModelProto proto;
  if (!proto.ParseFromString(model)) return model;  // the frontend says what is wrong
  for (onnx::ValueInfoProto& input : *proto.mutable_graph()->mutable_input()) {
    size_t i = std::find(names.begin(), names.end(), input.name()) - names.begin();
    if (i >= data.inputs.size() || !input.type().tensor_type().has_shape()) continue;
    onnx::TensorShapeProto* shape = input.mutable_type()->mutable_tensor_type()->mutable_shape();
    if (SameDims(*shape, data.inputs[i].dims)) continue;
    shape->clear_dim();
    for (int64_t dim : data.inputs[i].dims) shape->add_dim()->set_dim_value(dim);
  }
  return proto.SerializeAsString();
}

// Values for the inputs, in the model's order. Sizes below 2 are outside a symbol's range: such
// inputs get their dims fixed.
OnnxOptions OptionsFor(const std::vector<std::string>& names, const DataSet& data) {
  OnnxOptions options;
  for (size_t i = 0; i < names.size() && i < data.inputs.size(); ++i) {
    options.known_inputs[names[i]] = data.inputs[i];
    const std::vector<int64_t>& dims = data.inputs[i].dims;
    if (std::any_of(dims.begin(), dims.end(), [](int64_t dim) { return dim < 2; }))
      options.input_dims[names[i]] = dims;
  }
  return options;
}

// ONNX's test data stores bf16 as u16: the model says what an input's bytes are.
void UseInputTypes(const Graph& graph, DataSet& data) {
  for (size_t i = 0; i < std::min(graph.inputs.size(), data.inputs.size()); ++i) {
    if (graph.tensors[graph.inputs[i]].dtype == DType::kBF16 && data.inputs[i].dtype == DType::kU16)
      data.inputs[i].dtype = DType::kBF16;
  }
}

// Expected bf16 values that are stored as u16 come from ONNX 1.12, which truncates where its
// operators round to nearest: one unit in the last place (at most 2^-7 of the value) is right. Its
// own runner compares the bits as integers, which allows as much.
absl::Status CompareStored(const HostTensor& got, HostTensor& want, Tolerance tolerance) {
  if (got.dtype == DType::kBF16 && want.dtype == DType::kU16) {
    want.dtype = DType::kBF16;
    tolerance.rtol = std::max(tolerance.rtol, 1.0 / 128);
  }
  return CompareTensors(got, want, tolerance);
}

absl::Status RunDataSet(const std::string& model, const std::string& target, Device& device,
                        const Tolerance& tolerance, DataSet& data) {
  absl::StatusOr<std::vector<std::string>> names = OnnxInputNames(model);
  if (!names.ok()) return names.status();
  absl::StatusOr<Graph> graph =
      GraphFromOnnx(WithDimsOf(data, *names, model), OptionsFor(*names, data));
  if (!graph.ok()) return graph.status();
  UseInputTypes(*graph, data);
  CompileOptions options;
  absl::StatusOr<TargetSpec> spec = ParseTarget(target);
  if (!spec.ok()) return spec.status();
  options.target = *spec;
  options.run_ptxas = false;  // the driver compiles; ptxas would take most of the time
  absl::StatusOr<Program> program = CompileGraph(*graph, options);
  if (!program.ok()) return program.status();
  absl::StatusOr<std::unique_ptr<Executor>> executor =
      Executor::Create(*std::move(program), &device);
  if (!executor.ok()) return executor.status();
  absl::StatusOr<std::vector<HostTensor>> outputs = RunOnHost(**executor, device, data.inputs);
  if (!outputs.ok()) return outputs.status();
  if (data.outputs.size() != outputs->size())
    return absl::AbortedError(absl::StrCat("the model has ", outputs->size(), " outputs, expected ",
                                           data.outputs.size()));
  for (size_t o = 0; o < data.outputs.size(); ++o) {
    absl::Status status = CompareStored((*outputs)[o], data.outputs[o], tolerance);
    if (!status.ok())
      return absl::AbortedError(
          absl::StrCat("output '", graph->output_names[o], "': ", status.message()));
  }
  return absl::OkStatus();
}

absl::Status RunFolder(const fs::path& folder, const std::string& target, Device& device) {
  absl::StatusOr<std::string> model = ReadFile((folder / "model.onnx").string());
  if (!model.ok()) return model.status();
  // What the model needs comes first: a skip should name the operator, not the data's type.
  absl::StatusOr<Graph> probe = GraphFromOnnx(*model, OnnxOptions());
  if (absl::IsUnimplemented(probe.status())) return probe.status();
  absl::StatusOr<Tolerance> tolerance = ReadTolerance(folder);
  if (!tolerance.ok()) return tolerance.status();
  absl::StatusOr<std::vector<DataSet>> sets = ReadDataSets(folder);
  if (!sets.ok()) return sets.status();
  for (DataSet& data : *sets) {
    absl::Status status = RunDataSet(*model, target, device, *tolerance, data);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// One spelling of a folder: "a/b/" and "a//b" are "a/b".
std::string Normal(const fs::path& folder) {
  fs::path normal = folder.lexically_normal();
  return normal.has_filename() ? normal.string() : normal.parent_path().string();
}

}  // namespace

absl::StatusOr<std::vector<std::string>> FindOnnxTests(const std::vector<std::string>& roots) {
  std::vector<std::string> folders;
  for (const std::string& root : roots) {
    std::error_code error;
    if (!fs::is_directory(root, error))
      return absl::NotFoundError(absl::StrCat(root, " is no folder"));
    if (fs::exists(fs::path(root) / "model.onnx", error)) folders.push_back(Normal(root));
    for (fs::recursive_directory_iterator it(root, error), end; it != end; it.increment(error)) {
      if (it->path().filename() == "model.onnx")
        folders.push_back(Normal(it->path().parent_path()));
    }
    if (error)  // cases that are not seen would not be counted
      return absl::PermissionDeniedError(
          absl::StrCat("cannot read all folders below ", root, ": ", error.message()));
  }
  if (folders.empty())
    return absl::NotFoundError(
        "found no model.onnx; expected folders of ONNX's backend tests (model.onnx, "
        "test_data_set_0/input_0.pb ...)");
  std::sort(folders.begin(), folders.end());
  folders.erase(std::unique(folders.begin(), folders.end()), folders.end());
  return folders;
}

OnnxTestResult RunOnnxTest(const std::string& folder, const std::string& target, Device& device) {
  absl::Status status = RunFolder(folder, target, device);
  if (status.ok()) return {OnnxTestResult::Verdict::kPassed, ""};
  auto verdict = absl::IsUnimplemented(status) ? OnnxTestResult::Verdict::kSkipped
                                               : OnnxTestResult::Verdict::kFailed;
  return {verdict, std::string(status.message())};
}

}  // namespace stax
