#include "runtime/cpu/cpu_device.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/cpu/object_loader.h"
#include "runtime/cpu/thread_pool.h"
#include "runtime/host_memory.h"

namespace stax {
namespace {

constexpr size_t kAlignment = 256;

// compiler/codegen/codegen.h, calling convention.
using CpuEntry = void (*)(void* const*, const int64_t*, int64_t, int64_t);

class CpuKernel : public LoadedKernel {
 public:
  CpuKernel(std::unique_ptr<LoadedObject> code, ThreadPool* pool)
      : code_(std::move(code)), entry_(reinterpret_cast<CpuEntry>(code_->entry())), pool_(pool) {}

  absl::Status Launch(absl::Span<void* const> buffers, absl::Span<const int64_t> sizes,
                      int64_t grid, StreamHandle) override {
    pool_->ParallelFor(grid, [&](int64_t begin, int64_t end) {
      entry_(buffers.data(), sizes.data(), begin, end);
    });
    return absl::OkStatus();
  }

 private:
  std::unique_ptr<LoadedObject> code_;
  CpuEntry entry_;
  ThreadPool* pool_;
};

std::string ProcessorName() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("model name", 0) == 0) {
      size_t colon = line.find(": ");
      if (colon != std::string::npos) return line.substr(colon + 2);
    }
  }
  return "x86-64 processor";
}

bool HasLevel4() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}

bool HasLevel3() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi2");
}

class CpuDevice : public Device {
 public:
  CpuDevice(int threads, std::unique_ptr<ObjectLoader> loader)
      : pool_(threads), loader_(std::move(loader)) {
    info_.name = ProcessorName();
    info_.kind = "cpu";
    info_.multiprocessors = threads;
    info_.memory_bytes = HostMemoryBytes();
    info_.l2_bytes = std::max<int64_t>(0, sysconf(_SC_LEVEL3_CACHE_SIZE));
    info_.best_target = HasLevel4() ? "cpu:x86-64-v4" : "cpu:x86-64-v3";
  }

  const DeviceInfo& info() const override { return info_; }

  absl::StatusOr<void*> Allocate(size_t bytes) override {
    // Linux gives more than there is, and ends the process that uses it.
    if (bytes > static_cast<size_t>(HostMemoryBytes()))
      return CheckFitsHostMemory("a tensor",
                                 static_cast<int64_t>(std::min<size_t>(bytes, INT64_MAX)));
    // One byte more than nothing: distinct addresses for empty tensors.
    size_t rounded = (std::max<size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
    void* memory = std::aligned_alloc(kAlignment, rounded);
    if (memory == nullptr)
      return absl::ResourceExhaustedError(absl::StrCat("cannot allocate ", bytes, " bytes"));
    return memory;
  }
  void Free(void* memory) override { std::free(memory); }

  absl::Status CopyIn(void* device, const void* host, size_t bytes) override {
    return Copy(device, host, bytes, nullptr);
  }
  absl::Status CopyOut(void* host, const void* device, size_t bytes) override {
    return Copy(host, device, bytes, nullptr);
  }
  absl::Status Copy(void* to, const void* from, size_t bytes, StreamHandle) override {
    if (bytes > 0) std::memmove(to, from, bytes);
    return absl::OkStatus();
  }
  absl::Status Synchronize() override { return absl::OkStatus(); }

  absl::StatusOr<std::unique_ptr<LoadedKernel>> Load(const Variant& variant) override;

 private:
  DeviceInfo info_;
  ThreadPool pool_;
  std::unique_ptr<ObjectLoader> loader_;
};

absl::Status CheckTarget(const Target& target) {
  if (target.kind() != "cpu") {
    return absl::InvalidArgumentError(absl::StrCat("the program is compiled for ", target.kind(),
                                                   ":", target.arch(),
                                                   "; this device runs cpu programs"));
  }
  if (target.arch() == "x86-64-v4" && !HasLevel4())
    return absl::InvalidArgumentError(
        "the program needs AVX-512 (x86-64-v4), which this processor lacks; compile it with "
        "--target=cpu:x86-64-v3");
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<LoadedKernel>> CpuDevice::Load(const Variant& variant) {
  if (absl::Status status = CheckTarget(variant.target()); !status.ok()) return status;
  absl::StatusOr<std::unique_ptr<LoadedObject>> code =
      loader_->Load(variant.object(), variant.entry());
  if (!code.ok()) return code.status();
  return std::make_unique<CpuKernel>(*std::move(code), &pool_);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Device>> OpenCpuDevice(int threads) {
  if (!HasLevel3())
    return absl::UnavailableError("the cpu device needs AVX2, FMA and BMI2 (x86-64-v3)");
  absl::StatusOr<std::unique_ptr<ObjectLoader>> loader = ObjectLoader::Create();
  if (!loader.ok()) return loader.status();
  return std::make_unique<CpuDevice>(threads > 0 ? threads : UsableCores(), *std::move(loader));
}

}  // namespace stax
