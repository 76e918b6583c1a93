#include "runtime/emulator/launch/counters.h"

#include <cstddef>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace stax::emulator {
namespace {

constexpr int kSectorBytes = 32;

// m16n8k16: 2 * 16 * 8 * 16.
int64_t TensorFlops(const ptx::Instruction& instruction) {
  for (const std::string& shape : instruction.modifiers) {
    const std::vector<std::string> sizes = absl::StrSplit(shape, absl::ByAnyChar("mnk"));
    int64_t m = 0;
    int64_t n = 0;
    int64_t k = 0;
    if (sizes.size() == 4 && sizes[0].empty() && absl::SimpleAtoi(sizes[1], &m) &&
        absl::SimpleAtoi(sizes[2], &n) && absl::SimpleAtoi(sizes[3], &k))
      return 2 * m * n * k;
  }
  return 0;
}

}  // namespace

Flops FlopsOf(const ptx::Instruction& instruction) {
  Flops flops;
  const std::string& op = instruction.opcode;
  if (op == "mma" || (op == "wmma" && instruction.Has("mma"))) {
    flops.tensor = TensorFlops(instruction);
    return flops;
  }
  const int each = op == "add" || op == "sub" || op == "mul" ? 1
                   : op == "fma" || op == "mad"              ? 2
                                                             : 0;
  if (each == 0 || instruction.modifiers.empty()) return flops;
  const std::string& type = instruction.modifiers.back();
  if (type == "f16" || type == "bf16") flops.f16 = each;
  if (type == "f16x2" || type == "bf16x2") flops.f16 = 2 * each;
  if (type == "f32") flops.f32 = each;
  if (type == "f32x2") flops.f32 = 2 * each;
  if (type == "f64") flops.f64 = each;
  return flops;
}

std::vector<std::pair<std::string, int64_t>> NamedCounters(const TranslatedKernel& kernel,
                                                           const LaunchResult& result) {
  std::vector<std::pair<std::string, int64_t>> named;
#define STAX_COUNTER(name) named.emplace_back(#name, result.memory_total.name);
  STAX_EMULATOR_MEMORY_COUNTERS(STAX_COUNTER)
#undef STAX_COUNTER
  int64_t instructions = 0;
  int64_t thread_instructions = 0;
  int64_t f16 = 0;
  int64_t f32 = 0;
  int64_t f64 = 0;
  int64_t tensor = 0;
  for (size_t i = 0; i < result.executed.size(); ++i) {
    const auto warps = static_cast<int64_t>(result.executed[i].warps);
    const auto lanes = static_cast<int64_t>(result.executed[i].lanes);
    const Flops flops = FlopsOf(kernel.flat.instructions[i]);
    instructions += warps;
    thread_instructions += lanes;
    f16 += flops.f16 * lanes;
    f32 += flops.f32 * lanes;
    f64 += flops.f64 * lanes;
    tensor += flops.tensor * warps;
  }
  named.emplace_back("flops_f16", f16);
  named.emplace_back("flops_f32", f32);
  named.emplace_back("flops_f64", f64);
  named.emplace_back("flops_tensor", tensor);
  named.emplace_back("instructions", instructions);
  named.emplace_back("thread_instructions", thread_instructions);
  named.emplace_back("compulsory_read_bytes", kSectorBytes * result.touched.read);
  named.emplace_back("compulsory_write_bytes", kSectorBytes * result.touched.written);
  return named;
}

}  // namespace stax::emulator
