#include "runtime/cuda/driver.h"

#include <dlfcn.h>

#include "absl/strings/str_cat.h"

namespace stax::cuda {
namespace {

constexpr CUresult kErrorOutOfMemory = 2;

absl::StatusOr<const Driver*> Open() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    return absl::UnavailableError(absl::StrCat(
        "no CUDA device: the NVIDIA driver's library cannot be opened (", dlerror(), ")"));
  }
  static Driver driver;  // lives as long as the process, like the library
#define STAX_CUDA_LOAD(member, symbol, parameters)                                   \
  driver.member = reinterpret_cast<decltype(driver.member)>(dlsym(library, symbol)); \
  if (driver.member == nullptr)                                                      \
    return absl::UnavailableError("no CUDA device: libcuda.so.1 is too old, it lacks " symbol);
  STAX_CUDA_DRIVER_FUNCTIONS(STAX_CUDA_LOAD)
#undef STAX_CUDA_LOAD
  driver.LaunchKernelEx =
      reinterpret_cast<decltype(driver.LaunchKernelEx)>(dlsym(library, "cuLaunchKernelEx"));
  // Older ones may refuse to capture it in a graph.
  constexpr int kCapturesProgrammaticLaunches = 12030;
  int version = 0;
  if (driver.DriverGetVersion(&version) != 0 || version < kCapturesProgrammaticLaunches)
    driver.LaunchKernelEx = nullptr;
  if (CUresult result = driver.Init(0); result != 0) {
    const char* text = "unknown error";
    driver.GetErrorString(result, &text);
    return absl::UnavailableError(absl::StrCat("no CUDA device: cuInit says: ", text));
  }
  return &driver;
}

}  // namespace

absl::StatusOr<const Driver*> GetDriver() {
  static const absl::StatusOr<const Driver*> driver = Open();
  return driver;
}

absl::Status Check(const Driver& driver, CUresult result, absl::string_view what) {
  if (result == 0) return absl::OkStatus();
  const char* name = "unknown error";
  const char* text = "";
  driver.GetErrorName(result, &name);
  driver.GetErrorString(result, &text);
  std::string message = absl::StrCat(what, ": ", name, " (", text, ")");
  if (result == kErrorOutOfMemory) return absl::ResourceExhaustedError(message);
  return absl::InternalError(message);
}

}  // namespace stax::cuda
