#include "runtime/cuda/cuda_device.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/cuda/code_images.h"
#include "runtime/cuda/driver.h"

namespace stax {
namespace {

using cuda::Check;
using cuda::CUdeviceptr;
using cuda::Driver;

constexpr int64_t kMaxGrid = (int64_t{1} << 31) - 1;  // gridDim.x limit
constexpr size_t kLogBytes = 4096;

CUdeviceptr ToDevice(const void* p) { return reinterpret_cast<CUdeviceptr>(p); }

// Makes the device's context current in this thread, which may be any of the host program's, and
// gives the thread its own one back. A thread that has none keeps the device's.
class ScopedContext {
 public:
  ScopedContext(const Driver* driver, cuda::CUcontext context) : driver_(driver) {
    if (driver_->CtxGetCurrent(&previous_) != 0) previous_ = nullptr;
    if (previous_ == context) {
      previous_ = nullptr;
    } else {
      driver_->CtxSetCurrent(context);
    }
  }
  ~ScopedContext() {
    if (previous_ != nullptr) driver_->CtxSetCurrent(previous_);
  }
  ScopedContext(const ScopedContext&) = delete;
  ScopedContext& operator=(const ScopedContext&) = delete;

 private:
  const Driver* driver_;
  cuda::CUcontext previous_ = nullptr;  // to set again
};

class CudaKernel : public LoadedKernel {
 public:
  CudaKernel(const Driver* driver, cuda::CUcontext context, cuda::CUmodule module,
             cuda::CUfunction function, const Variant& variant)
      : driver_(driver),
        context_(context),
        module_(module),
        function_(function),
        entry_(variant.entry()),
        block_threads_(variant.block_threads()),
        programmatic_(variant.programmatic_launch() && driver->LaunchKernelEx != nullptr) {}
  ~CudaKernel() override {
    ScopedContext scope(driver_, context_);
    driver_->ModuleUnload(module_);
  }

  absl::Status Launch(absl::Span<void* const> buffers, absl::Span<const int64_t> sizes,
                      int64_t grid, StreamHandle stream) override {
    if (grid > kMaxGrid)
      return absl::OutOfRangeError(
          absl::StrCat(entry_, ": a grid of ", grid, " blocks; the limit is ", kMaxGrid));
    ScopedContext scope(driver_, context_);
    absl::InlinedVector<void*, 16> arguments;
    for (void* const& buffer : buffers)
      arguments.push_back(static_cast<void*>(const_cast<void**>(&buffer)));
    for (const int64_t& size : sizes) arguments.push_back(const_cast<int64_t*>(&size));
    const auto blocks = static_cast<unsigned>(grid);
    auto* const to = static_cast<cuda::CUstream>(stream);
    return Check(*driver_,
                 programmatic_ ? LaunchProgrammatic(blocks, to, arguments.data())
                               : driver_->LaunchKernel(function_, blocks, 1, 1, block_threads_, 1,
                                                       1, 0, to, arguments.data(), nullptr),
                 entry_);
  }

 private:
  // The kernel may begin while those before it still run: it waits for them itself.
  cuda::CUresult LaunchProgrammatic(unsigned grid, cuda::CUstream stream, void** arguments) {
    cuda::LaunchAttribute early;
    early.id = cuda::kProgrammaticStreamSerialization;
    early.value.number = 1;
    cuda::LaunchConfig config;
    config.grid[0] = grid;
    config.block[0] = block_threads_;
    config.stream = stream;
    config.attributes = &early;
    config.attribute_count = 1;
    return driver_->LaunchKernelEx(&config, function_, arguments, nullptr);
  }

  const Driver* driver_;
  cuda::CUcontext context_;
  cuda::CUmodule module_;
  cuda::CUfunction function_;
  std::string entry_;
  unsigned block_threads_;
  bool programmatic_;
};

class CudaGraph : public LaunchGraph {
 public:
  CudaGraph(const Driver* driver, cuda::CUcontext context, cuda::CUgraphExec instance)
      : driver_(driver), context_(context), instance_(instance) {}
  ~CudaGraph() override {
    ScopedContext scope(driver_, context_);
    driver_->GraphExecDestroy(instance_);
  }
  absl::Status Replay(StreamHandle stream) override {
    ScopedContext scope(driver_, context_);
    return Check(*driver_, driver_->GraphLaunch(instance_, static_cast<cuda::CUstream>(stream)),
                 "cuGraphLaunch");
  }

 private:
  const Driver* driver_;
  cuda::CUcontext context_;
  cuda::CUgraphExec instance_;
};

class CudaDevice : public Device {
 public:
  CudaDevice(const Driver* driver, cuda::CUdevice device, cuda::CUcontext context, DeviceInfo info,
             int capability)
      : driver_(driver),
        device_(device),
        context_(context),
        info_(std::move(info)),
        capability_(capability) {}
  ~CudaDevice() override { driver_->DevicePrimaryCtxRelease(device_); }

  const DeviceInfo& info() const override { return info_; }

  absl::StatusOr<void*> Allocate(size_t bytes) override {
    ScopedContext scope(driver_, context_);
    CUdeviceptr memory = 0;
    absl::Status status = Check(*driver_, driver_->MemAlloc(&memory, std::max<size_t>(bytes, 1)),
                                absl::StrCat("cannot allocate ", bytes, " bytes on the GPU"));
    if (!status.ok()) return status;
    return reinterpret_cast<void*>(memory);
  }
  void Free(void* memory) override {
    ScopedContext scope(driver_, context_);
    if (memory != nullptr) driver_->MemFree(ToDevice(memory));
  }
  absl::Status CopyIn(void* device, const void* host, size_t bytes) override {
    ScopedContext scope(driver_, context_);
    if (bytes == 0) return absl::OkStatus();
    return Check(*driver_, driver_->MemcpyHtoD(ToDevice(device), host, bytes), "copy to the GPU");
  }
  absl::Status CopyOut(void* host, const void* device, size_t bytes) override {
    ScopedContext scope(driver_, context_);
    if (bytes == 0) return absl::OkStatus();
    return Check(*driver_, driver_->MemcpyDtoH(host, ToDevice(device), bytes), "copy from the GPU");
  }
  absl::Status Copy(void* to, const void* from, size_t bytes, StreamHandle stream) override {
    ScopedContext scope(driver_, context_);
    if (bytes == 0) return absl::OkStatus();
    return Check(*driver_,
                 driver_->MemcpyDtoDAsync(ToDevice(to), ToDevice(from), bytes,
                                          static_cast<cuda::CUstream>(stream)),
                 "copy on the GPU");
  }
  absl::Status Synchronize() override {
    ScopedContext scope(driver_, context_);
    return Check(*driver_, driver_->CtxSynchronize(), "a kernel on the GPU failed");
  }

  absl::StatusOr<std::unique_ptr<LoadedKernel>> Load(const Variant& variant) override;

  bool RecordsGraphs() const override { return true; }
  bool IsRecording(StreamHandle stream) override {
    ScopedContext scope(driver_, context_);
    int status = 0;  // CU_STREAM_CAPTURE_STATUS_NONE
    // An error (the default stream while another is captured) is no time to begin one either.
    return driver_->StreamIsCapturing(static_cast<cuda::CUstream>(stream), &status) != 0 ||
           status != 0;
  }
  absl::StatusOr<std::unique_ptr<LaunchGraph>> Record(
      absl::FunctionRef<absl::Status(StreamHandle)> launches) override;

 private:
  absl::StatusOr<cuda::CUmodule> LoadModule(const cuda::CodeImage& image, const std::string& entry);

  const Driver* driver_;
  cuda::CUdevice device_;
  cuda::CUcontext context_;
  DeviceInfo info_;
  int capability_;  // 90 for 9.0
};

absl::StatusOr<cuda::CUmodule> CudaDevice::LoadModule(const cuda::CodeImage& image,
                                                      const std::string& entry) {
  std::string log(kLogBytes, '\0');
  int options[] = {cuda::kJitErrorLogBuffer, cuda::kJitErrorLogBufferSizeBytes};
  void* values[] = {log.data(), reinterpret_cast<void*>(kLogBytes)};
  cuda::CUmodule module = nullptr;
  absl::Status status =
      Check(*driver_, driver_->ModuleLoadDataEx(&module, image.data, 2, options, values),
            absl::StrCat("cannot load ", entry, " (", image.what, ")"));
  if (status.ok()) return module;
  return absl::Status(status.code(), absl::StrCat(status.message(), "\n", log.c_str()));
}

absl::StatusOr<std::unique_ptr<LoadedKernel>> CudaDevice::Load(const Variant& variant) {
  absl::StatusOr<std::vector<cuda::CodeImage>> images = cuda::CodeImagesFor(variant, capability_);
  if (!images.ok()) return images.status();
  ScopedContext scope(driver_, context_);
  absl::StatusOr<cuda::CUmodule> loaded = LoadModule(images->front(), variant.entry());
  // A cubin may come from a toolkit that is newer than the driver.
  for (size_t i = 1; i < images->size() && !loaded.ok(); ++i)
    loaded = LoadModule((*images)[i], variant.entry());
  if (!loaded.ok()) return loaded.status();
  cuda::CUmodule module = *loaded;
  cuda::CUfunction function = nullptr;
  absl::Status status =
      Check(*driver_, driver_->ModuleGetFunction(&function, module, variant.entry().c_str()),
            absl::StrCat("cannot find ", variant.entry()));
  if (!status.ok()) {
    driver_->ModuleUnload(module);
    return status;
  }
  return std::make_unique<CudaKernel>(driver_, context_, module, function, variant);
}

// On a stream of its own: the default stream cannot be captured.
absl::StatusOr<std::unique_ptr<LaunchGraph>> CudaDevice::Record(
    absl::FunctionRef<absl::Status(StreamHandle)> launches) {
  ScopedContext scope(driver_, context_);
  cuda::CUstream stream = nullptr;
  absl::Status status =
      Check(*driver_, driver_->StreamCreate(&stream, cuda::kStreamNonBlocking), "cuStreamCreate");
  if (!status.ok()) return status;
  cuda::CUgraph graph = nullptr;
  status = Check(*driver_, driver_->StreamBeginCapture(stream, cuda::kCaptureThreadLocal),
                 "cuStreamBeginCapture");
  if (status.ok()) {
    status = launches(stream);
    // Also after a failed launch, which leaves the capture open.
    status.Update(Check(*driver_, driver_->StreamEndCapture(stream, &graph), "cuStreamEndCapture"));
  }
  cuda::CUgraphExec instance = nullptr;
  if (status.ok())
    status = Check(*driver_, driver_->GraphInstantiate(&instance, graph, 0), "cuGraphInstantiate");
  if (graph != nullptr) driver_->GraphDestroy(graph);
  driver_->StreamDestroy(stream);
  if (!status.ok()) return status;
  return std::make_unique<CudaGraph>(driver_, context_, instance);
}

// "580.159.03" from the kernel module; empty where that file is absent.
std::string KernelModuleVersion() {
  std::ifstream file("/sys/module/nvidia/version");
  std::string version;
  std::getline(file, version);
  return version;
}

DeviceInfo DescribeDevice(const Driver& driver, cuda::CUdevice device, int capability) {
  auto attribute = [&](int id) {
    int value = 0;
    driver.DeviceGetAttribute(&value, id, device);
    return value;
  };
  DeviceInfo info;
  char name[256] = "";
  driver.DeviceGetName(name, sizeof(name), device);
  info.name = name;
  info.kind = "cuda";
  int version = 0;
  driver.DriverGetVersion(&version);
  std::string module = KernelModuleVersion();
  info.driver_version = absl::StrFormat("%s%sCUDA %d.%d", module, module.empty() ? "" : ", ",
                                        version / 1000, version % 1000 / 10);
  info.multiprocessors = attribute(cuda::kMultiprocessorCount);
  info.l2_bytes = attribute(cuda::kL2CacheSize);
  size_t bytes = 0;
  driver.DeviceTotalMem(&bytes, device);
  info.memory_bytes = static_cast<int64_t>(bytes);
  info.best_target = cuda::BestTarget(capability);
  return info;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Device>> OpenCudaDevice(int ordinal) {
  absl::StatusOr<const Driver*> driver = cuda::GetDriver();
  if (!driver.ok()) return driver.status();
  const Driver& api = **driver;
  int count = 0;
  api.DeviceGetCount(&count);
  if (ordinal >= count) {
    return absl::UnavailableError(
        absl::StrCat("no CUDA device ", ordinal, ": the driver sees ", count));
  }
  cuda::CUdevice device = 0;
  absl::Status status = Check(api, api.DeviceGet(&device, ordinal), "cuDeviceGet");
  if (!status.ok()) return status;
  int major = 0;
  int minor = 0;
  api.DeviceGetAttribute(&major, cuda::kComputeCapabilityMajor, device);
  api.DeviceGetAttribute(&minor, cuda::kComputeCapabilityMinor, device);
  int capability = 10 * major + minor;
  if (capability < 80) {
    return absl::UnavailableError(absl::StrFormat(
        "CUDA device %d has compute capability %d.%d; Stax needs 8.0", ordinal, major, minor));
  }
  cuda::CUcontext context = nullptr;
  status = Check(api, api.DevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  if (!status.ok()) return status;
  ScopedContext scope(&api, context);
  return std::make_unique<CudaDevice>(&api, device, context,
                                      DescribeDevice(api, device, capability), capability);
}

}  // namespace stax
