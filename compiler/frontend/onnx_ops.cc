#include "compiler/frontend/onnx_ops.h"

#include <map>

namespace stax {
namespace {

std::map<std::string_view, const OnnxOp*> AllOps() {
  std::map<std::string_view, const OnnxOp*> all;
  for (absl::Span<const OnnxOp> family :
       {OnnxActivationOps(), OnnxConvOps(), OnnxElementwiseOps(), OnnxGatherOps(),
        OnnxGenerateOps(), OnnxLossOps(), OnnxMatMulOps(), OnnxNormaliseOps(), OnnxPoolOps(),
        OnnxQuantizeOps(), OnnxReduceOps(), OnnxResizeOps(), OnnxScatterOps(), OnnxSliceOps(),
        OnnxViewOps()}) {
    for (const OnnxOp& op : family) all.emplace(op.name, &op);
  }
  return all;
}

const std::map<std::string_view, const OnnxOp*>& Table() {
  static const auto& table = *new std::map<std::string_view, const OnnxOp*>(AllOps());
  return table;
}

}  // namespace

const OnnxOp* FindOnnxOp(std::string_view name) {
  const auto at = Table().find(name);
  return at == Table().end() ? nullptr : at->second;
}

std::vector<std::string> OnnxOpNames() {
  std::vector<std::string> names;
  for (const auto& [name, op] : Table()) names.emplace_back(name);
  return names;
}

}  // namespace stax
