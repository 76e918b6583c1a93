#include "runtime/cpu/cpu_device.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "runtime/cpu/thread_pool.h"

namespace stax {
namespace {

constexpr size_t kAlignment = 256;

// compiler/codegen/codegen.h, calling convention.
using CpuEntry = void (*)(void* const*, const int64_t*, int64_t, int64_t);

absl::Status ToStatus(llvm::Error error, absl::string_view doing) {
  return absl::InvalidArgumentError(
      absl::StrCat("cannot ", doing, ": ", llvm::toString(std::move(error))));
}

class CpuKernel : public LoadedKernel {
 public:
  // `dylib` holds the kernel's code and nothing else.
  CpuKernel(llvm::orc::LLJIT* jit, llvm::orc::JITDylib* dylib, ThreadPool* pool)
      : jit_(jit), dylib_(dylib), pool_(pool) {}
  ~CpuKernel() override { llvm::consumeError(jit_->getExecutionSession().removeJITDylib(*dylib_)); }

  absl::Status Link(const std::string& entry) {
    llvm::Expected<llvm::orc::ExecutorAddr> address = jit_->lookup(*dylib_, entry);
    if (!address) return ToStatus(address.takeError(), absl::StrCat("find ", entry));
    entry_ = address->toPtr<CpuEntry>();
    return absl::OkStatus();
  }

  absl::Status Launch(absl::Span<void* const> buffers, absl::Span<const int64_t> sizes,
                      int64_t grid, StreamHandle) override {
    pool_->ParallelFor(grid, [&](int64_t begin, int64_t end) {
      entry_(buffers.data(), sizes.data(), begin, end);
    });
    return absl::OkStatus();
  }

 private:
  llvm::orc::LLJIT* jit_;
  llvm::orc::JITDylib* dylib_;
  CpuEntry entry_ = nullptr;
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

int UsableCores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
  return 1;
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
  CpuDevice(int threads, std::unique_ptr<llvm::orc::LLJIT> jit)
      : pool_(threads), jit_(std::move(jit)) {
    info_.name = ProcessorName();
    info_.kind = "cpu";
    info_.multiprocessors = threads;
    info_.memory_bytes = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE);
    info_.l2_bytes = std::max<int64_t>(0, sysconf(_SC_LEVEL3_CACHE_SIZE));
    info_.best_target = HasLevel4() ? "cpu:x86-64-v4" : "cpu:x86-64-v3";
  }

  const DeviceInfo& info() const override { return info_; }

  absl::StatusOr<void*> Allocate(size_t bytes) override {
    // One byte more than nothing: distinct addresses for empty tensors.
    size_t rounded = (std::max<size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
    void* memory = rounded < bytes ? nullptr : std::aligned_alloc(kAlignment, rounded);
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
  std::unique_ptr<llvm::orc::LLJIT> jit_;  // one session, a dylib for each kernel
  std::atomic<int> loaded_ = 0;            // makes the dylibs' names unique
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
  llvm::Expected<llvm::orc::JITDylib&> dylib =
      jit_->createJITDylib(absl::StrCat(variant.entry(), "#", loaded_.fetch_add(1)));
  if (!dylib) return ToStatus(dylib.takeError(), "make room for code");
  auto kernel = std::make_unique<CpuKernel>(jit_.get(), &*dylib, &pool_);
  std::unique_ptr<llvm::MemoryBuffer> object =
      llvm::MemoryBuffer::getMemBufferCopy(variant.object(), variant.entry());
  if (llvm::Error error = jit_->addObjectFile(*dylib, std::move(object)))
    return ToStatus(std::move(error), absl::StrCat("load the code of ", variant.entry()));
  if (absl::Status status = kernel->Link(variant.entry()); !status.ok()) return status;
  return kernel;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Device>> OpenCpuDevice(int threads) {
  if (!HasLevel3())
    return absl::UnavailableError("the cpu device needs AVX2, FMA and BMI2 (x86-64-v3)");
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>> jit = llvm::orc::LLJITBuilder().create();
  if (!jit) return ToStatus(jit.takeError(), "start the object loader");
  return std::make_unique<CpuDevice>(threads > 0 ? threads : UsableCores(), std::move(*jit));
}

}  // namespace stax
