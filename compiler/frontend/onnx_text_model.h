// For tests: small ONNX models written as text, in a notation shorter than Protocol Buffers' own.
//
//   x = input f32[n, 3]
//   s = const i64[2] {0, -1}
//   y = Reshape(x, s) allowzero=0
//   z, m = MaxPool(x,) kernel_shape=[2, 2] auto_pad="VALID"     a name left out is an optional
//   input output y, z
#ifndef STAX_COMPILER_FRONTEND_ONNX_TEXT_MODEL_H_
#define STAX_COMPILER_FRONTEND_ONNX_TEXT_MODEL_H_

#include <string>
#include <string_view>

#include "third_party/onnx/onnx.pb.h"

namespace stax {

// A failure to parse ends the program: the text is part of a test.
onnx::ModelProto OnnxModelFromText(std::string_view text, int opset = 17);
std::string OnnxBytesFromText(std::string_view text, int opset = 17);

}  // namespace stax

#endif  // STAX_COMPILER_FRONTEND_ONNX_TEXT_MODEL_H_
