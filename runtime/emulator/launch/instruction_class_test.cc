#include "runtime/emulator/launch/instruction_class.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "runtime/emulator/ptx/module.h"

namespace stax::emulator {
namespace {

TEST(InstructionClass, Of) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"add.s32", "integer"},
      {"mad.lo.u64", "integer"},
      {"setp.lt.u32", "integer"},
      {"shf.l.wrap.b32", "integer"},
      {"dp4a.u32.s32", "integer"},
      {"selp.b32", "integer"},
      {"not.pred", "integer"},
      {"selp.f32", "fp32"},
      {"setp.gt.f16", "fp16"},
      {"fma.rn.bf16x2", "fp16"},
      {"set.lt.u32.f32", "fp32"},
      {"fma.rn.f32x2", "fp32"},
      {"div.rn.f32", "fp32"},
      {"max.NaN.f64", "fp64"},
      {"ex2.approx.ftz.f32", "special"},
      {"rcp.rn.f64", "special"},
      {"tanh.approx.bf16x2", "special"},
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "tensor"},
      {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16", "tensor"},
      {"wmma.load.a.sync.aligned.row.m16n16k16.f16", "load_store"},
      {"cvt.rn.bf16x2.f32", "convert"},
      {"mov.b64", "move"},
      {"cvta.to.global.u64", "move"},
      {"ld.global.nc.v4.f32", "load_store"},
      {"st.shared.f32", "load_store"},
      {"cp.async.cg.shared.global", "load_store"},
      {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes", "load_store"},
      {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32", "atomic"},
      {"cp.async.commit_group", "synchronization"},
      {"cp.async.bulk.wait_group.read", "synchronization"},
      {"cp.async.mbarrier.arrive.noinc.shared.b64", "synchronization"},
      {"atom.global.add.f32", "atomic"},
      {"red.relaxed.gpu.global.add.u32", "atomic"},
      {"shfl.sync.bfly.b32", "inter_thread"},
      {"bar.sync", "synchronization"},
      {"bar.warp.sync", "synchronization"},
      {"mbarrier.try_wait.parity.shared.b64", "synchronization"},
      {"fence.acq_rel.gpu", "synchronization"},
      {"bra.uni", "control"},
      {"ret", "control"},
  };
  for (const auto& [name, expected] : cases) {
    ptx::Instruction instruction;
    instruction.modifiers = absl::StrSplit(name, '.');
    instruction.opcode = instruction.modifiers.front();
    instruction.modifiers.erase(instruction.modifiers.begin());
    EXPECT_EQ(InstructionClassName(InstructionClassOf(instruction)), expected) << name;
  }
}

}  // namespace
}  // namespace stax::emulator
