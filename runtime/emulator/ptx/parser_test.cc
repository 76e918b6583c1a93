// What PTX means, from the text of PTX ISA 9.0; ptxas 13.0 takes the good texts and refuses the
// bad.
#include "runtime/emulator/ptx/parser.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "runtime/emulator/ptx/module.h"

namespace stax::ptx {
namespace {

using Kind = Operand::Kind;

constexpr char kHeader[] = ".version 8.6\n.target sm_90a\n.address_size 64\n";  // three lines

Module Parse(const std::string& text) {
  absl::StatusOr<Module> module = ParsePtx(absl::StrCat(kHeader, text), "k.ptx");
  EXPECT_TRUE(module.ok()) << module.status() << "\n" << text;
  return module.ok() ? *std::move(module) : Module();
}

// The error, without "k.ptx:"; lines count from that of the text.
std::string Error(const std::string& text) {
  const absl::StatusOr<Module> module = ParsePtx(absl::StrCat(kHeader, text), "k.ptx");
  if (module.ok()) return "no error";
  EXPECT_EQ(module.status().code(), absl::StatusCode::kInvalidArgument);
  std::string message(module.status().message());
  EXPECT_EQ(message.substr(0, 6), "k.ptx:");
  message.erase(0, 6);
  const size_t colon = message.find(':');
  return absl::StrCat(std::stoi(message.substr(0, colon)) - 3, message.substr(colon));
}

// Line 1 of the text of a function; the body begins in line 2.
constexpr char kRegisters[] =
    ".entry f(.param .u64 p) { .reg .b32 %r<10>; .reg .b64 %rd<5>; .reg .f32 %f<9>; "
    ".reg .pred %p<4>; .reg .v4 .f32 %v;\n";

Function Body(const std::string& body) {
  Module module =
      Parse(absl::StrCat(".global .u32 g[4];\n.func (.param .b32 r) h(.param .b64 a);\n",
                         ".func leaf;\n", kRegisters, body, "\n}\n"));
  return module.functions.empty() ? Function() : std::move(module.functions.back());
}

std::string BodyError(const std::string& body) {
  return Error(absl::StrCat(kRegisters, body, "\n}\n"));
}

// An operand as text, registers by name; what a reader of the PTX would write.
std::string Show(const Function& f, const Operand& o) {
  std::string list;
  for (const Operand& e : o.elements) absl::StrAppend(&list, list.empty() ? "" : " ", Show(f, e));
  const std::string reg = o.reg >= 0 ? f.registers[o.reg].name : "";
  switch (o.kind) {
    case Kind::kRegister:
      return absl::StrCat(o.negated ? "!" : "", reg, o.name.empty() ? "" : ".", o.name);
    case Kind::kSpecial:
      return absl::StrCat("special:", o.name);
    case Kind::kInteger:
      return absl::StrCat(o.integer);
    case Kind::kFloat:
      return absl::StrCat(o.is_double ? "double:" : "single:",
                          absl::Hex(static_cast<uint64_t>(o.integer)));
    case Kind::kAddress:
      return absl::StrCat("[", reg, o.name, "+", o.integer, "]");
    case Kind::kSymbol:
      return absl::StrCat(o.name, "+", o.integer);
    case Kind::kVector:
      return absl::StrCat(o.is_memory ? "memory" : "", "{", list, "}");
    case Kind::kPair:
      return absl::StrCat("<", list, ">");
    case Kind::kSink:
      return "_";
    case Kind::kLabel:
      return absl::StrCat("->", o.name);
  }
  return "?";
}

std::string Show(const Function& f, const Instruction& i) {
  std::string text;
  if (i.guard >= 0)
    absl::StrAppend(&text, i.guard_negated ? "@!" : "@", f.registers[i.guard].name, " ");
  absl::StrAppend(&text, i.Name());
  for (const Operand& o : i.operands) absl::StrAppend(&text, " ", Show(f, o));
  return text;
}

// All instructions of a body, one a line.
std::string Instructions(const std::string& body) {
  const Function f = Body(body);
  std::string text;
  for (const Instruction& i : f.instructions)
    absl::StrAppend(&text, text.empty() ? "" : "\n", Show(f, i));
  return text;
}

TEST(ParserTest, Header) {
  const absl::StatusOr<Module> module =
      ParsePtx("// c\n.version 9.0 /* a\n b */\n.target sm_80, debug\n.target sm_90a\n", "k");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(module->version_major, 9);
  EXPECT_EQ(module->version_minor, 0);
  EXPECT_EQ(module->target, "sm_90a");
  EXPECT_TRUE(module->has_debug_info);
}

TEST(ParserTest, ModifiersAndLines) {
  const Function f = Body(
      "ld.global.nc.L1::no_allocate.v4.f32 {%f1, %f2, %f3, %f4},\n  [%rd1];\n"
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4},"
      " {%r5,%r6}, {%f1,%f2,%f3,%f4};\nret;");
  ASSERT_EQ(f.instructions.size(), 3u);
  EXPECT_EQ(f.instructions[0].opcode, "ld");
  EXPECT_EQ(f.instructions[0].modifiers,
            (std::vector<std::string>{"global", "nc", "L1::no_allocate", "v4", "f32"}));
  EXPECT_TRUE(f.instructions[0].Has("v4"));
  EXPECT_FALSE(f.instructions[0].Has("v2"));
  EXPECT_EQ(f.instructions[0].line, 8);
  EXPECT_EQ(f.instructions[1].line, 10);
  EXPECT_EQ(f.instructions[1].operands.size(), 4u);
  EXPECT_EQ(f.instructions[2].Name(), "ret");
}

TEST(ParserTest, Operands) {
  EXPECT_EQ(Instructions("add.s32 %r1, %r2, -3;"), "add.s32 %r1 %r2 -3");
  EXPECT_EQ(Instructions("setp.lt.and.s32 %p1|%p2, %r1, 0x1F, !%p3;"),
            "setp.lt.and.s32 <%p1 %p2> %r1 31 !%p3");
  EXPECT_EQ(Instructions("elect.sync _|%p1, 0xffffffff;"), "elect.sync <_ %p1> 4294967295");
  EXPECT_EQ(Instructions("mov.b64 {%r1, _}, %rd1;"), "mov.b64 {%r1 _} %rd1");
  EXPECT_EQ(Instructions("mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.g; mov.u32 %r3, WARP_SZ;"),
            "mov.u32 %r1 special:%tid.x\nmov.u32 %r2 special:%ctaid.y\n"
            "mov.u32 %r3 special:WARP_SZ");
  EXPECT_EQ(Instructions("mov.u64 %rd1, g; mov.u64 %rd1, g+8; mov.u64 %rd2, h;"),
            "mov.u64 %rd1 g+0\nmov.u64 %rd1 g+8\nmov.u64 %rd2 h+0");
  EXPECT_EQ(Instructions("vadd.u32.u32.u32 %r1, %r2.b0, %r3.h1;"),
            "vadd.u32.u32.u32 %r1 %r2.b0 %r3.h1");
}

TEST(ParserTest, Addresses) {
  EXPECT_EQ(Instructions("ld.global.u32 %r1, [%rd1];"), "ld.global.u32 %r1 [%rd1+0]");
  EXPECT_EQ(Instructions("ld.global.u32 %r1, [%rd1+16];"), "ld.global.u32 %r1 [%rd1+16]");
  EXPECT_EQ(Instructions("ld.global.u32 %r1, [%rd1+-4];"), "ld.global.u32 %r1 [%rd1+-4]");
  EXPECT_EQ(Instructions("ld.global.u32 %r1, [g+4+2*4];"), "ld.global.u32 %r1 [g+12]");
  EXPECT_EQ(Instructions("ld.param.u64 %rd1, [p];"), "ld.param.u64 %rd1 [p+0]");
  EXPECT_EQ(Instructions("ld.local.u32 %r1, [16];"), "ld.local.u32 %r1 [+16]");
  EXPECT_EQ(Instructions("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::"
                         "bytes [%r1], [%rd1, {%r2, %r3}], [%r4+8];"),
            "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1+0] "
            "memory{[%rd1+0] {%r2 %r3}} [%r4+8]");
}

TEST(ParserTest, Literals) {
  EXPECT_EQ(Instructions("mov.f32 %f1, 0f3F800000; mov.f32 %f1, 0Fbf800000;"),
            "mov.f32 %f1 single:3f800000\nmov.f32 %f1 single:bf800000");
  EXPECT_EQ(Instructions("mov.f32 %f1, 0d3FF0000000000000; mov.f32 %f1, 1.5; mov.f32 %f1, -1e3;"),
            "mov.f32 %f1 double:3ff0000000000000\nmov.f32 %f1 double:3ff8000000000000\n"
            "mov.f32 %f1 double:c08f400000000000");
  EXPECT_EQ(Instructions("mov.u32 %r1, 0b101; mov.u32 %r1, 017; mov.u32 %r1, 0xFFU;"),
            "mov.u32 %r1 5\nmov.u32 %r1 15\nmov.u32 %r1 255");
  EXPECT_EQ(Instructions("mov.u64 %rd1, 18446744073709551615; mov.u64 %rd1, -9223372036854775808;"),
            "mov.u64 %rd1 -1\nmov.u64 %rd1 -9223372036854775808");
}

TEST(ParserTest, ConstantExpressions) {
  const auto value = [](const std::string& expression) {
    return Instructions(absl::StrCat("mov.u64 %rd1, ", expression, ";"));
  };
  EXPECT_EQ(value("2+3*4"), "mov.u64 %rd1 14");
  EXPECT_EQ(value("(2+3)*4 - 1"), "mov.u64 %rd1 19");
  EXPECT_EQ(value("10-4-3"), "mov.u64 %rd1 3");
  EXPECT_EQ(value("1<<4|3"), "mov.u64 %rd1 19");
  EXPECT_EQ(value("-7/2"), "mov.u64 %rd1 -3");
  EXPECT_EQ(value("-7 % 4"), "mov.u64 %rd1 -3");
  EXPECT_EQ(value("-8>>1"), "mov.u64 %rd1 -4");
  EXPECT_EQ(value("-1 < 1"), "mov.u64 %rd1 1");
  EXPECT_EQ(value("-1 < 1U"), "mov.u64 %rd1 0");  // unsigned if one is
  EXPECT_EQ(value("(.u64)-1 / 2 == 0x7FFFFFFFFFFFFFFF"), "mov.u64 %rd1 1");
  EXPECT_EQ(value("0 || 5 && 2"), "mov.u64 %rd1 1");
  EXPECT_EQ(value("~0 ^ 1"), "mov.u64 %rd1 -2");
  EXPECT_EQ(value("!5"), "mov.u64 %rd1 0");
  EXPECT_EQ(value("0 ? 1 : 1 ? 2 : 3"), "mov.u64 %rd1 2");
  EXPECT_EQ(value("1.5+2.0*2.0"), "mov.u64 %rd1 double:4016000000000000");
  EXPECT_EQ(value("(.s64)0x8000000000000000 / -1"), "mov.u64 %rd1 -9223372036854775808");
}

TEST(ParserTest, VectorRegisters) {
  EXPECT_EQ(Instructions("ld.global.v4.f32 %v, [%rd1]; mov.f32 %f1, %v.w; mov.f32 %f1, %v.g;"),
            "ld.global.v4.f32 {%v.x %v.y %v.z %v.w} [%rd1+0]\nmov.f32 %f1 %v.w\nmov.f32 %f1 %v.y");
  EXPECT_EQ(Instructions(".reg .v2 .b32 %w<3>; mov.b32 %w2.y, %w0.x;"), "mov.b32 %w2.y %w0.x");
}

TEST(ParserTest, RegistersComeWithTheirFirstUse) {
  const Function f = Body(".reg .f64 a, %d<1048576>; mov.f64 %d1048575, a; mov.f64 a, %d0;");
  std::string names;
  for (const Register& r : f.registers) absl::StrAppend(&names, r.name, ".", TypeName(r.type), " ");
  EXPECT_EQ(names, "%v.x.f32 %v.y.f32 %v.z.f32 %v.w.f32 a.f64 %d1048575.f64 %d0.f64 ");
}

TEST(ParserTest, Guards) {
  EXPECT_EQ(Instructions("@%p1 ret; @!%p2 ret; @ ! %p1 trap;"), "@%p1 ret\n@!%p2 ret\n@!%p1 trap");
}

TEST(ParserTest, Labels) {
  const Function f = Body("A: bra B; B: @%p1 bra.uni A; C:");
  EXPECT_EQ(Show(f, f.instructions[0]), "bra ->B");
  EXPECT_EQ(Show(f, f.instructions[1]), "@%p1 bra.uni ->A");
  ASSERT_EQ(f.labels.size(), 3u);
  EXPECT_EQ(f.labels[1].name, "B");
  EXPECT_EQ(f.labels[1].position, 1);
  EXPECT_EQ(f.labels[2].position, 2);
  EXPECT_EQ(f.instructions[0].operands[0].index, 1);
  EXPECT_EQ(f.instructions[0].operands[0].symbol, SymbolKind::kLabel);
}

TEST(ParserTest, ScopesHaveNamesOfTheirOwn) {
  const Function f = Body(
      "{ .reg .u32 t; .shared .b8 s[8]; D: mov.u32 t, s; @%p1 bra D; @%p1 bra E; }\n"
      "{ .reg .u64 t; .shared .b8 s[4]; mov.u64 t, s; @%p1 bra D; bra E; D: }\n"
      "{ .reg .b32 %r<3>; mov.u32 %r2, %r7; { mov.u32 %r1, %r2; } } E: mov.u32 %r2, 0;");
  std::string text;
  for (const Instruction& i : f.instructions) absl::StrAppend(&text, Show(f, i), "\n");
  EXPECT_EQ(text,
            "mov.u32 t s+0\n@%p1 bra ->D\n@%p1 bra ->E\n"
            "mov.u64 t s#2+0\n@%p1 bra ->D#2\nbra ->E\n"
            "mov.u32 %r2 %r7\nmov.u32 %r1 %r2\nmov.u32 %r2 0\n");
  EXPECT_EQ(f.registers[f.instructions[0].operands[0].reg].type, Type::kU32);
  EXPECT_EQ(f.registers[f.instructions[3].operands[0].reg].type, Type::kU64);
  EXPECT_EQ(f.instructions[6].operands[0].reg, f.instructions[7].operands[1].reg);
  EXPECT_NE(f.instructions[6].operands[0].reg, f.instructions[8].operands[0].reg);
  ASSERT_EQ(f.variables.size(), 2u);
  EXPECT_EQ(f.variables[1].name, "s#2");
  EXPECT_EQ(f.variables[1].size_bytes, 4);
  EXPECT_EQ(f.instructions[3].operands[1].index, 1);
}

TEST(ParserTest, VariablesOfAFunctionHideThoseOfTheModule) {
  const Function f = Body("mov.u64 %rd1, g; { .shared .u32 g; mov.u64 %rd1, g; }");
  EXPECT_EQ(f.instructions[0].operands[1].symbol, SymbolKind::kModuleVariable);
  EXPECT_EQ(f.instructions[1].operands[1].symbol, SymbolKind::kVariable);
  EXPECT_EQ(f.instructions[1].operands[1].name, "g#2");
}

TEST(ParserTest, Calls) {
  const std::string parameters = ".param .b64 a; .param .b32 r;";
  EXPECT_EQ(Instructions(parameters + "call.uni (r), h, (a);"), "call.uni h+0 {r+0} {a+0}");
  EXPECT_EQ(Instructions("call (%r1), h, (%rd1);"), "call h+0 {%r1} {%rd1}");
  EXPECT_EQ(Instructions("call leaf; call leaf, ();"), "call leaf+0 {} {}\ncall leaf+0 {} {}");
  EXPECT_EQ(Instructions(parameters + "t: .callprototype (.param .b32 _) _ (.param .b64 _);"
                                      "call (r), %rd1, (a), t;"),
            "call %rd1 {r+0} {a+0} t+0");
  EXPECT_EQ(Instructions("t: .callprototype _; call %rd1, t;"), "call %rd1 {} {} t+0");
  EXPECT_EQ(Instructions("t: .calltargets h; call (_), %rd1, (0), t;"), "call %rd1 {_} {0} t+0");
  const Function f = Body("t: .calltargets h; call (_), %rd1, (0), t;");
  EXPECT_EQ(f.call_targets[0].functions, (std::vector<int>{0}));
}

TEST(ParserTest, JumpTables) {
  const Function f = Body("T: .branchtargets A, B, A; brx.idx %r1, T; A: ret; B: ret;");
  ASSERT_EQ(f.branch_targets.size(), 1u);
  EXPECT_EQ(f.branch_targets[0].labels, (std::vector<int>{0, 1, 0}));
  EXPECT_EQ(Show(f, f.instructions[0]), "brx.idx %r1 T+0");
  EXPECT_EQ(f.instructions[0].operands[1].symbol, SymbolKind::kBranchTargets);
}

TEST(ParserTest, KernelDirectives) {
  const Module module = Parse(
      ".visible .entry k(.param .u64 .ptr .global .align 16 a, .param .u64 .ptr b,\n"
      "  .param .align 64 .b8 map[128], .param .f32 s)\n"
      ".maxntid 128, 2 .minnctapersm 2 .maxnctapersm 4 .maxnreg 64 .explicitcluster\n"
      ".reqnctapercluster 2,1,1 .maxclusterrank 8 .blocksareclusters .pragma \"x\"; { ret; }\n"
      ".entry r .reqntid 32,4,2 { ret; }\n.func n() .noreturn;\n");
  const Function& k = module.functions[0];
  EXPECT_EQ(k.linkage, Linkage::kVisible);
  EXPECT_TRUE(k.is_entry);
  EXPECT_EQ(k.line, 4);
  EXPECT_EQ(k.max_threads[0], 128);
  EXPECT_EQ(k.max_threads[1], 2);
  EXPECT_EQ(k.max_threads[2], 1);
  EXPECT_EQ(k.required_threads[0], 0);
  EXPECT_EQ(k.min_blocks, 2);
  EXPECT_EQ(k.max_blocks, 4);
  EXPECT_EQ(k.max_registers, 64);
  EXPECT_TRUE(k.explicit_cluster);
  EXPECT_TRUE(k.blocks_are_clusters);
  EXPECT_EQ(k.cluster[0], 2);
  EXPECT_EQ(k.max_cluster_rank, 8);
  ASSERT_EQ(k.parameters.size(), 4u);
  EXPECT_EQ(k.parameters[0].pointer_space, Space::kGlobal);
  EXPECT_EQ(k.parameters[0].pointer_align_bytes, 16);
  EXPECT_EQ(k.parameters[0].align_bytes, 8);
  EXPECT_TRUE(k.parameters[1].is_pointer);
  EXPECT_EQ(k.parameters[1].pointer_space, Space::kGeneric);
  EXPECT_EQ(k.parameters[1].pointer_align_bytes, 4);
  EXPECT_EQ(k.parameters[2].size_bytes, 128);
  EXPECT_EQ(k.parameters[2].align_bytes, 64);
  EXPECT_FALSE(k.parameters[3].is_pointer);
  EXPECT_EQ(k.parameters[3].type, Type::kF32);
  EXPECT_EQ(module.functions[1].required_threads[2], 2);
  EXPECT_TRUE(module.functions[2].no_return);
  EXPECT_TRUE(module.functions[2].is_declaration);
}

TEST(ParserTest, DeclarationsAreCompleted) {
  const Module module = Parse(
      ".func (.param .b32 r) f(.param .b32 x);\n.extern .global .u32 e[];\n"
      ".func (.param .b32 q) f(.param .b32 y) { .reg .b32 %r<2>; ld.param.b32 %r1, [y];\n"
      "  st.param.b32 [q], %r1; call (%r1), f, (%r1); ret; }\n.visible .global .u32 e[3];\n"
      ".func f2(.param .b32 z);\n.func g(.param .b32 z) { ret; }\n.alias f2, g;\n");
  ASSERT_EQ(module.functions.size(), 3u);
  EXPECT_FALSE(module.functions[0].is_declaration);
  EXPECT_EQ(module.functions[0].instructions.size(), 4u);
  EXPECT_EQ(module.functions[0].instructions[1].operands[0].symbol, SymbolKind::kReturned);
  ASSERT_EQ(module.variables.size(), 1u);
  EXPECT_FALSE(module.variables[0].IsExtern());
  EXPECT_EQ(module.variables[0].size_bytes, 12);
  EXPECT_EQ(module.FindFunction("f2")->name, "g");
  EXPECT_EQ(module.FindFunction("f3"), nullptr);
}

TEST(ParserTest, Variables) {
  const Module module = Parse(
      ".extern .shared .align 16 .b8 dynamic[];\n.global .attribute(.managed) .u32 m;\n"
      ".const .v4 .f32 v[2][3];\n.weak .global .u16 a, b[5], c;\n.common .global .b128 q;\n");
  ASSERT_EQ(module.variables.size(), 7u);
  EXPECT_EQ(module.variables[0].size_bytes, 0);
  EXPECT_EQ(module.variables[0].align_bytes, 16);
  EXPECT_TRUE(module.variables[0].IsExtern());
  EXPECT_TRUE(module.variables[1].is_managed);
  EXPECT_EQ(module.variables[2].size_bytes, 96);
  EXPECT_EQ(module.variables[2].align_bytes, 16);
  EXPECT_EQ(module.variables[2].space, Space::kConst);
  EXPECT_EQ(module.variables[4].name, "b");
  EXPECT_EQ(module.variables[4].size_bytes, 10);
  EXPECT_EQ(module.variables[4].linkage, Linkage::kWeak);
  EXPECT_EQ(module.variables[6].size_bytes, 16);
  EXPECT_EQ(module.variables[6].linkage, Linkage::kCommon);
}

// Pieces as "OFFSET:hex bytes" and "OFFSET:(SIZE)symbol+addend>>shift".
std::string Initial(const std::string& declaration) {
  const Module module = Parse(absl::StrCat(".global .u32 g[4];\n.func h;\n", declaration));
  if (module.variables.empty()) return "";
  std::string text;
  for (const Initializer& i : module.variables.back().initial) {
    absl::StrAppend(&text, text.empty() ? "" : " ", i.offset, ":");
    for (const char c : i.bytes)
      absl::StrAppend(&text, absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2));
    if (i.symbol.empty()) continue;
    absl::StrAppend(&text, "(", i.size, ")", i.generic ? "generic " : "", i.symbol, "+", i.addend,
                    ">>", i.shift);
  }
  return text;
}

TEST(ParserTest, InitialValues) {
  EXPECT_EQ(Initial(".global .u32 x = 0x12345678;"), "0:78563412");
  EXPECT_EQ(Initial(".global .s16 x[3] = {-1, 2};"), "0:ffff0200");
  EXPECT_EQ(Initial(".global .u8 x = 300;"), "0:2c");
  EXPECT_EQ(Initial(".global .b64 x[] = {1};"), "0:0100000000000000");
  EXPECT_EQ(Initial(".global .b128 x = -2;"), "0:feffffffffffffffffffffffffffffff");
  EXPECT_EQ(Initial(".const .f32 x[2] = {1.5, 0fBF800000};"), "0:0000c03f000080bf");
  EXPECT_EQ(Initial(".const .f64 x[2] = {1.5, 0fBF800000};"), "0:000000000000f83f000000000000f0bf");
  EXPECT_EQ(Initial(".global .u8 x[2][3] = {{1}, {2, 3}};"), "0:0100000203");
  EXPECT_EQ(Initial(".global .v2 .u8 x[2] = {{1, 2}, {3, 4}};"), "0:01020304");
  EXPECT_EQ(Initial(".global .u8 x[3][100] = {{1}, {2}, {}};"), "0:01 100:02");
  EXPECT_EQ(Initial(".global .u32 x[4] = {};"), "");
}

TEST(ParserTest, InitialAddresses) {
  EXPECT_EQ(Initial(".global .u64 x[4] = {5, g, generic(g)+8, h};"),
            "0:0500000000000000 8:(8)g+0>>0 16:(8)generic g+8>>0 24:(8)h+0>>0");
  EXPECT_EQ(Initial(".global .u32 x = g+4;"), "0:(4)g+4>>0");
  EXPECT_EQ(Initial(".global .u8 x[] = {7, 0xFF(g), 0xFF00(g+4), 0xff0000(generic(g)+8), 9};"),
            "0:07 1:(1)g+0>>0 2:(1)g+4>>8 3:(1)generic g+8>>16 4:09");
}

TEST(ParserTest, OpenDimension) {
  const Module module = Parse(".global .u16 x[][2] = {{1, 2}, {3}, {4}};");
  EXPECT_EQ(module.variables[0].size_bytes, 12);
}

TEST(ParserTest, DebugInformation) {
  const Module module = Parse(
      ".file 1 \"a.cu\", 1234, 56\n.file 2 \"b.h\"\n.func f { .loc 1 10 3\n ret;\n"
      ".loc 2 20 5, function_name $L__info_string0, inlined_at 1 11 7\n trap; }\n"
      "@@DWARF .byte 0x01, \"}\"\n"
      ".section .debug_info { .b32 12, .debug_abbrev\n$L__x: .b8 1 // }\n.b64 f+4 }\n"
      ".section .debug_macinfo\t{\t}\n.func g { ret; }\n");
  EXPECT_EQ(module.files, (std::vector<std::string>{"", "a.cu", "b.h"}));
  const Function& f = module.functions[0];
  EXPECT_EQ(f.instructions[0].loc_file, 1);
  EXPECT_EQ(f.instructions[0].loc_line, 10);
  EXPECT_EQ(f.instructions[1].loc_file, 2);
  EXPECT_EQ(f.instructions[1].loc_line, 20);
  EXPECT_EQ(module.functions[1].instructions[0].loc_line, 0);
}

TEST(ParserTest, ErrorsOfNames) {
  EXPECT_EQ(BodyError("mov.u32 %r10, 1;"),
            "2:9: register '%r10' is not declared, and no special register; registers need a .reg "
            "before their use");
  EXPECT_EQ(BodyError("mov.u32 %r1, x;"),
            "2:14: 'x' is not declared; expected a register, a variable or a function that is "
            "declared before its use");
  EXPECT_EQ(BodyError("ret;\n  bra X;\n{ X: }"),
            "3:7: label 'X' is not in this function, or in a scope that is closed here");
  EXPECT_EQ(BodyError(".shared .u32 s; bra s;"), "2:21: 's' is no label");
  EXPECT_EQ(BodyError("L: mov.u64 %rd1, L;"), "2:18: 'L' is a label; only bra and tables go there");
  EXPECT_EQ(BodyError("L: ret; L: ret;"), "2:9: 'L' is declared twice in this scope");
  EXPECT_EQ(BodyError(".reg .u32 %r3;"), "2:11: '%r3' is declared twice in this scope");
  EXPECT_EQ(BodyError(".reg .u32 q3; .reg .u32 q<4>;"),
            "2:25: 'q3' is declared twice in this scope");
  EXPECT_EQ(BodyError(".reg .u32 %r<4>;"), "2:11: '%r0' is declared twice in this scope");
  EXPECT_EQ(BodyError(".reg .u32 %r1<4>; .reg .u32 %r<3>;"),
            "2:29: '%r0' is declared twice in this scope");
  EXPECT_EQ(BodyError(".reg .u32 q1<4>; .reg .u32 q<11>;"),
            "2:28: 'q10' is declared twice in this scope");
  EXPECT_EQ(BodyError(".reg .u32 p;"), "2:11: 'p' is declared twice in this scope");
  EXPECT_EQ(Error(".global .u32 a;\n.global .u32 a;"), "2:14: 'a' is defined already in line 4");
  EXPECT_EQ(Error(".func f {}\n.func f {}"), "2:7: 'f' is defined already in line 4");
  EXPECT_EQ(Error(".func f(.param .b32 a);\n.func f {}"),
            "2:7: 'f' was declared with other parameters in line 4");
  EXPECT_EQ(Error(".global .u32 a;\n.func a {}"), "2:7: 'a' is a variable already");
  EXPECT_EQ(Error(".func f(.param .b32 a, .param .b32 a) {}"),
            "1:36: 'a' is declared twice in this scope");
  EXPECT_EQ(Error(".global .u64 a = b;\n.global .u32 b;"),
            "1:18: 'b' is not declared; variables and functions must be declared before their "
            "address is used");
  EXPECT_EQ(Error(".func a;\n.func b;\n.alias a, b;"),
            "3:8: 'b', of which 'a' is an alias, has no body in this module");
}

TEST(ParserTest, ErrorsOfDirectives) {
  EXPECT_EQ(Error(".texref t;"),
            "1:1: the directive '.texref' is unknown here; expected .entry, .func, a state space, "
            ".address_size, .file, .loc, .section, .pragma or .alias");
  EXPECT_EQ(BodyError(".foo 3;"),
            "2:1: the directive '.foo' is unknown in a function; expected .reg, .loc, .pragma, a "
            "state space or an instruction");
  EXPECT_EQ(Error(".entry f() .foo {}"),
            "1:12: the directive '.foo' is unknown here; expected '{', ';' or one of .maxntid, "
            ".reqntid, .maxnreg, .minnctapersm, .maxnctapersm, .reqnctapercluster, "
            ".explicitcluster, .maxclusterrank, .blocksareclusters, .noreturn, .pragma");
  EXPECT_EQ(Error(".entry f() .maxntid 0 {}"),
            "1:21: the number of threads or blocks is 0; expected 1 to 2147483647");
  EXPECT_EQ(Error(".section .text { }"),
            "1:10: expected a debug section, as .debug_info, got '.text'");
  EXPECT_EQ(Error(".address_size 32"),
            "1:15: addresses of 64 bits only; expected .address_size 64");
  EXPECT_EQ(Error(".local .u32 x;"),
            "1:1: a variable of a module must be .global, .const or .shared");
  EXPECT_EQ(Error(".global .texref t;"),
            "1:9: type '.texref' is unknown here; expected .pred, or .b, .u, .s, .f and a number "
            "of bits");
  EXPECT_EQ(Error(".global .attribute(.unified(1, 2)) .u32 x;"),
            "1:20: expected the attribute .managed, got '.unified'");
  EXPECT_EQ(Error(".global .align 3 .u32 x;"), "1:16: the alignment 3 is no power of two");
  EXPECT_EQ(Error(".func f(.reg .u32 x) {}"),
            "1:9: parameters in registers are not supported; expected .param");
  EXPECT_EQ(ParsePtx(".target sm_90", "a.ptx").status().message(),
            "a.ptx:1:1: expected '.version' first, got '.target'");
  EXPECT_EQ(ParsePtx("", "a.ptx").status().message(),
            "a.ptx:1:1: expected '.version' first, got the end of the file");
  EXPECT_EQ(ParsePtx(".version 8.6 .target gfx90", "a.ptx").status().message(),
            "a.ptx:1:22: the target 'gfx90' is unknown; expected sm_ and a number, as sm_90a, or "
            "debug");
}

TEST(ParserTest, ErrorsOfInstructions) {
  EXPECT_EQ(BodyError("mov.u32 %r1 %r2;"), "2:13: expected ',' or ';' after an operand, got '%r2'");
  EXPECT_EQ(BodyError("mov.u32 %r1, ;"), "2:14: expected an operand, got ';'");
  EXPECT_EQ(BodyError("@%r1 ret;"), "2:2: a guard must be a register of type .pred");
  EXPECT_EQ(BodyError("setp.eq.and.s32 %p1, %r1, 0, !%r2;"),
            "2:31: '!' needs a register of type .pred");
  EXPECT_EQ(BodyError("mov.f32 %f1, %f2.x;"), "2:17: '%f2' has no element '.x'");
  EXPECT_EQ(BodyError("mov.f32 %v.q, %f2;"), "2:11: '%v' has no element '.q'");
  EXPECT_EQ(BodyError("mov.u32 %r1, %laneid.x;"), "2:21: '%laneid' has no element '.x'");
  EXPECT_EQ(BodyError("ld.global.u32 %r1, [1.5];"), "2:21: an address must be an integer");
  EXPECT_EQ(BodyError("ld.global.u32 %r1, [%r1+%r2];"), "2:25: expected a number, got '%r2'");
  EXPECT_EQ(BodyError("mov.u32 %r1, {{%r2}};"),
            "2:15: expected a register or a number as element, got '{'");
  EXPECT_EQ(BodyError("call g;"),
            "2:6: 'g' is not declared; expected a register, a variable or a function that is "
            "declared before its use");
  EXPECT_EQ(BodyError("call %rd1, (%r1);"),
            "2:6: a call through a register needs a .callprototype or .calltargets behind its "
            "arguments");
  EXPECT_EQ(BodyError("call f, (%r1, %r2);"), "2:6: 'f' takes 1 arguments, got 2");
  EXPECT_EQ(BodyError("call (%r1), f, (%r1);"), "2:6: 'f' returns 0 values, got 1");
  EXPECT_EQ(BodyError("call _, (%r1);"),
            "2:6: expected a function, or a register with its address");
  EXPECT_EQ(BodyError("mov.u32 %r1, 7/0;"), "2:15: division by zero");
  EXPECT_EQ(BodyError("mov.u32 %r1, 08;"),
            "2:14: '08': malformed number; expected decimal digits, or 0x, 0b or 0 and digits of "
            "that base, then an optional U");
  EXPECT_EQ(BodyError("mov.f32 %f1, 0f3F8000;"),
            "2:14: '0f3F8000': malformed number; expected 8 hexadecimal digits after 0f");
  EXPECT_EQ(BodyError("mov.u32 %r1, \xC3\xA4;"),
            "2:14: '\\xc3': unexpected character; PTX is ASCII, signs are those of chapter 4");
  EXPECT_EQ(Error(".entry f() { ret;"),
            "1:18: expected an instruction, a directive, a label or '}', got the end of the file");
}

TEST(ParserTest, Limits) {
  EXPECT_EQ(Parse(".global .b8 x[1099511627776];").variables[0].size_bytes, int64_t{1} << 40);
  EXPECT_EQ(Error(".global .b8 x[1099511627777];"),
            "1:15: the dimension is 1099511627777; expected 1 to 1099511627776");
  EXPECT_EQ(Error(".global .b16 x[1024][1073741824];"), "1:14: 'x' is larger than 2^40 bytes");
  EXPECT_EQ(Error(".global .b8 x[1099511627776][1099511627776];"),
            "1:13: 'x' is larger than 2^40 bytes");
  EXPECT_EQ(Error(".global .b8 x[][1099511627776] = {{1}, {2}};"),
            "1:40: 'x' is larger than 2^40 bytes");
  EXPECT_EQ(BodyError(".reg .b32 q<1048577>;"),
            "2:13: the number of registers is 1048577; expected 0 to 1048576");
  EXPECT_EQ(BodyError("mov.u64 %rd1, 18446744073709551616;"),
            "2:15: '18446744073709551616': the number does not fit 64 bits");
  EXPECT_EQ(BodyError(std::string(64, '{')), "2:64: scopes are nested deeper than 64");
  EXPECT_EQ(BodyError("mov.u32 %r1, " + std::string(101, '(') + "1;"),
            "2:114: the expression is more than 100 parentheses and operators deep");
  EXPECT_EQ(Error(".global .u32 x[2] = {1, 2, 3};"), "1:28: more values than the dimension has: 2");
}

TEST(ParserTest, ErrorsOfInitialValues) {
  EXPECT_EQ(Error(".global .u32 x = 1.5;"),
            "1:18: a float cannot be the value of .u32; expected an integer");
  EXPECT_EQ(Error(".global .f32 x = 1;"),
            "1:18: an integer cannot be the value of .f32; expected a float, as 1.0");
  EXPECT_EQ(Error(".shared .u32 x = 1;"),
            "1:16: only .global and .const variables that are not .extern take an initial value");
  EXPECT_EQ(Error(".global .u32 x[];"),
            "1:14: 'x[]' needs a dimension, an initial value or .extern");
  EXPECT_EQ(Error(".global .u32 x[2][2] = {1};"),
            "1:25: expected '{', nested as deep as the dimensions, 2, got '1'");
  EXPECT_EQ(Error(".global .u8 g;\n.global .u8 x = 0xF0(g);"),
            "2:17: the mask 0xF0 is not 0xFF, 0xFF00, ... of one byte");
  EXPECT_EQ(
      Error(".global .u8 g;\n.global .u16 x = g;"),
      "2:18: an address does not fit .u16; expected .u64 or .u32, or a mask as in 0xFF(name)");
}

}  // namespace
}  // namespace stax::ptx
