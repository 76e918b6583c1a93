// Fuzz target of .pb files, ONNX's tensors: any bytes give a tensor whose data fits its shape, or
// an error of the kinds that onnx_tensor.h lists, in memory of the order of the file's length.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "compiler/frontend/onnx_tensor.h"
#include "ir/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto tensor = stax::ParseOnnxTensor({reinterpret_cast<const char*>(data), size});
  if (!tensor.ok()) {
    STAX_CHECK(absl::IsInvalidArgument(tensor.status()) || absl::IsUnimplemented(tensor.status()),
               tensor.status().ToString());
    return 0;
  }
  const auto elements = stax::OnnxElements(tensor->value.dims);
  STAX_CHECK(elements.ok(), elements.status().ToString());
  STAX_CHECK(static_cast<int64_t>(tensor->value.bytes.size()) ==
                 *elements * stax::DTypeBytes(tensor->value.dtype),
             "the data does not fit the shape");
  return 0;
}
