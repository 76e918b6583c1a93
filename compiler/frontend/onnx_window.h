// Sliding windows over the spatial axes of [N, C, d...]: what convolution and pooling share.
#ifndef STAX_COMPILER_FRONTEND_ONNX_WINDOW_H_
#define STAX_COMPILER_FRONTEND_ONNX_WINDOW_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/onnx_node.h"

namespace stax {

// One spatial axis. Output o reads elements stride * o + dilation * k - before, 0 <= k < kernel, of
// an axis of size `in` that is padded by before and after.
struct OnnxWindow {
  int64_t kernel = 1, stride = 1, dilation = 1;
  IndexExpr in, before, after, out;
  IndexExpr overhang;  // how far the last window reaches beyond the padding (ceil_mode)

  int64_t span() const { return dilation * (kernel - 1) + 1; }
};

// Attributes kernel_shape (or `weight_kernel`, when the kernel is a tensor), strides, dilations,
// pads, auto_pad and ceil_mode, for input 0.
absl::StatusOr<std::vector<OnnxWindow>> OnnxWindowAttributes(
    OnnxNode& node, const std::vector<int64_t>& weight_kernel);

// The same without sizes, for transposed convolution, which reads them backwards.
absl::StatusOr<std::vector<OnnxWindow>> OnnxKernelAttributes(
    OnnxNode& node, const std::vector<int64_t>& weight_kernel);

// x [N, C, d...] padded with `value` and cut into windows: [N, C, out, kernel, out, kernel, ...].
OnnxTensor OnnxPatches(GraphBuilder& b, OnnxTensor x, const std::vector<OnnxWindow>& windows,
                       OnnxTensor value);

}  // namespace stax

#endif  // STAX_COMPILER_FRONTEND_ONNX_WINDOW_H_
