// Times kernels on the GPU of this machine, to see what a configuration is worth:
//
//   time_kernel NEST_FILE FORM Y_DIMS CONFIG...    FORM: pointwise, looped, persistent
//   time_kernel softmax.nest persistent 0 WARPS=4 WARPS=8,XBLOCK=2
//
// Prints for each configuration the median time, the bytes of all buffers over it, registers and
// spills. Symbols are at their hints.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "compiler/codegen/codegen.h"
#include "compiler/codegen/testing/nest_kernel.h"
#include "compiler/codegen/testing/run_cuda.h"

namespace stax {
namespace {

Config ParseConfig(const std::string& text) {
  Config config;
  const std::vector<std::string> parts = absl::StrSplit(text, ',', absl::SkipEmpty());
  for (const std::string& part : parts) {
    const std::vector<std::string> pair = absl::StrSplit(part, '=');
    int64_t value = 1;
    if (pair.size() != 2 || !absl::SimpleAtoi(pair[1], &value)) {
      std::fprintf(stderr, "expected NAME=NUMBER, got %s\n", part.c_str());
      std::exit(2);
    }
    config[pair[0]] = value;
  }
  return config;
}

absl::StatusOr<Variant> Compile(const KernelSpec& kernel, const std::string& text) {
  TargetSpec target;
  target.kind = TargetSpec::Kind::kCuda;
  target.arch = "sm_90a";
  return CompileVariant(kernel, CompleteConfig(kernel, ParseConfig(text)), target, {});
}

// All of them, on all cores.
std::vector<absl::StatusOr<Variant>> CompileAll(const KernelSpec& kernel,
                                                const std::vector<std::string>& configs) {
  std::vector<absl::StatusOr<Variant>> variants(configs.size());
  std::atomic<size_t> next = 0;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < std::max(1U, std::thread::hardware_concurrency()); ++t) {
    threads.emplace_back([&] {
      for (size_t i = next++; i < configs.size(); i = next++)
        variants[i] = Compile(kernel, configs[i]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return variants;
}

void Time(const KernelSpec& kernel, const std::string& text,
          const absl::StatusOr<Variant>& variant) {
  std::map<std::string, int64_t> sizes;
  for (const SizeSymbol& s : kernel.nest.symbols) sizes[s.name] = s.hint;
  if (!variant.ok()) {
    std::printf("%-40s %s\n", text.c_str(), variant.status().ToString().c_str());
    return;
  }
  const absl::StatusOr<double> us = TimeOnCuda(*variant, kernel.nest, sizes, 15);
  if (!us.ok()) {
    std::printf("%-40s %s\n", text.c_str(), us.status().ToString().c_str());
    return;
  }
  double bytes = 0;
  for (const NestBuffer& b : kernel.nest.buffers)
    bytes += static_cast<double>(*b.numel.Evaluate(sizes)) * DTypeBytes(b.dtype);
  std::printf("%-40s %9.2f us %7.0f GB/s  registers %3d spills %3d in flight %4.0f\n", text.c_str(),
              *us, bytes / *us * 1e-3, variant->registers(), variant->spill_bytes(),
              variant->bytes_in_flight_per_thread());
}

int Main(int argc, char** argv) {
  int y_dims = 0;
  if (argc < 5 || !absl::SimpleAtoi(argv[3], &y_dims)) {
    std::fprintf(stderr,
                 "usage: time_kernel NEST_FILE pointwise|looped|persistent Y_DIMS CONFIG...\n");
    return 2;
  }
  std::ifstream file(argv[1]);
  std::stringstream text;
  text << file.rdbuf();
  const std::string form = argv[2];
  const KernelSpec kernel = MakeKernel(text.str(),
                                       form == "pointwise" ? KernelForm::kPointwise
                                       : form == "looped"  ? KernelForm::kLooped
                                                           : KernelForm::kPersistent,
                                       y_dims);
  std::printf("%s, %s\n", kernel.name.c_str(), form.c_str());
  const std::vector<std::string> configs(argv + 4, argv + argc);
  const std::vector<absl::StatusOr<Variant>> variants = CompileAll(kernel, configs);
  for (size_t i = 0; i < configs.size(); ++i) Time(kernel, configs[i], variants[i]);
  return 0;
}

}  // namespace
}  // namespace stax

int main(int argc, char** argv) { return stax::Main(argc, argv); }
