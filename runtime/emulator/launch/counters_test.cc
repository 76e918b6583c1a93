#include "runtime/emulator/launch/counters.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "runtime/emulator/ptx/module.h"

namespace stax::emulator {
namespace {

// "f16 f32 f64 tensor"
std::string FlopsOfName(const std::string& name) {
  ptx::Instruction instruction;
  instruction.modifiers = absl::StrSplit(name, '.');
  instruction.opcode = instruction.modifiers.front();
  instruction.modifiers.erase(instruction.modifiers.begin());
  const Flops flops = FlopsOf(instruction);
  return absl::StrCat(flops.f16, " ", flops.f32, " ", flops.f64, " ", flops.tensor);
}

TEST(Counters, FlopsOf) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"add.f32", "0 1 0 0"},
      {"sub.rn.ftz.f32", "0 1 0 0"},
      {"mul.rz.f64", "0 0 1 0"},
      {"fma.rn.f32", "0 2 0 0"},
      {"fma.rn.f64", "0 0 2 0"},
      {"mad.rn.f32", "0 2 0 0"},
      {"add.f16", "1 0 0 0"},
      {"add.rn.bf16", "1 0 0 0"},
      {"mul.f16x2", "2 0 0 0"},
      {"fma.rn.relu.bf16x2", "4 0 0 0"},
      {"fma.rn.f32x2", "0 4 0 0"},
      {"add.s32", "0 0 0 0"},
      {"mad.lo.u32", "0 0 0 0"},
      {"mov.f32", "0 0 0 0"},
      {"max.f32", "0 0 0 0"},
      {"ex2.approx.f32", "0 0 0 0"},
      // 2 m n k
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "0 0 0 4096"},
      {"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", "0 0 0 512"},
      {"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", "0 0 0 8192"},
      {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16", "0 0 0 8192"},
      {"wmma.load.a.sync.aligned.row.m16n16k16.f16", "0 0 0 0"},
      {"ldmatrix.sync.aligned.m8n8.x4.shared.b16", "0 0 0 0"},
  };
  for (const auto& [name, flops] : cases) EXPECT_EQ(FlopsOfName(name), flops) << name;
}

}  // namespace
}  // namespace stax::emulator
