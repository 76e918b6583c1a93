// The CUDA driver API, opened at run time: one binary serves machines with and without a GPU.
//
// Only what Stax calls is declared here, by hand, with the driver's own names and ABI (CUDA Driver
// API reference, 13.0): no CUDA headers are needed to build the device.
#ifndef STAX_RUNTIME_CUDA_DRIVER_H_
#define STAX_RUNTIME_CUDA_DRIVER_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace stax::cuda {

using CUresult = int;  // 0 is success
using CUdevice = int;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUgraph = struct CUgraph_st*;
using CUgraphExec = struct CUgraphExec_st*;
using CUdeviceptr = unsigned long long;  // NOLINT: the driver's type

// CUdevice_attribute values used here.
inline constexpr int kMultiprocessorCount = 16;
inline constexpr int kL2CacheSize = 38;
inline constexpr int kComputeCapabilityMajor = 75;
inline constexpr int kComputeCapabilityMinor = 76;
// CUjit_option values used here.
inline constexpr int kJitErrorLogBuffer = 5;
inline constexpr int kJitErrorLogBufferSizeBytes = 6;
// CU_STREAM_NON_BLOCKING, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL.
inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr int kCaptureThreadLocal = 1;

// STAX_CUDA(member, symbol, parameters)
#define STAX_CUDA_DRIVER_FUNCTIONS(STAX_CUDA)                                                    \
  STAX_CUDA(Init, "cuInit", (unsigned flags))                                                    \
  STAX_CUDA(DriverGetVersion, "cuDriverGetVersion", (int* version))                              \
  STAX_CUDA(GetErrorName, "cuGetErrorName", (CUresult error, const char** name))                 \
  STAX_CUDA(GetErrorString, "cuGetErrorString", (CUresult error, const char** text))             \
  STAX_CUDA(DeviceGetCount, "cuDeviceGetCount", (int* count))                                    \
  STAX_CUDA(DeviceGet, "cuDeviceGet", (CUdevice * device, int ordinal))                          \
  STAX_CUDA(DeviceGetName, "cuDeviceGetName", (char* name, int length, CUdevice device))         \
  STAX_CUDA(DeviceTotalMem, "cuDeviceTotalMem_v2", (size_t* bytes, CUdevice device))             \
  STAX_CUDA(DeviceGetAttribute, "cuDeviceGetAttribute",                                          \
            (int* value, int attribute, CUdevice device))                                        \
  STAX_CUDA(DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain",                                  \
            (CUcontext * context, CUdevice device))                                              \
  STAX_CUDA(DevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (CUdevice device))          \
  STAX_CUDA(CtxSetCurrent, "cuCtxSetCurrent", (CUcontext context))                               \
  STAX_CUDA(CtxGetCurrent, "cuCtxGetCurrent", (CUcontext * context))                             \
  STAX_CUDA(CtxSynchronize, "cuCtxSynchronize", ())                                              \
  STAX_CUDA(MemAlloc, "cuMemAlloc_v2", (CUdeviceptr * memory, size_t bytes))                     \
  STAX_CUDA(MemFree, "cuMemFree_v2", (CUdeviceptr memory))                                       \
  STAX_CUDA(MemcpyHtoD, "cuMemcpyHtoD_v2", (CUdeviceptr to, const void* from, size_t bytes))     \
  STAX_CUDA(MemcpyDtoH, "cuMemcpyDtoH_v2", (void* to, CUdeviceptr from, size_t bytes))           \
  STAX_CUDA(MemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2",                                             \
            (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))                   \
  STAX_CUDA(MemsetD8Async, "cuMemsetD8Async",                                                    \
            (CUdeviceptr to, unsigned char value, size_t count, CUstream stream))                \
  STAX_CUDA(ModuleLoadDataEx, "cuModuleLoadDataEx",                                              \
            (CUmodule * module, const void* image, unsigned count, int* options, void** values)) \
  STAX_CUDA(ModuleUnload, "cuModuleUnload", (CUmodule module))                                   \
  STAX_CUDA(ModuleGetFunction, "cuModuleGetFunction",                                            \
            (CUfunction * function, CUmodule module, const char* name))                          \
  STAX_CUDA(LaunchKernel, "cuLaunchKernel",                                                      \
            (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,             \
             unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,        \
             CUstream stream, void** arguments, void** extra))                                   \
  STAX_CUDA(EventCreate, "cuEventCreate", (CUevent * event, unsigned flags))                     \
  STAX_CUDA(EventDestroy, "cuEventDestroy_v2", (CUevent event))                                  \
  STAX_CUDA(EventRecord, "cuEventRecord", (CUevent event, CUstream stream))                      \
  STAX_CUDA(EventSynchronize, "cuEventSynchronize", (CUevent event))                             \
  STAX_CUDA(EventElapsedTime, "cuEventElapsedTime", (float* ms, CUevent start, CUevent end))     \
  STAX_CUDA(StreamCreate, "cuStreamCreate", (CUstream * stream, unsigned flags))                 \
  STAX_CUDA(StreamDestroy, "cuStreamDestroy_v2", (CUstream stream))                              \
  STAX_CUDA(StreamIsCapturing, "cuStreamIsCapturing", (CUstream stream, int* status))            \
  STAX_CUDA(StreamBeginCapture, "cuStreamBeginCapture_v2", (CUstream stream, int mode))          \
  STAX_CUDA(StreamEndCapture, "cuStreamEndCapture", (CUstream stream, CUgraph * graph))          \
  STAX_CUDA(GraphDestroy, "cuGraphDestroy", (CUgraph graph))                                     \
  STAX_CUDA(GraphInstantiate, "cuGraphInstantiateWithFlags",                                     \
            (CUgraphExec * instance, CUgraph graph, unsigned long long flags)) /* NOLINT */      \
  STAX_CUDA(GraphExecDestroy, "cuGraphExecDestroy", (CUgraphExec instance))                      \
  STAX_CUDA(GraphLaunch, "cuGraphLaunch", (CUgraphExec instance, CUstream stream))

// As in cuda.h: one attribute of a launch, and a launch with attributes.
struct LaunchAttribute {
  int id = 0;
  int padding = 0;
  union alignas(8) {
    char bytes[64];
    int number;
  } value = {};
};
struct LaunchConfig {
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned shared_bytes = 0;
  CUstream stream = nullptr;
  LaunchAttribute* attributes = nullptr;
  unsigned attribute_count = 0;
};
static_assert(sizeof(LaunchAttribute) == 72 && alignof(LaunchAttribute) == 8 &&
                  sizeof(LaunchConfig) == 56,
              "layout of cuda.h");
// CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION: the kernel may start before those in front
// of it in the stream have ended.
inline constexpr int kProgrammaticStreamSerialization = 6;

struct Driver {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration
#define STAX_CUDA_MEMBER(member, symbol, parameters) CUresult(*member) parameters = nullptr;
  STAX_CUDA_DRIVER_FUNCTIONS(STAX_CUDA_MEMBER)
#undef STAX_CUDA_MEMBER
  // Null in drivers before CUDA 12.3.
  CUresult (*LaunchKernelEx)(const LaunchConfig* config, CUfunction function, void** arguments,
                             void** extra) = nullptr;
};

// The driver, initialised once per process. Unavailable, saying what is missing (libcuda.so.1, a
// symbol, a GPU), otherwise.
absl::StatusOr<const Driver*> GetDriver();

// OK for 0; else the error's name and text after "what: ". Out of memory is ResourceExhausted.
absl::Status Check(const Driver& driver, CUresult result, absl::string_view what);

}  // namespace stax::cuda

#endif  // STAX_RUNTIME_CUDA_DRIVER_H_
