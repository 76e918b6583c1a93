#include "compiler/frontend/onnx.h"

#include <algorithm>
#include <cstdint>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "compiler/frontend/onnx_ops.h"
#include "compiler/frontend/onnx_translator.h"
#include "third_party/onnx/onnx.pb.h"

namespace stax {
namespace {

absl::Status Parse(std::string_view bytes, onnx::ModelProto* model) {
  if (bytes.size() > INT32_MAX)
    return absl::InvalidArgumentError(
        absl::StrCat("the model has ", bytes.size(), " bytes; Protocol Buffers end at 2^31"));
  if (!model->ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return absl::InvalidArgumentError("not a serialized ONNX ModelProto");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Graph> GraphFromOnnx(std::string_view model_bytes, const OnnxOptions& options) {
  onnx::ModelProto model;
  if (absl::Status s = Parse(model_bytes, &model); !s.ok()) return s;
  return OnnxTranslator(model, options).Translate();
}

std::vector<std::string> OnnxOperatorNames() {
  std::vector<std::string> names = OnnxOpNames();
  names.insert(std::upper_bound(names.begin(), names.end(), "If"), "If");
  return names;
}

absl::StatusOr<std::vector<std::string>> OnnxInputNames(std::string_view model_bytes) {
  onnx::ModelProto model;
  if (absl::Status s = Parse(model_bytes, &model); !s.ok()) return s;
  std::set<std::string> constants;
  for (const onnx::TensorProto& t : model.graph().initializer()) constants.insert(t.name());
  for (const onnx::SparseTensorProto& t : model.graph().sparse_initializer())
    constants.insert(t.values().name());
  std::vector<std::string> names;
  for (const onnx::ValueInfoProto& input : model.graph().input())
    if (constants.count(input.name()) == 0) names.push_back(input.name());
  return names;
}

}  // namespace stax
