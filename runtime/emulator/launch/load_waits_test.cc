#include "runtime/emulator/launch/load_waits.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "runtime/emulator/launch/emulator_module.h"
#include "runtime/emulator/launch/launch.h"
#include "runtime/emulator/memory/global_memory.h"
#include "runtime/emulator/ptx/parser.h"

namespace stax::emulator {
namespace {

constexpr size_t kBytes = 4096;

// Of `body` run by 3 blocks of 2 warps, each block as often; %rd1 is a buffer.
int64_t WaitsOf(const std::string& body) {
  const std::string text = absl::StrCat(
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .u64 x)\n{\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.reg .pred %p;\n"
      ".shared .align 16 .b8 s[16];\n"
      "ld.param.u64 %rd1, [x];\nmov.u32 %r0, 0;\n",
      body, "ret;\n}\n");
  GlobalMemory memory;
  auto parsed = ptx::ParsePtx(text, "k.ptx");
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  auto module = EmulatorModule::Load(*std::move(parsed), &memory);
  EXPECT_TRUE(module.ok()) << module.status();
  auto kernel = (*module)->Kernel("k");
  EXPECT_TRUE(kernel.ok()) << kernel.status();
  auto buffer = memory.Allocate(kBytes);
  EXPECT_TRUE(buffer.ok());
  std::memset(*buffer, 0, kBytes);
  memory.MarkWritten(*buffer, kBytes);
  LaunchRequest request;
  request.grid.x = 3;
  request.block.x = 64;
  request.check_races = false;
  request.parameters.resize(sizeof(uint64_t));
  const auto address = reinterpret_cast<uint64_t>(*buffer);
  std::memcpy(request.parameters.data(), &address, sizeof(address));
  auto result = Launch(**module, **kernel, request, &memory);
  EXPECT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->fault_count, 0);
  const int64_t waits = LoadWaits((*kernel)->translated, *result);
  EXPECT_EQ(waits % 6, 0);
  return waits / 6;
}

TEST(LoadWaits, ArithmeticAndStoresDoNotWait) {
  EXPECT_EQ(WaitsOf("add.u32 %r1, %r0, 1;\nst.global.u32 [%rd1], %r1;\n"), 0);
}

TEST(LoadWaits, LoadsBeforeTheFirstUseWaitTogether) {
  EXPECT_EQ(WaitsOf("ld.global.u32 %r1, [%rd1];\nld.global.u32 %r2, [%rd1+4];\n"
                    "add.u32 %r3, %r1, %r2;\nadd.u32 %r3, %r3, %r2;\n"),
            1);
}

TEST(LoadWaits, ALoadAfterAUseWaitsAgain) {
  EXPECT_EQ(WaitsOf("ld.global.u32 %r1, [%rd1];\nadd.u32 %r3, %r1, 1;\n"
                    "ld.global.v2.u32 {%r2, %r4}, [%rd1+8];\nadd.u32 %r3, %r3, %r4;\n"),
            2);
}

TEST(LoadWaits, AnAddressThatWasLoadedIsAUse) {
  EXPECT_EQ(WaitsOf("ld.global.u64 %rd2, [%rd1];\nadd.u64 %rd3, %rd1, %rd2;\n"
                    "ld.global.u32 %r1, [%rd3];\nst.global.u32 [%rd1+8], %r1;\n"),
            2);
}

TEST(LoadWaits, ALoadThatNobodyReadsIsNoWait) {
  EXPECT_EQ(WaitsOf("ld.global.u32 %r1, [%rd1];\n"), 0);
}

TEST(LoadWaits, EachTurnOfALoopWaits) {
  EXPECT_EQ(WaitsOf("mov.u32 %r5, 0;\nL:\nld.global.u32 %r1, [%rd1];\nadd.u32 %r0, %r0, %r1;\n"
                    "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p, %r5, 5;\n@%p bra L;\n"),
            5);
}

TEST(LoadWaits, SharedMemoryIsNoWait) {
  EXPECT_EQ(WaitsOf("st.shared.u32 [s], %r0;\nld.shared.u32 %r1, [s];\nadd.u32 %r0, %r0, %r1;\n"),
            0);
}

TEST(LoadWaits, AsynchronousCopiesWaitAtTheirGroup) {
  EXPECT_EQ(WaitsOf("cp.async.ca.shared.global [s], [%rd1], 4;\n"
                    "cp.async.ca.shared.global [s+4], [%rd1+4], 4;\n"
                    "cp.async.wait_all;\nld.shared.u32 %r1, [s];\nadd.u32 %r0, %r0, %r1;\n"),
            1);
}

}  // namespace
}  // namespace stax::emulator
