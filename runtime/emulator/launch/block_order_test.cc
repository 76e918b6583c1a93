#include "runtime/emulator/launch/block_order.h"

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "runtime/emulator/ptx/module.h"
#include "runtime/emulator/ptx/parser.h"
#include "runtime/emulator/translate/flat_kernel.h"

namespace stax::emulator {
namespace {

bool Depends(const std::string& instruction) {
  const std::string text = absl::StrCat(
      ".version 8.6\n.target sm_90a\n.address_size 64\n.entry k() {\n.reg .b16 %h<4>; .reg .b32 "
      "%r<4>; .reg .f32 %f<4>; .reg .b64 %rd<4>;\n",
      instruction, " ret; }");
  absl::StatusOr<ptx::Module> module = ptx::ParsePtx(text, "k.ptx");
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return false;
  absl::StatusOr<FlatKernel> flat = Flatten(*module, module->functions.front(), {});
  EXPECT_TRUE(flat.ok()) << flat.status();
  return flat.ok() && DependsOnBlockOrder(*flat);
}

TEST(BlockOrder, WhatABlockMayLearnOfOthers) {
  for (const char* instruction :
       {"atom.global.add.u32 %r1, [%rd1], 1;", "atom.exch.b32 %r1, [%rd1], 1;",
        "ld.volatile.global.u32 %r1, [%rd1];", "ld.acquire.gpu.u32 %r1, [%rd1];",
        "ld.relaxed.gpu.global.u32 %r1, [%rd1];", "red.global.add.f32 [%rd1], %f1;",
        "red.global.add.noftz.f16 [%rd1], %h1;", "red.inc.u32 [%rd1], 5;"})
    EXPECT_TRUE(Depends(instruction)) << instruction;
}

TEST(BlockOrder, WhatIsTheSameInAnyOrder) {
  for (const char* instruction :
       {"ld.global.u32 %r1, [%rd1]; st.global.u32 [%rd1], %r1;", "red.global.add.u32 [%rd1], 1;",
        "red.global.max.s32 [%rd1], 1;", "atom.shared.add.f32 %f1, [%r1], %f2;",
        "atom.shared::cta.inc.u32 %r1, [%r2], 5;", "ld.volatile.shared.u32 %r1, [%r2];",
        "red.shared.add.f32 [%r1], %f1;", "ld.volatile.local.u32 %r1, [%r2];", "bar.sync 0;"})
    EXPECT_FALSE(Depends(instruction)) << instruction;
}

}  // namespace
}  // namespace stax::emulator
