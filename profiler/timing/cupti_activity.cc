#include "profiler/timing/cupti_activity.h"

#ifdef STAX_HAVE_CUDA_HEADERS

#include <cupti.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"

namespace stax {
namespace {

constexpr size_t kBufferBytes = 1 << 20;
constexpr size_t kBufferAlignment = 8;  // CUPTI documentation, ACTIVITY_RECORD_ALIGNMENT

struct Cupti {
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityFlushAll) flush_all = nullptr;
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&cuptiActivityGetNextRecord) get_next_record = nullptr;
  decltype(&cuptiGetResultString) get_result_string = nullptr;
};

Cupti cupti;  // set once, before recording starts

absl::Mutex mutex;
std::vector<KernelInterval> intervals ABSL_GUARDED_BY(mutex);

void CUPTIAPI RequestBuffer(uint8_t** buffer, size_t* size, size_t* max_records) {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(kBufferAlignment, kBufferBytes));
  *size = *buffer == nullptr ? 0 : kBufferBytes;
  *max_records = 0;
}

void CUPTIAPI TakeBuffer(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid_size) {
  absl::MutexLock lock(&mutex);
  CUpti_Activity* record = nullptr;
  while (valid_size > 0 && cupti.get_next_record(buffer, valid_size, &record) == CUPTI_SUCCESS) {
    if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) continue;
    const auto* kernel = reinterpret_cast<const CUpti_ActivityKernel10*>(record);
    if (kernel->start != 0 && kernel->end != 0) intervals.push_back({kernel->start, kernel->end});
  }
  std::free(buffer);
}

void* OpenLibrary() {
  std::vector<std::string> names = {"libcupti.so.13", "libcupti.so"};
  const char* home = std::getenv("CUDA_HOME");
  for (const std::string& root :
       {std::string(home != nullptr ? home : ""), std::string("/usr/local/cuda")}) {
    if (root.empty()) continue;
    names.push_back(absl::StrCat(root, "/lib64/libcupti.so.13"));
    names.push_back(absl::StrCat(root, "/extras/CUPTI/lib64/libcupti.so.13"));
  }
  for (const std::string& name : names) {
    if (void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL)) return library;
  }
  return nullptr;
}

absl::Status Check(CUptiResult result, const char* what) {
  if (result == CUPTI_SUCCESS) return absl::OkStatus();
  const char* text = "unknown error";
  cupti.get_result_string(result, &text);
  return absl::UnavailableError(absl::StrCat("CUPTI cannot ", what, ": ", text));
}

template <typename Function>
bool Load(void* library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
  return function != nullptr;
}

absl::Status Start() {
  void* library = OpenLibrary();
  if (library == nullptr)
    return absl::UnavailableError(
        "CUPTI (libcupti.so.13) is not found; set CUDA_HOME or LD_LIBRARY_PATH");
  if (!Load(library, "cuptiActivityEnable", cupti.enable) ||
      !Load(library, "cuptiActivityFlushAll", cupti.flush_all) ||
      !Load(library, "cuptiActivityRegisterCallbacks", cupti.register_callbacks) ||
      !Load(library, "cuptiActivityGetNextRecord", cupti.get_next_record) ||
      !Load(library, "cuptiGetResultString", cupti.get_result_string))
    return absl::UnavailableError("CUPTI: the library lacks the activity functions");
  absl::Status status =
      Check(cupti.register_callbacks(RequestBuffer, TakeBuffer), "register its callbacks");
  if (!status.ok()) return status;
  return Check(cupti.enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), "record kernels");
}

}  // namespace

absl::Status StartCuptiActivity() {
  static const absl::Status status = Start();
  return status;
}

absl::StatusOr<std::vector<KernelInterval>> TakeKernelIntervals() {
  absl::Status status = Check(cupti.flush_all(0), "deliver its records");
  if (!status.ok()) return status;
  std::vector<KernelInterval> taken;
  {
    absl::MutexLock lock(&mutex);
    taken.swap(intervals);
  }
  std::sort(taken.begin(), taken.end(), [](const KernelInterval& a, const KernelInterval& b) {
    return a.start_ns < b.start_ns;
  });
  return taken;
}

}  // namespace stax

#else  // !STAX_HAVE_CUDA_HEADERS

namespace stax {

absl::Status StartCuptiActivity() {
  return absl::UnavailableError("this Stax was built without the CUDA toolkit's headers");
}

absl::StatusOr<std::vector<KernelInterval>> TakeKernelIntervals() { return StartCuptiActivity(); }

}  // namespace stax

#endif
