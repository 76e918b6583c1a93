// Measures the errors of the math functions on an NVIDIA GPU, or on this machine's CPU: every f32
// argument of the one-operand functions (or each --stride-th), samples otherwise, against the C
// library in f64; f64 samples against MPFR. Prints the largest error in ulps and where it is.
//
//   gpu_math_check                      all functions, all arguments: minutes
//   gpu_math_check --stride=61 exp log  a glance
//   gpu_math_check --cpu                the CPU code
//   gpu_math_check --ptx                prints the PTX of the kernels instead
//
// Needs no toolkit: the PTX is made here and the driver compiles it.
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "compiler/codegen/math/math_jit.h"
#include "compiler/codegen/math/math_ptx.h"
#include "compiler/codegen/math/math_sweep.h"
#include "compiler/codegen/math/reference.h"
#include "compiler/codegen/math/samples.h"
#include "ir/check.h"

ABSL_FLAG(bool, cpu, false, "check the code for this CPU instead of a GPU's");
ABSL_FLAG(bool, ptx, false, "print the PTX of the kernels and end");
ABSL_FLAG(std::string, arch, "sm_90a", "PTX target");
ABSL_FLAG(int64_t, stride, 1, "of the f32 arguments of one-operand functions");
ABSL_FLAG(int64_t, samples, int64_t{1} << 20,
          "random f64 arguments; 16 times as many pairs of f32");

namespace stax::math {
namespace {

// Applies functions to arrays in host memory.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  virtual void Run(OpCode code, bool f64, const void* a, const void* b, void* out, int64_t n) = 0;
};

class CpuEvaluator : public Evaluator {
 public:
  explicit CpuEvaluator(const std::vector<OpCode>& ops)
      : jit_("x86-64-v3", ops, {{false, 8}, {true, 4}}) {}
  void Run(OpCode code, bool f64, const void* a, const void* b, void* out, int64_t n) override {
    jit_.Find(code, {f64, f64 ? 4 : 8})(a, b, out, n);
  }

 private:
  MathJit jit_;
};

// The driver functions needed, by name: no CUDA headers.
class GpuEvaluator : public Evaluator {
 public:
  GpuEvaluator(const std::string& arch, const std::vector<OpCode>& ops) {
    library_ = dlopen("libcuda.so.1", RTLD_NOW);
    STAX_CHECK(library_ != nullptr, "no libcuda.so.1: no NVIDIA driver on this machine");
    void* context = nullptr;
    Call<unsigned>("cuInit", 0);
    Call<void**, int>("cuDevicePrimaryCtxRetain", &context, 0);
    Call<void*>("cuCtxSetCurrent", context);
    Call<void**, const void*>("cuModuleLoadData", &module_, SweepPtx(arch, ops).c_str());
    for (uint64_t& buffer : buffers_) Call<uint64_t*, size_t>("cuMemAlloc_v2", &buffer, kBytes);
  }

  void Run(OpCode code, bool f64, const void* a, const void* b, void* out, int64_t n) override {
    const size_t bytes = n * (f64 ? 8 : 4);
    STAX_CHECK(bytes <= kBytes, "chunk too large");
    Call<uint64_t, const void*, size_t>("cuMemcpyHtoD_v2", buffers_[0], a, bytes);
    if (IsBinary(code))
      Call<uint64_t, const void*, size_t>("cuMemcpyHtoD_v2", buffers_[1], b, bytes);
    void* kernel = nullptr;
    Call<void**, void*, const char*>("cuModuleGetFunction", &kernel, module_,
                                     SweepName(code, {f64, 1}).c_str());
    void* parameters[] = {&buffers_[0], &buffers_[1], &buffers_[2], &n};
    const auto blocks = static_cast<unsigned>((n + 255) / 256);
    Call<void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
         void**>("cuLaunchKernel", kernel, blocks, 1, 1, 256, 1, 1, 0, nullptr, parameters,
                 nullptr);
    Call<void*, uint64_t, size_t>("cuMemcpyDtoH_v2", out, buffers_[2], bytes);
  }

 private:
  static constexpr size_t kBytes = size_t{1} << 29;

  template <typename... Args>
  void Call(const char* name, Args... args) {
    auto* function = reinterpret_cast<int (*)(Args...)>(dlsym(library_, name));
    STAX_CHECK(function != nullptr, std::string("libcuda.so.1 lacks ") + name);
    const int result = function(args...);
    STAX_CHECK(result == 0, std::string(name) + " failed: " + std::to_string(result));
  }

  void* library_ = nullptr;
  void* module_ = nullptr;
  uint64_t buffers_[3] = {};
};

struct Worst {
  double ulps = 0, a = 0, b = 0, got = 0;
  void Merge(const Worst& o) {
    if (o.ulps > ulps) *this = o;
  }
};

// `judge(begin, end)` over [0, n) on all cores.
Worst InParallel(int64_t n, const std::function<Worst(int64_t, int64_t)>& judge) {
  const int threads = std::max(1u, std::thread::hardware_concurrency());
  std::vector<Worst> worst(threads);
  std::vector<std::thread> pool;
  for (int t = 0; t < threads; ++t) {
    pool.emplace_back([&, t] { worst[t] = judge(n * t / threads, n * (t + 1) / threads); });
  }
  for (std::thread& t : pool) t.join();
  Worst all;
  for (const Worst& w : worst) all.Merge(w);
  return all;
}

// Runs one chunk and compares. T is float (judged by the C library) or double (by MPFR).
template <typename T>
Worst CheckChunk(Evaluator& evaluator, OpCode code, const std::vector<T>& a,
                 const std::vector<T>& b) {
  constexpr bool kF64 = sizeof(T) == 8;
  std::vector<T> out(a.size());
  evaluator.Run(code, kF64, a.data(), b.data(), out.data(), static_cast<int64_t>(a.size()));
  return InParallel(static_cast<int64_t>(a.size()), [&](int64_t begin, int64_t end) {
    Worst worst;
    for (int64_t i = begin; i < end; ++i) {
      const double ulps = kF64 ? UlpError(code, true, out[i], a[i], b[i])
                               : UlpErrorF32(out[i], LibmReference(code, a[i], b[i]));
      if (ulps > worst.ulps) worst = {ulps, a[i], b[i], out[i]};
    }
    return worst;
  });
}

// Multiples of 8 only: the CPU code works on vectors.
template <typename T>
Worst CheckArguments(Evaluator& evaluator, OpCode code, const Arguments& arguments) {
  std::vector<T> a(arguments.a.begin(), arguments.a.end());
  std::vector<T> b(arguments.b.begin(), arguments.b.end());
  a.resize(a.size() / 8 * 8);
  b.resize(a.size());
  return CheckChunk(evaluator, code, a, b);
}

Worst CheckAllFloats(Evaluator& evaluator, OpCode code, int64_t stride) {
  constexpr int64_t kChunk = 1 << 24;
  Worst worst;
  std::vector<float> a(kChunk), unused(kChunk);
  for (int64_t first = 0; first < int64_t{1} << 32; first += kChunk * stride) {
    InParallel(kChunk, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const auto bits = static_cast<uint32_t>(first + i * stride);
        std::memcpy(&a[i], &bits, sizeof bits);
      }
      return Worst();
    });
    worst.Merge(CheckChunk(evaluator, code, a, unused));
  }
  return worst;
}

void Print(OpCode code, const char* type, const Worst& w) {
  std::printf("%-8s %s  %8.4f ulp  at (%a, %a) -> %a\n", std::string(OpName(code)).c_str(), type,
              w.ulps, w.a, w.b, w.got);
  std::fflush(stdout);
}

void CheckFunction(Evaluator& evaluator, OpCode code) {
  const int64_t samples = absl::GetFlag(FLAGS_samples) / 8 * 8;
  Worst f32 = CheckArguments<float>(evaluator, code, EdgeArguments(false));
  f32.Merge(IsBinary(code)
                ? CheckArguments<float>(evaluator, code, RandomArguments(false, 16 * samples, 1))
                : CheckAllFloats(evaluator, code, absl::GetFlag(FLAGS_stride)));
  Print(code, "f32", f32);
  Worst f64 = CheckArguments<double>(evaluator, code, EdgeArguments(true));
  f64.Merge(CheckArguments<double>(evaluator, code, RandomArguments(true, samples, 2)));
  Print(code, "f64", f64);
}

int Main(const std::vector<char*>& names) {
  std::vector<OpCode> ops;
  for (OpCode code : MathOps()) {
    const bool named = std::any_of(names.begin() + 1, names.end(),
                                   [code](const char* name) { return OpName(code) == name; });
    if (named || names.size() == 1) ops.push_back(code);
  }
  const std::string arch = absl::GetFlag(FLAGS_arch);
  if (absl::GetFlag(FLAGS_ptx)) {
    std::fputs(SweepPtx(arch, ops).c_str(), stdout);
    return 0;
  }
  std::unique_ptr<Evaluator> evaluator;
  if (absl::GetFlag(FLAGS_cpu)) {
    evaluator = std::make_unique<CpuEvaluator>(ops);
  } else {
    evaluator = std::make_unique<GpuEvaluator>(arch, ops);
  }
  for (OpCode code : ops) CheckFunction(*evaluator, code);
  return 0;
}

}  // namespace
}  // namespace stax::math

int main(int argc, char** argv) { return stax::math::Main(absl::ParseCommandLine(argc, argv)); }
