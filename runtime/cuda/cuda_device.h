// An NVIDIA GPU as a Device, through the driver API.
#ifndef STAX_RUNTIME_CUDA_CUDA_DEVICE_H_
#define STAX_RUNTIME_CUDA_CUDA_DEVICE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "runtime/device.h"

namespace stax {

// Uses the device's primary context, which CUDA's runtime API and PyTorch use too, so that their
// pointers and streams are valid here. May be used from any thread; a context that the thread has
// already is its current one again after each call. Unavailable when there is no driver or no such
// device.
absl::StatusOr<std::unique_ptr<Device>> OpenCudaDevice(int ordinal);

}  // namespace stax

#endif  // STAX_RUNTIME_CUDA_CUDA_DEVICE_H_
