#include "runtime/emulator/launch/counters.h"

#include <cstddef>
#include <map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/emulator/launch/load_waits.h"

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

std::vector<InstructionCounters> CountersByInstruction(const TranslatedKernel& kernel,
                                                       const LaunchResult& result) {
  std::map<std::pair<int, std::string>, InstructionCounters> by_line;
  for (size_t i = 0; i < result.executed.size(); ++i) {
    if (result.executed[i].warps == 0) continue;
    const ptx::Instruction& instruction = kernel.flat.instructions[i];
    InstructionCounters& counters = by_line[{instruction.line, instruction.Name()}];
    counters.instruction = instruction;
    counters.warps += static_cast<int64_t>(result.executed[i].warps);
    counters.threads += static_cast<int64_t>(result.executed[i].lanes);
    counters.memory += result.memory[i];
  }
  std::vector<InstructionCounters> all;
  for (auto& [key, counters] : by_line) all.push_back(std::move(counters));
  return all;
}

std::vector<std::pair<std::string, int64_t>> NamedMemoryCounters(const MemoryCounters& counters) {
  std::vector<std::pair<std::string, int64_t>> named;
#define STAX_COUNTER(name) named.emplace_back(#name, counters.name);
  STAX_EMULATOR_MEMORY_COUNTERS(STAX_COUNTER)
#undef STAX_COUNTER
  return named;
}

LaunchTotals TotalsOf(const TranslatedKernel& kernel, const LaunchResult& result) {
  LaunchTotals totals;
  totals.memory = result.memory_total;
  totals.touched = result.touched;
  for (size_t i = 0; i < result.executed.size(); ++i) {
    const auto warps = static_cast<int64_t>(result.executed[i].warps);
    const auto lanes = static_cast<int64_t>(result.executed[i].lanes);
    const ptx::Instruction& instruction = kernel.flat.instructions[i];
    const Flops flops = FlopsOf(instruction);
    totals.warp_instructions += warps;
    totals.thread_instructions += lanes;
    totals.class_instructions[static_cast<size_t>(InstructionClassOf(instruction))] += warps;
    if (IsBarrier(instruction)) totals.barriers += warps;
    totals.flops_f16 += flops.f16 * lanes;
    totals.flops_f32 += flops.f32 * lanes;
    totals.flops_f64 += flops.f64 * lanes;
    totals.flops_tensor += flops.tensor * warps;
  }
  totals.load_waits = LoadWaits(kernel, result);
  return totals;
}

std::vector<std::pair<std::string, int64_t>> NamedCounters(const TranslatedKernel& kernel,
                                                           const LaunchResult& result) {
  const LaunchTotals totals = TotalsOf(kernel, result);
  std::vector<std::pair<std::string, int64_t>> named = NamedMemoryCounters(totals.memory);
  named.emplace_back("flops_f16", totals.flops_f16);
  named.emplace_back("flops_f32", totals.flops_f32);
  named.emplace_back("flops_f64", totals.flops_f64);
  named.emplace_back("flops_tensor", totals.flops_tensor);
  named.emplace_back("instructions", totals.warp_instructions);
  named.emplace_back("thread_instructions", totals.thread_instructions);
  for (int c = 0; c < kInstructionClasses; ++c)
    named.emplace_back(
        absl::StrCat("instructions_", InstructionClassName(static_cast<InstructionClass>(c))),
        totals.class_instructions[c]);
  named.emplace_back("barriers", totals.barriers);
  named.emplace_back("compulsory_read_bytes", kSectorBytes * totals.touched.read);
  named.emplace_back("compulsory_write_bytes", kSectorBytes * totals.touched.written);
  return named;
}

}  // namespace stax::emulator
