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

}  // namespace

const OnnxOp* FindOnnxOp(std::string_view name) {
  static const auto& all = *new std::map<std::string_view, const OnnxOp*>(AllOps());
  const auto at = all.find(name);
  return at == all.end() ? nullptr : at->second;
}

}  // namespace stax
