// A CUDA driver for tests on machines without a GPU: two devices of compute capability 9.0 whose
// memory is the host's, a context each, and one kernel. As the real one it wants the right context
// to be current in the calling thread, and does not take code for another architecture.
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int kInvalidValue = 1;
constexpr int kInvalidContext = 201;
constexpr int kNoBinaryForGpu = 209;

struct Context {
  int device;
};
struct Module {
  Context* context;
};
// A stream, and a graph captured from it.
struct Capture {
  bool open = false;
  int* to = nullptr;  // what the captured kernel writes
};

Context contexts[2] = {{0}, {1}};
thread_local Context* current = nullptr;

int NeedsContext() { return current == nullptr ? kInvalidContext : 0; }

}  // namespace

extern "C" {

int cuInit(unsigned) { return 0; }
int cuDriverGetVersion(int* version) { return *version = 13000, 0; }
int cuGetErrorName(int, const char** name) { return *name = "CUDA_ERROR", 0; }
int cuGetErrorString(int error, const char** text) {
  *text = error == kInvalidContext ? "invalid device context" : "an error of the fake driver";
  return 0;
}
int cuDeviceGetCount(int* count) { return *count = 2, 0; }
int cuDeviceGet(int* device, int ordinal) { return *device = ordinal, 0; }
int cuDeviceGetName(char* name, int length, int) { return strncpy(name, "fake", length), 0; }
int cuDeviceTotalMem_v2(size_t* bytes, int) { return *bytes = 1 << 30, 0; }
int cuDeviceGetAttribute(int* value, int attribute, int) {
  *value = attribute == 75 ? 9 : attribute == 76 ? 0 : 1;  // capability 9.0
  return 0;
}
int cuDevicePrimaryCtxRetain(Context** context, int device) {
  return *context = &contexts[device], 0;
}
int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
int cuCtxSetCurrent(Context* context) { return current = context, 0; }
int cuCtxGetCurrent(Context** context) { return *context = current, 0; }
int cuCtxSynchronize() { return NeedsContext(); }
int cuMemAlloc_v2(unsigned long long* memory, size_t bytes) {  // NOLINT: the driver's type
  if (int error = NeedsContext(); error != 0) return error;
  *memory = reinterpret_cast<uintptr_t>(malloc(bytes));
  return 0;
}
int cuMemFree_v2(unsigned long long memory) {  // NOLINT
  if (int error = NeedsContext(); error != 0) return error;
  free(reinterpret_cast<void*>(memory));
  return 0;
}
int cuMemcpyHtoD_v2(unsigned long long to, const void* from, size_t bytes) {  // NOLINT
  if (int error = NeedsContext(); error != 0) return error;
  memcpy(reinterpret_cast<void*>(to), from, bytes);
  return 0;
}
int cuMemcpyDtoH_v2(void* to, unsigned long long from, size_t bytes) {  // NOLINT
  if (int error = NeedsContext(); error != 0) return error;
  memcpy(to, reinterpret_cast<void*>(from), bytes);
  return 0;
}
int cuMemcpyDtoDAsync_v2(unsigned long long to, unsigned long long from, size_t bytes,  // NOLINT
                         void*) {
  return cuMemcpyDtoH_v2(reinterpret_cast<void*>(to), from, bytes);
}
int cuMemsetD8Async(unsigned long long to, unsigned char value, size_t count, void*) {  // NOLINT
  if (int error = NeedsContext(); error != 0) return error;
  memset(reinterpret_cast<void*>(to), value, count);
  return 0;
}
// PTX, which is text that begins with its version, and cubins of sm_90a.
int cuModuleLoadDataEx(Module** module, const void* image, unsigned, int*, void**) {
  if (int error = NeedsContext(); error != 0) return error;
  const auto* text = static_cast<const char*>(image);
  text += strspn(text, "\n");
  if (strncmp(text, ".version", 8) != 0 && strncmp(text, "sm_90a", 6) != 0) return kNoBinaryForGpu;
  *module = new Module{current};
  return 0;
}
int cuModuleUnload(Module* module) {
  if (current != module->context) return kInvalidContext;
  delete module;
  return 0;
}
int cuModuleGetFunction(Module** function, Module* module, const char* name) {
  return *function = module, strcmp(name, "seven") == 0 ? 0 : kInvalidValue;
}
int cuLaunchKernel(Module* function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   unsigned, void* stream, void** arguments, void**) {
  if (current != function->context) return kInvalidContext;
  if (auto* capture = static_cast<Capture*>(stream); capture != nullptr && capture->open)
    return capture->to = *static_cast<int**>(arguments[0]), 0;
  **static_cast<int**>(arguments[0]) = 7;
  return 0;
}
// A launch on a stream that is captured does not run. Graphs hold one kernel.
int cuStreamCreate(void** stream, unsigned) { return *stream = new Capture, 0; }
int cuStreamDestroy_v2(void* stream) { return delete static_cast<Capture*>(stream), 0; }
int cuStreamIsCapturing(void* stream, int* status) {
  return *status = stream != nullptr && static_cast<Capture*>(stream)->open, 0;
}
int cuStreamBeginCapture_v2(void* stream, int mode) {
  if (mode != 1) return kInvalidValue;  // thread-local
  return static_cast<Capture*>(stream)->open = true, 0;
}
int cuStreamEndCapture(void* stream, void** graph) {
  auto* capture = static_cast<Capture*>(stream);
  if (!capture->open) return kInvalidValue;
  capture->open = false;
  return *graph = new Capture(*capture), 0;
}
int cuGraphDestroy(void* graph) { return delete static_cast<Capture*>(graph), 0; }
int cuGraphInstantiateWithFlags(void** instance, void* graph, unsigned long long) {  // NOLINT
  return *instance = new Capture(*static_cast<Capture*>(graph)), 0;
}
int cuGraphExecDestroy(void* instance) { return cuGraphDestroy(instance); }
int cuGraphLaunch(void* instance, void*) {
  if (int error = NeedsContext(); error != 0) return error;
  return *static_cast<Capture*>(instance)->to = 7, 0;
}
// Of what cuLaunchKernelEx takes only the arguments count here.
int cuLaunchKernelEx(const void*, Module* function, void** arguments, void**) {
  if (current != function->context) return kInvalidContext;
  **static_cast<int**>(arguments[0]) = 8;
  return 0;
}
int cuEventCreate(void**, unsigned) { return kInvalidValue; }
int cuEventDestroy_v2(void*) { return kInvalidValue; }
int cuEventRecord(void*, void*) { return kInvalidValue; }
int cuEventSynchronize(void*) { return kInvalidValue; }
int cuEventElapsedTime(float*, void*, void*) { return kInvalidValue; }

}  // extern "C"
