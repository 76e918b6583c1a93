#include "compiler/codegen/testing/run_cuda.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/index_expr.h"

namespace stax {
namespace {

// The driver functions needed, by name and without its headers. Pointers to device memory are
// 64-bit integers, handles opaque pointers, results 0 for success.
using DevicePtr = uint64_t;
using Handle = void*;

struct Driver {
  int (*Init)(unsigned);
  int (*DeviceGet)(int*, int);
  int (*PrimaryCtxRetain)(Handle*, int);
  int (*CtxSetCurrent)(Handle);
  int (*CtxSynchronize)();
  int (*ModuleLoadData)(Handle*, const void*);
  int (*ModuleUnload)(Handle);
  int (*ModuleGetFunction)(Handle*, Handle, const char*);
  int (*MemAlloc)(DevicePtr*, size_t);
  int (*MemFree)(DevicePtr);
  int (*MemcpyHtoD)(DevicePtr, const void*, size_t);
  int (*MemcpyDtoH)(void*, DevicePtr, size_t);
  int (*MemsetD8)(DevicePtr, unsigned char, size_t);
  int (*LaunchKernel)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                      Handle, void**, void**);
  int (*EventCreate)(Handle*, unsigned);
  int (*EventRecord)(Handle, Handle);
  int (*EventElapsedTime)(float*, Handle, Handle);
  int (*EventDestroy)(Handle);
};

template <typename F>
bool Find(void* library, const char* name, F** function) {
  *function = reinterpret_cast<F*>(dlsym(library, name));
  return *function != nullptr;
}

const Driver* LoadDriver() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) return nullptr;
  static Driver d;
  const bool found =
      Find(library, "cuInit", &d.Init) && Find(library, "cuDeviceGet", &d.DeviceGet) &&
      Find(library, "cuDevicePrimaryCtxRetain", &d.PrimaryCtxRetain) &&
      Find(library, "cuCtxSetCurrent", &d.CtxSetCurrent) &&
      Find(library, "cuCtxSynchronize", &d.CtxSynchronize) &&
      Find(library, "cuModuleLoadData", &d.ModuleLoadData) &&
      Find(library, "cuModuleUnload", &d.ModuleUnload) &&
      Find(library, "cuModuleGetFunction", &d.ModuleGetFunction) &&
      Find(library, "cuMemAlloc_v2", &d.MemAlloc) && Find(library, "cuMemFree_v2", &d.MemFree) &&
      Find(library, "cuMemcpyHtoD_v2", &d.MemcpyHtoD) &&
      Find(library, "cuMemcpyDtoH_v2", &d.MemcpyDtoH) &&
      Find(library, "cuMemsetD8_v2", &d.MemsetD8) &&
      Find(library, "cuLaunchKernel", &d.LaunchKernel) &&
      Find(library, "cuEventCreate", &d.EventCreate) &&
      Find(library, "cuEventRecord", &d.EventRecord) &&
      Find(library, "cuEventElapsedTime", &d.EventElapsedTime) &&
      Find(library, "cuEventDestroy_v2", &d.EventDestroy);
  int device = 0;
  Handle context = nullptr;
  if (!found || d.Init(0) != 0 || d.DeviceGet(&device, 0) != 0 ||
      d.PrimaryCtxRetain(&context, device) != 0 || d.CtxSetCurrent(context) != 0)
    return nullptr;
  return &d;
}

const Driver* GetDriver() {
  static const Driver* const driver = LoadDriver();
  return driver;
}

absl::Status Check(int result, const char* what) {
  if (result == 0) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(what, ": CUDA error ", result));
}

constexpr unsigned char kGuardByte = 0xA5;
constexpr size_t kGuardBytes = 256;

// A buffer with guard bytes around it.
class DeviceBuffer {
 public:
  DeviceBuffer(const Driver& driver, size_t bytes) : driver_(driver), bytes_(bytes) {
    status_ = Check(driver.MemAlloc(&base_, bytes + 2 * kGuardBytes), "cuMemAlloc");
    if (status_.ok())
      status_ = Check(driver.MemsetD8(base_, kGuardByte, bytes + 2 * kGuardBytes), "cuMemsetD8");
  }
  ~DeviceBuffer() { driver_.MemFree(base_); }
  DeviceBuffer(const DeviceBuffer&) = delete;

  const absl::Status& status() const { return status_; }
  DevicePtr data() const { return base_ + kGuardBytes; }
  size_t size() const { return bytes_; }
  bool GuardIntact() const {
    std::vector<unsigned char> all(bytes_ + 2 * kGuardBytes);
    driver_.MemcpyDtoH(all.data(), base_, all.size());
    for (size_t i = 0; i < kGuardBytes; ++i)
      if (all[i] != kGuardByte || all[all.size() - 1 - i] != kGuardByte) return false;
    return true;
  }

 private:
  const Driver& driver_;
  size_t bytes_;
  DevicePtr base_ = 0;
  absl::Status status_;
};

// A loaded variant with its arguments.
class Launcher {
 public:
  Launcher(const Driver& driver, const Variant& variant) : driver_(driver), variant_(variant) {}
  ~Launcher() {
    if (module_ != nullptr) driver_.ModuleUnload(module_);
  }

  absl::Status Prepare(const LoopNest& nest, const std::map<std::string, int64_t>& sizes) {
    const void* image = variant_.cubin().empty() ? variant_.ptx().c_str() : variant_.cubin().data();
    absl::Status s = Check(driver_.ModuleLoadData(&module_, image), "cuModuleLoadData");
    if (!s.ok()) return s;
    s = Check(driver_.ModuleGetFunction(&function_, module_, variant_.entry().c_str()),
              "cuModuleGetFunction");
    if (!s.ok()) return s;
    for (const NestBuffer& b : nest.buffers) {
      const absl::StatusOr<int64_t> numel = b.numel.Evaluate(sizes);
      if (!numel.ok()) return numel.status();
      buffers.push_back(std::make_unique<DeviceBuffer>(driver_, *numel * DTypeBytes(b.dtype)));
      if (!buffers.back()->status().ok()) return buffers.back()->status();
      values_.push_back(buffers.back()->data());
    }
    for (const SizeSymbol& symbol : nest.symbols) values_.push_back(sizes.at(symbol.name));
    for (DevicePtr& value : values_) arguments_.push_back(&value);
    const absl::StatusOr<IndexExpr> grid = IndexExpr::Parse(variant_.grid_x());
    if (!grid.ok()) return grid.status();
    const absl::StatusOr<int64_t> instances = grid->Evaluate(sizes);
    if (!instances.ok()) return instances.status();
    grid_ = *instances;
    return absl::OkStatus();
  }

  absl::Status Launch() {
    if (grid_ == 0) return absl::OkStatus();
    return Check(driver_.LaunchKernel(function_, grid_, 1, 1, variant_.block_threads(), 1, 1, 0,
                                      nullptr, arguments_.data(), nullptr),
                 "cuLaunchKernel");
  }

  std::vector<std::unique_ptr<DeviceBuffer>> buffers;

 private:
  const Driver& driver_;
  const Variant& variant_;
  Handle module_ = nullptr;
  Handle function_ = nullptr;
  std::vector<DevicePtr> values_;
  std::vector<void*> arguments_;
  int64_t grid_ = 0;
};

}  // namespace

bool HaveGpu() { return GetDriver() != nullptr; }

absl::Status RunOnCuda(const Variant& variant, const LoopNest& nest,
                       const std::map<std::string, int64_t>& sizes,
                       std::map<std::string, Bytes>& memory) {
  const Driver* driver = GetDriver();
  if (driver == nullptr) return absl::UnavailableError("no GPU");
  Launcher launcher(*driver, variant);
  if (absl::Status s = launcher.Prepare(nest, sizes); !s.ok()) return s;
  for (size_t i = 0; i < nest.buffers.size(); ++i) {
    const Bytes& from = memory[nest.buffers[i].name];
    if (!nest.buffers[i].written)
      driver->MemcpyHtoD(launcher.buffers[i]->data(), from.data(), from.size());
  }
  if (absl::Status s = launcher.Launch(); !s.ok()) return s;
  if (absl::Status s = Check(driver->CtxSynchronize(), "cuCtxSynchronize"); !s.ok()) return s;
  for (size_t i = 0; i < nest.buffers.size(); ++i) {
    const NestBuffer& b = nest.buffers[i];
    if (!launcher.buffers[i]->GuardIntact())
      return absl::InternalError(absl::StrCat("write outside of ", b.name));
    if (!b.written) continue;
    Bytes& to = memory[b.name];
    to.resize(launcher.buffers[i]->size());
    driver->MemcpyDtoH(to.data(), launcher.buffers[i]->data(), to.size());
  }
  return absl::OkStatus();
}

absl::StatusOr<double> TimeOnCuda(const Variant& variant, const LoopNest& nest,
                                  const std::map<std::string, int64_t>& sizes, int repeats) {
  const Driver* driver = GetDriver();
  if (driver == nullptr) return absl::UnavailableError("no GPU");
  Launcher launcher(*driver, variant);
  if (absl::Status s = launcher.Prepare(nest, sizes); !s.ok()) return s;
  for (const auto& buffer : launcher.buffers) driver->MemsetD8(buffer->data(), 0, buffer->size());
  DeviceBuffer flush(*driver, size_t{256} << 20);
  Handle start = nullptr, end = nullptr;
  driver->EventCreate(&start, 0);
  driver->EventCreate(&end, 0);
  std::vector<float> times;
  for (int i = 0; i < repeats + 3; ++i) {
    driver->MemsetD8(flush.data(), 0, flush.size());
    driver->EventRecord(start, nullptr);
    if (absl::Status s = launcher.Launch(); !s.ok()) return s;
    driver->EventRecord(end, nullptr);
    if (absl::Status s = Check(driver->CtxSynchronize(), "cuCtxSynchronize"); !s.ok()) return s;
    float ms = 0;
    driver->EventElapsedTime(&ms, start, end);
    if (i >= 3) times.push_back(ms * 1000);
  }
  driver->EventDestroy(start);
  driver->EventDestroy(end);
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace stax
