// A dense row-major tensor in host memory.
#ifndef STAX_IR_HOST_TENSOR_H_
#define STAX_IR_HOST_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ir/dtype.h"

namespace stax {

struct HostTensor {
  DType dtype = DType::kF32;
  std::vector<int64_t> dims;     // each >= 0; empty for a scalar
  std::vector<std::byte> bytes;  // product(dims) * DTypeBytes(dtype); bools are 0 or 1
};

}  // namespace stax

#endif  // STAX_IR_HOST_TENSOR_H_
