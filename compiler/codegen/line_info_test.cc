// Every instruction of a CUDA kernel belongs to a line of its nest's text.
#include "compiler/codegen/line_info.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "compiler/codegen/codegen.h"
#include "compiler/codegen/ptxas.h"
#include "compiler/codegen/testing/nest_kernel.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stax {
namespace {

using testing::HasSubstr;
using testing::Not;

Variant Compile(const KernelSpec& kernel, const Config& config,
                const std::string& arch = "sm_90a") {
  TargetSpec target;
  target.kind = arch[0] == 's' ? TargetSpec::Kind::kCuda : TargetSpec::Kind::kCpu;
  target.arch = arch;
  const absl::StatusOr<Variant> variant =
      CompileVariant(kernel, CompleteConfig(kernel, config), target, {});
  EXPECT_TRUE(variant.ok()) << variant.status();
  return *variant;
}

// (the nest's line as text, opcode) of each instruction.
using Attributed = std::vector<std::pair<std::string, std::string>>;
Attributed Attribute(const LoopNest& nest, const std::string& ptx) {
  const std::vector<std::string> source = absl::StrSplit(ToText(nest), '\n');
  Attributed result;
  std::string current = "no line";
  const std::string body = ptx.substr(ptx.find("\n{"), ptx.find("\n}") - ptx.find("\n{"));
  for (absl::string_view line : absl::StrSplit(body, '\n')) {
    const std::vector<std::string> words =
        absl::StrSplit(line, absl::ByAnyChar("\t "), absl::SkipEmpty());
    if (words.empty() || words[0][0] == '{' || words[0][0] == '$') continue;
    if (words[0] == "//" || words[0] == ".reg" || words[0] == ".pragma") continue;
    int number = 0;
    if (words[0] == ".loc" && absl::SimpleAtoi(words[2], &number)) {
      current = std::string(absl::StripAsciiWhitespace(source.at(number - 1)));
    } else {
      result.emplace_back(current, words[words[0][0] == '@' ? 1 : 0]);
    }
  }
  return result;
}

// The lines at which instructions begin with `opcode`, each once in a row.
std::string LinesOf(const Attributed& instructions, const std::string& opcode) {
  std::vector<std::string> lines;
  for (const auto& [line, name] : instructions) {
    if (name.compare(0, opcode.size(), opcode) != 0) continue;
    if (lines.empty() || lines.back() != line) lines.push_back(line);
  }
  return absl::StrJoin(lines, "; ");
}

constexpr const char* kRowSum = R"(nest sum_0 {
  buffer x: f32[8192] in
  buffer w: f32[8192] in
  buffer sum: f32[64] out
  loop i0: 64
  reduce r0: 128
  %0 = load x[128*i0 + r0] : f32
  %1 = load w[128*i0 + r0] : f32
  %2 = add %0, %1 : f32
  %3 = const 0.0 : f32
  %4 = max %2, %3 : f32
  %5 = const 2.0 : f32
  %6 = mul %4, %5 : f32
  %7 = reduce.sum %6 : f32
  store sum[i0], %7
})";

TEST(LineInfo, Example11) {
  const KernelSpec kernel = MakeKernel(kRowSum, KernelForm::kPersistent);
  const std::string ptx = Compile(kernel, {}).ptx();
  const Attributed at = Attribute(kernel.nest, ptx);
  EXPECT_EQ(LinesOf(at, "ld.param"), "nest sum_0 {");
  EXPECT_EQ(LinesOf(at, "ld.global"),
            "%0 = load x[128*i0 + r0] : f32; %1 = load w[128*i0 + r0] : f32");
  // The index is shared: it belongs to the first op that needs it.
  EXPECT_EQ(LinesOf(at, "cvt.s64.s32"), "%0 = load x[128*i0 + r0] : f32");
  EXPECT_EQ(LinesOf(at, "add.rn"),
            "%2 = add %0, %1 : f32; %6 = mul %4, %5 : f32; %7 = reduce.sum %6 : f32");
  EXPECT_EQ(LinesOf(at, "max"), "%4 = max %2, %3 : f32");
  EXPECT_EQ(LinesOf(at, "shfl"), "%7 = reduce.sum %6 : f32");
  EXPECT_EQ(LinesOf(at, "setp"), "store sum[i0], %7");
  EXPECT_EQ(LinesOf(at, "st.global"), "store sum[i0], %7");
  EXPECT_EQ(LinesOf(at, "ret"), "nest sum_0 {");
}

TEST(LineInfo, NothingButFileAndLocIsAdded) {
  const std::string ptx = Compile(MakeKernel(kRowSum, KernelForm::kPersistent), {}).ptx();
  EXPECT_THAT(ptx, HasSubstr("\t.file\t1 \"sum_0.nest\"\n"));
  EXPECT_THAT(ptx, HasSubstr(".target sm_90a\n"));
  for (const char* other : {".section", "debug", "$L__tmp", "$L__func", ".loc\t1 0"})
    EXPECT_THAT(ptx, Not(HasSubstr(other)));
  const std::string plain = WithoutLines(ptx);
  EXPECT_THAT(plain, Not(HasSubstr(".loc")));
  EXPECT_THAT(plain, Not(HasSubstr(".file")));
  EXPECT_THAT(plain, HasSubstr("ld.global.v4"));
}

// The exchange between warps, the loop over the row and masks belong somewhere too.
TEST(LineInfo, LoopedReduction) {
  const KernelSpec kernel = MakeKernel(R"(nest mean {
  size n in [2, 100000] hint 1000
  buffer x: f32[64*n] in
  buffer y: f32[64*n] out
  loop i0: 64
  reduce r0: n
  %0 = load x[i0*n + r0] : f32
  %1 = reduce.sum %0 : f32
  %2 = exp %1 : f32
  %3 = sub %0, %2 : f32
  store y[i0*n + r0], %3
})",
                                       KernelForm::kLooped);
  const Attributed at =
      Attribute(kernel.nest, Compile(kernel, {{"RBLOCK", 256}, {"WARPS", 4}}).ptx());
  for (const auto& [line, opcode] : at) EXPECT_NE(line, "no line") << opcode;
  EXPECT_EQ(LinesOf(at, "ld.shared"), "%1 = reduce.sum %0 : f32");
  EXPECT_EQ(LinesOf(at, "bar.sync"), "%1 = reduce.sum %0 : f32");
  EXPECT_EQ(LinesOf(at, "ex2"), "%2 = exp %1 : f32");
  EXPECT_EQ(LinesOf(at, "sub.rn"), "%3 = sub %0, %2 : f32");
  EXPECT_EQ(LinesOf(at, "ld.global"), "%0 = load x[n*i0 + r0] : f32");
  EXPECT_EQ(LinesOf(at, "st.global"), "store y[n*i0 + r0], %3");
  EXPECT_THAT(LinesOf(at, "bra"), HasSubstr("reduce r0: n"));
}

TEST(LineInfo, ObjectsHaveNone) {
  const KernelSpec kernel = MakeKernel(kRowSum, KernelForm::kPersistent);
  EXPECT_THAT(Compile(kernel, {}, "x86-64-v3").object(), Not(HasSubstr(".debug")));
}

// What LLVM moved to its use stands in front of it, as line 0.
TEST(LineInfo, MovedInstructionsBelongToWhatFollows) {
  EXPECT_EQ(KeepLinesOnly("{\n"
                          "$L__func_begin0:\n"
                          "\t.loc\t1 1 0\n"
                          "\tmov.u32 %r1, 0;\n"
                          "$L__tmp0:\n"
                          "\t.loc\t1 1 0\n"
                          "\tmov.u32 %r2, 0;\n"
                          "$L__BB0_1:\n"
                          "\t.loc\t1 0 0\n"
                          "\tadd.s32 %r1, %r1, %r2;\n"
                          "\t.loc\t1 7 0\n"
                          "\tst.shared.b32 [%r2], %r1;\n"
                          "\t.loc\t1 0 0\n"
                          "\tret;\n"
                          "$L__func_end0:\n"
                          "}\n"
                          "\t.section\t.debug_macinfo\t{\t}\n"
                          "\t.file\t1 \"k.nest\"\n"),
            "{\n"
            "\t.loc\t1 1 0\n"
            "\tmov.u32 %r1, 0;\n"
            "\tmov.u32 %r2, 0;\n"
            "$L__BB0_1:\n"
            "\t.loc\t1 7 0\n"
            "\tadd.s32 %r1, %r1, %r2;\n"
            "\tst.shared.b32 [%r2], %r1;\n"
            "\t.loc\t1 1 0\n"
            "\tret;\n"
            "}\n"
            "\t.file\t1 \"k.nest\"\n");
}

TEST(LineInfo, TheCubinHasNone) {
  const Variant v = Compile(MakeKernel(kRowSum, KernelForm::kPersistent), {});
  EXPECT_EQ(v.cubin().empty(), PtxasPath().empty());
  EXPECT_THAT(v.cubin(), Not(HasSubstr("debug_line")));
}

}  // namespace
}  // namespace stax
