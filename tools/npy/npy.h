// NumPy's .npy files (format versions 1 to 3), little-endian and C order.
//
// bf16 has no NumPy type: it is written as '<V2', and '<V2', '|V2' and 'bfloat16' are read as bf16.
#ifndef STAX_TOOLS_NPY_NPY_H_
#define STAX_TOOLS_NPY_NPY_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/host_tensor.h"

namespace stax {

// InvalidArgument says what is wrong: no .npy file, Fortran order, an element type Stax lacks, or
// a length that does not fit the shape.
absl::StatusOr<HostTensor> ParseNpy(std::string_view file);
std::string FormatNpy(const HostTensor& tensor);

// Errors name the path.
absl::StatusOr<HostTensor> ReadNpy(const std::string& path);
absl::Status WriteNpy(const std::string& path, const HostTensor& tensor);

}  // namespace stax

#endif  // STAX_TOOLS_NPY_NPY_H_
