// Device: where kernels run. Implementations: runtime/cpu (the machine itself), runtime/cuda
// (driver API opened at run time), runtime/emulator (PTX on the CPU).
#ifndef STAX_RUNTIME_DEVICE_H_
#define STAX_RUNTIME_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ir/artifact/program.pb.h"

namespace stax {

// A stream of the device's API (CUstream); null is the default stream. Ignored on the CPU.
using StreamHandle = void*;

// A Variant made ready to launch. Owned by the caller, must not outlive its Device.
class LoadedKernel {
 public:
  virtual ~LoadedKernel() = default;
  // `buffers` in the nest's buffer order (device pointers), `sizes` in its symbol order,
  // `grid` program instances (> 0). Asynchronous on a GPU. Aborted when the device watched the
  // kernel do wrong: only the emulator does.
  virtual absl::Status Launch(absl::Span<void* const> buffers, absl::Span<const int64_t> sizes,
                              int64_t grid, StreamHandle stream) = 0;
};

// Launches recorded once and submitted together (S9.9). Must not outlive its Device and kernels.
class LaunchGraph {
 public:
  virtual ~LaunchGraph() = default;
  // Asynchronous on `stream`; the kernels get what they got when they were recorded.
  virtual absl::Status Replay(StreamHandle stream) = 0;
};

struct DeviceInfo {
  std::string name;            // "NVIDIA H200", the processor's model name
  std::string kind;            // "cuda", "cpu", "emu"
  std::string driver_version;  // "580.159.03 (CUDA 13.0)"; empty on the cpu
  int multiprocessors = 0;     // SMs, or cores used
  int64_t memory_bytes = 0;
  int64_t l2_bytes = 0;     // last-level cache on the cpu
  std::string best_target;  // what to compile for, e.g. "cuda:sm_90a"
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const = 0;

  // Memory aligned to 256 bytes. ResourceExhausted names the size.
  virtual absl::StatusOr<void*> Allocate(size_t bytes) = 0;
  virtual void Free(void* memory) = 0;
  virtual absl::Status CopyIn(void* device, const void* host, size_t bytes) = 0;
  virtual absl::Status CopyOut(void* host, const void* device, size_t bytes) = 0;
  // Within the device, ordered on `stream`.
  virtual absl::Status Copy(void* to, const void* from, size_t bytes, StreamHandle stream) = 0;
  virtual absl::Status Synchronize() = 0;

  // InvalidArgument when the variant is for another kind or a newer architecture.
  virtual absl::StatusOr<std::unique_ptr<LoadedKernel>> Load(const Variant& variant) = 0;

  virtual bool RecordsGraphs() const { return false; }
  // Whether launches on `stream` are being recorded by the host program.
  virtual bool IsRecording(StreamHandle /*stream*/) { return false; }
  // What `launches` puts on the stream it is given (launches and copies within the device) is
  // recorded and does not run. FailedPrecondition where RecordsGraphs() is false.
  virtual absl::StatusOr<std::unique_ptr<LaunchGraph>> Record(
      absl::FunctionRef<absl::Status(StreamHandle)> /*launches*/) {
    return absl::FailedPreconditionError(info().name + " records no graphs");
  }
};

// "cuda", "cuda:0", "cpu", "emu". InvalidArgument for another name (lists them); Unavailable when
// the device or its driver is missing, saying exactly what was looked for (exit code 3).
absl::StatusOr<std::unique_ptr<Device>> OpenDevice(absl::string_view name);

// The kind of target whose code the device runs: its own, "cuda" of the emulator.
std::string CodeKind(const DeviceInfo& info);

// What measurements on the device hold for. A GPU's name says all; a processor's says neither how
// many cores there are nor how many this process may use: "AMD EPYC, 2 cores".
std::string DeviceIdentity(const DeviceInfo& info);

// "cuda:0" when a GPU and its driver are there, else "cpu".
std::string DefaultDeviceName();

}  // namespace stax

#endif  // STAX_RUNTIME_DEVICE_H_
