// Runs small kernels, written as their instructions alone, through the whole emulator.
#ifndef STAX_RUNTIME_EMULATOR_LAUNCH_RUN_KERNEL_H_
#define STAX_RUNTIME_EMULATOR_LAUNCH_RUN_KERNEL_H_

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "runtime/emulator/launch/emulator_module.h"
#include "runtime/emulator/launch/launch.h"
#include "runtime/emulator/memory/fault.h"
#include "runtime/emulator/memory/global_memory.h"
#include "runtime/emulator/ptx/module.h"
#include "runtime/emulator/ptx/parser.h"

namespace stax::emulator {

struct Outcome {
  absl::Status status;
  std::vector<uint32_t> words;  // the buffer afterwards
  std::vector<Fault> faults;
  std::vector<InstructionCount> executed;

  std::string Kinds() const {
    std::string kinds;
    for (const Fault& fault : faults)
      absl::StrAppend(&kinds, kinds.empty() ? "" : " ", FaultKindName(fault.kind));
    return kinds;
  }
};

struct Sizes {
  Dim3 grid;
  Dim3 block = {32, 1, 1};
  int threads = 1;  // of the host
  uint64_t max_steps = 0;
};

// Runs `body` with %rd1 = a buffer of zeros, %r1 = %tid.x, and %rd2 = the address of word number
// %r1 + %ctaid.x * %ntid.x in it. `before`: what stands in front of the kernel.
inline Outcome RunKernel(const std::string& body, const Sizes& sizes,
                         const std::string& before = "", int words = 64,
                         const std::string& directives = "") {
  Outcome outcome;
  const std::string text = absl::StrCat(".version 8.6\n.target sm_90a\n.address_size 64\n", before,
                                        "\n.entry k(.param .u64 p) ", directives, R"({
.reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<20>;
ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
mad.lo.u32 %r4, %r2, %r3, %r1; mul.wide.u32 %rd2, %r4, 4; add.u64 %rd2, %rd1, %rd2;
)",
                                        body, "\n}\n");
  absl::StatusOr<ptx::Module> parsed = ptx::ParsePtx(text, "k.ptx");
  outcome.status = parsed.status();
  if (!parsed.ok()) return outcome;
  GlobalMemory memory;
  const size_t bytes = sizeof(uint32_t) * static_cast<size_t>(words);
  absl::StatusOr<void*> buffer = memory.Allocate(bytes);
  absl::StatusOr<std::unique_ptr<EmulatorModule>> module =
      EmulatorModule::Load(*std::move(parsed), &memory);
  outcome.status = buffer.ok() ? module.status() : buffer.status();
  if (!outcome.status.ok()) return outcome;
  memory.MarkWritten(*buffer, bytes);
  absl::StatusOr<const CompiledKernel*> kernel = (*module)->Kernel("k");
  outcome.status = kernel.status();
  if (!kernel.ok()) return outcome;
  LaunchRequest request;
  request.grid = sizes.grid;
  request.block = sizes.block;
  request.threads = sizes.threads;
  request.max_steps = sizes.max_steps;
  request.parameters.resize(sizeof(void*));
  const auto address = reinterpret_cast<uintptr_t>(*buffer);
  std::memcpy(request.parameters.data(), &address, sizeof(address));
  absl::StatusOr<LaunchResult> result = Launch(**module, **kernel, request, &memory);
  outcome.status = result.ok() ? result->ended : result.status();
  if (!result.ok()) return outcome;
  outcome.words.resize(static_cast<size_t>(words));
  std::memcpy(outcome.words.data(), *buffer, bytes);
  outcome.faults = result->faults;
  outcome.executed = result->executed;
  return outcome;
}

// Runs on one thread of the host; what it gives must be the words, without a fault.
template <typename Function>
void ExpectWords(const std::string& body, const Sizes& sizes, int count, Function expected,
                 const std::string& before = "", const std::string& directives = "") {
  const Outcome outcome = RunKernel(body, sizes, before, count, directives);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(outcome.Kinds(), "");
  if (!outcome.faults.empty()) ADD_FAILURE() << outcome.faults.front().message;
  for (int i = 0; i < count; ++i)
    EXPECT_EQ(outcome.words[static_cast<size_t>(i)], static_cast<uint32_t>(expected(i))) << i;
}

inline constexpr char kStore[] = "\nst.global.u32 [%rd2], %r10; ret;";

}  // namespace stax::emulator

#endif  // STAX_RUNTIME_EMULATOR_LAUNCH_RUN_KERNEL_H_
