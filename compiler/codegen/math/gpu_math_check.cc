// Measures the errors of the math functions on an NVIDIA GPU, or on this machine's CPU: every f32
// argument of the one-operand functions (or each --stride-th), samples otherwise, against the C
// library in f64; f64 samples against MPFR. Prints the largest error in ulps and where it is. Of
// the relaxed forms: every f16 and bf16 argument, the result rounded to the half type, in ulps of
// it, and every f32 argument, the error relative to the result; fails where that is more than 1
// ulp, or than the form's bound.
//
//   gpu_math_check                      all functions, all arguments: minutes
//   gpu_math_check --stride=61 exp log  a glance
//   gpu_math_check --relaxed            the relaxed forms only
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
#include "compiler/codegen/math/relaxed_forms.h"
#include "compiler/codegen/math/samples.h"
#include "ir/check.h"
#include "ir/scalar.h"

ABSL_FLAG(bool, cpu, false, "check the code for this CPU instead of a GPU's");
ABSL_FLAG(bool, relaxed, false, "check the relaxed forms only");
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
  virtual void Run(OpCode code, const SweepType& type, const void* a, const void* b, void* out,
                   int64_t n) = 0;
};

class CpuEvaluator : public Evaluator {
 public:
  explicit CpuEvaluator(const std::vector<OpCode>& ops)
      : jit_("x86-64-v3", ops, {{false, 8}, {true, 4}}) {}
  void Run(OpCode code, const SweepType& type, const void* a, const void* b, void* out,
           int64_t n) override {
    jit_.Find(code, {type.f64, type.f64 ? 4 : 8})(a, b, out, n);
  }

 private:
  MathJit jit_;
};

// The driver functions needed, by name: no CUDA headers.
class GpuEvaluator : public Evaluator {
 public:
  explicit GpuEvaluator(const std::string& ptx) {
    library_ = dlopen("libcuda.so.1", RTLD_NOW);
    STAX_CHECK(library_ != nullptr, "no libcuda.so.1: no NVIDIA driver on this machine");
    void* context = nullptr;
    Call<unsigned>("cuInit", 0);
    Call<void**, int>("cuDevicePrimaryCtxRetain", &context, 0);
    Call<void*>("cuCtxSetCurrent", context);
    Call<void**, const void*>("cuModuleLoadData", &module_, ptx.c_str());
    for (uint64_t& buffer : buffers_) Call<uint64_t*, size_t>("cuMemAlloc_v2", &buffer, kBytes);
  }

  void Run(OpCode code, const SweepType& type, const void* a, const void* b, void* out,
           int64_t n) override {
    const size_t bytes = n * (type.f64 ? 8 : 4);
    STAX_CHECK(bytes <= kBytes, "chunk too large");
    Call<uint64_t, const void*, size_t>("cuMemcpyHtoD_v2", buffers_[0], a, bytes);
    if (IsBinary(code))
      Call<uint64_t, const void*, size_t>("cuMemcpyHtoD_v2", buffers_[1], b, bytes);
    void* kernel = nullptr;
    Call<void**, void*, const char*>("cuModuleGetFunction", &kernel, module_,
                                     SweepName(code, type).c_str());
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
  double error = 0, a = 0, b = 0, got = 0;
  void Merge(const Worst& o) {
    if (o.error > error) *this = o;
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

// What a result is off: error(result, a, b).
using Judge = std::function<double(double, double, double)>;

// f32 in ulps by the C library, f64 by MPFR.
Judge Ulps(OpCode code, bool f64) {
  if (f64) return [code](double r, double a, double b) { return UlpError(code, true, r, a, b); };
  return [code](double r, double a, double b) {
    return UlpErrorF32(static_cast<float>(r), LibmReference(code, a, b));
  };
}

// In ulps of the half type once rounded to it, by MPFR; not where it rounds as the exact value.
Judge HalfUlps(OpCode code, DType half) {
  return [code, half](double r, double a, double b) {
    const double rounded = RoundTo(half, r);
    if (rounded == RoundTo(half, LibmReference(code, a, b))) return 0.0;
    return UlpErrorIn(code, half, rounded, a, b);
  };
}

bool IsLog(OpCode code) { return code == OpCode::kLog || code == OpCode::kLog2; }

// In the measure of relaxed_forms.h, by the C library.
Judge Relative(OpCode code, double bound) {
  const double floor = IsLog(code) ? 1 : 0x1p-126;  // below, 2^-149 is the best there is
  return [code, bound, floor](double r, double a, double b) {
    const double exact = LibmReference(code, a, b);
    if (std::isnan(r) || std::isnan(exact))
      return std::isnan(r) && std::isnan(exact) ? 0.0 : HUGE_VAL;
    if (std::isinf(r))  // overflow may start earlier by the error
      return r * exact > 0 && std::abs(exact) * (1 + bound) >= 0x1.ffffffp127 ? 0.0 : HUGE_VAL;
    if (std::isinf(exact)) return HUGE_VAL;
    return std::abs(r - exact) / std::max(std::abs(exact), floor);
  };
}

// Runs one chunk and compares.
template <typename T>
Worst CheckChunk(Evaluator& evaluator, OpCode code, const SweepType& type, const std::vector<T>& a,
                 const std::vector<T>& b, const Judge& judge) {
  std::vector<T> out(a.size());
  evaluator.Run(code, type, a.data(), b.data(), out.data(), static_cast<int64_t>(a.size()));
  return InParallel(static_cast<int64_t>(a.size()), [&](int64_t begin, int64_t end) {
    Worst worst;
    for (int64_t i = begin; i < end; ++i)
      worst.Merge({judge(out[i], a[i], b[i]), a[i], b[i], out[i]});
    return worst;
  });
}

// Multiples of 8 only: the CPU code works on vectors.
template <typename T>
Worst CheckArguments(Evaluator& evaluator, OpCode code, const SweepType& type,
                     const Arguments& arguments, const Judge& judge) {
  std::vector<T> a(arguments.a.begin(), arguments.a.end());
  std::vector<T> b(arguments.b.begin(), arguments.b.end());
  a.resize(a.size() / 8 * 8);
  b.resize(a.size());
  return CheckChunk(evaluator, code, type, a, b, judge);
}

Worst CheckAllFloats(Evaluator& evaluator, OpCode code, const SweepType& type, int64_t stride,
                     const Judge& judge) {
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
    worst.Merge(CheckChunk(evaluator, code, type, a, unused, judge));
  }
  return worst;
}

void Print(OpCode code, const char* type, const Worst& w) {
  std::printf("%-8s %s  %8.4f ulp  at (%a, %a) -> %a\n", std::string(OpName(code)).c_str(), type,
              w.error, w.a, w.b, w.got);
  std::fflush(stdout);
}

void CheckFunction(Evaluator& evaluator, OpCode code) {
  const int64_t samples = absl::GetFlag(FLAGS_samples) / 8 * 8;
  const SweepType f32_type{/*f64=*/false}, f64_type{/*f64=*/true};
  const Judge f32_ulps = Ulps(code, false), f64_ulps = Ulps(code, true);
  Worst f32 = CheckArguments<float>(evaluator, code, f32_type, EdgeArguments(false), f32_ulps);
  f32.Merge(IsBinary(code)
                ? CheckArguments<float>(evaluator, code, f32_type,
                                        RandomArguments(false, 16 * samples, 1), f32_ulps)
                : CheckAllFloats(evaluator, code, f32_type, absl::GetFlag(FLAGS_stride), f32_ulps));
  Print(code, "f32", f32);
  Worst f64 = CheckArguments<double>(evaluator, code, f64_type, EdgeArguments(true), f64_ulps);
  f64.Merge(CheckArguments<double>(evaluator, code, f64_type, RandomArguments(true, samples, 2),
                                   f64_ulps));
  Print(code, "f64", f64);
}

// The numbers of both half types (HalfArguments has them in turn); for logarithms to f16 those of
// bf16, the others are not relaxed (compiler/codegen/precision.h).
Arguments RelaxedArguments(OpCode code, DType half) {
  Arguments all = HalfArguments();
  if (!IsLog(code) || half == DType::kBF16) return all;
  Arguments bf16;
  for (size_t i = 0; i < all.a.size(); i += 2) {
    bf16.a.push_back(all.a[i]);
    bf16.b.push_back(all.b[i]);
  }
  return bf16;
}

// Whether the relaxed form keeps its bounds.
bool CheckRelaxed(Evaluator& evaluator, OpCode code, const SweepType& type) {
  const double bound = FindRelaxedForm(code, HalfTolerance(type.half))->error;
  const Judge half_ulps = HalfUlps(code, type.half), relative = Relative(code, bound);
  const Worst half =
      CheckArguments<float>(evaluator, code, type, RelaxedArguments(code, type.half), half_ulps);
  Worst f32 = CheckArguments<float>(evaluator, code, type, EdgeArguments(false), relative);
  f32.Merge(IsBinary(code)
                ? CheckArguments<float>(evaluator, code, type,
                                        RandomArguments(false, int64_t{1} << 24, 1), relative)
                : CheckAllFloats(evaluator, code, type, absl::GetFlag(FLAGS_stride), relative));
  const bool good = half.error <= 1 && f32.error <= bound;
  std::printf("%-15s %.4f ulp at (%a, %a) -> %a; 2^%.2f at (%a, %a) -> %a, bound 2^%.2f: %s\n",
              SweepName(code, type).c_str(), std::max(half.error, 0.5), half.a, half.b, half.got,
              std::log2(f32.error), f32.a, f32.b, f32.got, std::log2(bound),
              good ? "good" : "EXCEEDED");
  std::fflush(stdout);
  return good;
}

int Main(const std::vector<char*>& names) {
  const auto named = [&names](std::vector<OpCode> ops) {
    const auto unnamed = [&names](OpCode code) {
      return names.size() > 1 && std::none_of(names.begin() + 1, names.end(),
                                              [&](const char* n) { return OpName(code) == n; });
    };
    ops.erase(std::remove_if(ops.begin(), ops.end(), unnamed), ops.end());
    return ops;
  };
  std::vector<OpCode> ops, relaxed;
  if (!absl::GetFlag(FLAGS_relaxed)) ops = named(MathOps());
  if (!absl::GetFlag(FLAGS_cpu)) relaxed = named(RelaxedOps());
  const auto ptx = [&] { return SweepPtx(absl::GetFlag(FLAGS_arch), ops, relaxed); };
  if (absl::GetFlag(FLAGS_ptx)) {
    std::fputs(ptx().c_str(), stdout);
    return 0;
  }
  std::unique_ptr<Evaluator> evaluator;
  if (absl::GetFlag(FLAGS_cpu)) {
    evaluator = std::make_unique<CpuEvaluator>(ops);
  } else {
    evaluator = std::make_unique<GpuEvaluator>(ptx());
  }
  for (OpCode code : ops) CheckFunction(*evaluator, code);
  bool good = true;
  for (OpCode code : relaxed) {
    for (const SweepType& type : RelaxedTypes(code)) good &= CheckRelaxed(*evaluator, code, type);
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace stax::math

int main(int argc, char** argv) { return stax::math::Main(absl::ParseCommandLine(argc, argv)); }
