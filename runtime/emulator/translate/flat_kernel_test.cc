#include "runtime/emulator/translate/flat_kernel.h"

#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "runtime/emulator/ptx/module.h"
#include "runtime/emulator/ptx/parser.h"

namespace stax::emulator {
namespace {

constexpr char kHeader[] = ".version 8.0\n.target sm_80\n.address_size 64\n";  // three lines

absl::StatusOr<FlatKernel> TryFlatten(const std::string& text) {
  absl::StatusOr<ptx::Module> module = ptx::ParsePtx(absl::StrCat(kHeader, text), "k.ptx");
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return module.status();
  const ptx::Function* entry = module->FindFunction("k");
  if (entry == nullptr) return absl::NotFoundError("k");
  return Flatten(*module, *entry, {});
}

FlatKernel FlattenText(const std::string& text) {
  absl::StatusOr<FlatKernel> flat = TryFlatten(text);
  EXPECT_TRUE(flat.ok()) << flat.status();
  return flat.ok() ? *std::move(flat) : FlatKernel();
}

std::string Error(const std::string& text) {
  absl::StatusOr<FlatKernel> flat = TryFlatten(text);
  return flat.ok() ? "no error" : std::string(flat.status().message());
}

// "add bra>4 exit": opcodes, branches with their targets, guards as @ and @!.
std::string Shape(const FlatKernel& flat) {
  std::string shape;
  for (const ptx::Instruction& i : flat.instructions) {
    absl::StrAppend(&shape, shape.empty() ? "" : " ",
                    i.guard < 0       ? ""
                    : i.guard_negated ? "@!"
                                      : "@",
                    i.opcode);
    for (const ptx::Operand& operand : i.operands) {
      if (operand.kind == ptx::Operand::Kind::kLabel) absl::StrAppend(&shape, ">", operand.integer);
      for (const ptx::Operand& element : operand.elements) {
        if (element.kind == ptx::Operand::Kind::kLabel)
          absl::StrAppend(&shape, ">", element.integer);
      }
    }
  }
  return shape;
}

// Places of the variables that the kernel's `mov`s take the addresses of.
std::vector<Place> PlacesOfMoves(const FlatKernel& flat) {
  std::vector<Place> places;
  for (const ptx::Instruction& i : flat.instructions) {
    if (i.opcode == "mov" && i.operands[1].kind == ptx::Operand::Kind::kSymbol)
      places.push_back(flat.places.at(i.operands[1].name));
  }
  return places;
}

TEST(FlatKernel, LabelsArePositions) {
  const FlatKernel flat = FlattenText(R"(.entry k() { .reg .b32 %r<3>; .reg .pred %p<2>;
L: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 9; @%p1 bra L; @!%p1 ret; ret; })");
  EXPECT_EQ(Shape(flat), "add setp @bra>0 @!ret ret");
}

TEST(FlatKernel, CallsAreWrittenOutEachWithItsOwnRegistersAndReturns) {
  const FlatKernel flat = FlattenText(R"(
.func f() { .reg .b32 %r<2>; .reg .pred %p<2>; setp.eq.u32 %p1, %r1, 0; @%p1 ret; add.u32 %r1, %r1, 1; ret; }
.entry k() { call f; call f; ret; })");
  EXPECT_EQ(Shape(flat), "call setp @ret>5 add ret>5 call setp @ret>10 add ret>10 ret");
  ASSERT_EQ(flat.registers.size(), 4U);
  EXPECT_NE(flat.instructions[1].operands[0].reg, flat.instructions[6].operands[0].reg);
  EXPECT_EQ(flat.instructions[2].guard, flat.instructions[1].operands[0].reg);
  EXPECT_EQ(flat.instructions[7].guard, flat.instructions[6].operands[0].reg);
  EXPECT_TRUE(flat.added_branches.empty());
}

TEST(FlatKernel, LabelsOfTheCallerBehindACallMove) {
  const FlatKernel flat = FlattenText(R"(
.func f() { .reg .b32 %r<2>; L: add.u32 %r1, %r1, 1; bra L; }
.entry k() { .reg .pred %p<2>; @%p1 bra END; call f; END: ret; })");
  EXPECT_EQ(Shape(flat), "@bra>4 call add bra>2 ret");
}

TEST(FlatKernel, AGuardedCallIsBranchedAround) {
  const char* function = ".func f() { .reg .b32 %r<2>; add.u32 %r1, %r1, 1; ret; }\n";
  EXPECT_EQ(Shape(FlattenText(
                absl::StrCat(function, ".entry k() { .reg .pred %p<2>; @%p1 call f; ret; }"))),
            "@!bra>4 call add ret>4 ret");
  EXPECT_EQ(Shape(FlattenText(
                absl::StrCat(function, ".entry k() { .reg .pred %p<2>; @!%p1 call f; ret; }"))),
            "@bra>4 call add ret>4 ret");
}

TEST(FlatKernel, GuardedInstructionsThatWaitForLanesAreBranchedAround) {
  const FlatKernel flat = FlattenText(R"(.entry k() { .reg .b32 %r<3>; .reg .pred %p<2>;
L: @%p1 shfl.sync.idx.b32 %r1, %r2, 0, 31, -1; @!%p1 bar.warp.sync 1; @%p1 bar.sync 0; bra L; })");
  EXPECT_EQ(Shape(flat), "@!bra>2 shfl @bra>4 bar @bar bra>0");
  EXPECT_EQ(flat.instructions[0].line, 5);
  EXPECT_EQ(flat.added_branches, (std::set<int>{0, 2}));
}

TEST(FlatKernel, TablesOfBranches) {
  const FlatKernel flat = FlattenText(R"(.entry k() { .reg .b32 %r<3>;
T: .branchtargets B, A, B;
brx.idx %r1, T; A: add.u32 %r1, %r1, 1; B: ret; })");
  EXPECT_EQ(Shape(flat), "brx>2>1>2 add ret");
}

TEST(FlatKernel, Recursion) {
  EXPECT_EQ(Error(R"(.func f() { call f; ret; }
.entry k() { call f; ret; })"),
            "line 4: f calls itself; recursion is not supported");
  EXPECT_EQ(Error(R"(.func g();
.func f() { call g; ret; }
.func g() { call f; ret; }
.entry k() { call f; ret; })"),
            "line 5: f calls itself; recursion is not supported");
}

TEST(FlatKernel, CallsThatAreTooDeepOrTooMany) {
  std::string deep = ".func f0() { ret; }\n";
  for (int i = 1; i < 20000; ++i)
    absl::StrAppend(&deep, ".func f", i, "() { call f", i - 1, "; ret; }\n");
  EXPECT_EQ(Error(absl::StrCat(deep, ".entry k() { call f19999; ret; }")),
            "line 19503: f19499: calls are nested deeper than 500");
  std::string many = ".func f0() { ret; }\n";
  for (int i = 1; i < 30; ++i)
    absl::StrAppend(&many, ".func f", i, "() { call f", i - 1, "; call f", i - 1, "; ret; }\n");
  EXPECT_EQ(Error(absl::StrCat(many, ".entry k() { call f29; ret; }")),
            "line 15: the kernel is too long: with its calls written out it has more than 1048576 "
            "instructions");
}

TEST(FlatKernel, CallsOfWhatIsNotThere) {
  EXPECT_EQ(Error(".extern .func f();\n.entry k() { call f; ret; }"),
            "line 5: calls f, which this file does not define");
}

// Section 5.1.6.2: parameters lie one behind the other, each aligned to its type or .align.
TEST(FlatKernel, ParametersAreAligned) {
  const FlatKernel flat = FlattenText(
      ".entry k(.param .u8 a, .param .u64 b, .param .u16 c, .param .align 16 .b8 d[20]) { ret; }");
  EXPECT_EQ(flat.parameter_offsets, (std::vector<int64_t>{0, 8, 16, 32}));
  EXPECT_EQ(flat.parameter_sizes, (std::vector<int64_t>{1, 8, 2, 20}));
  EXPECT_EQ(flat.parameter_bytes, 52);
}

TEST(FlatKernel, ArgumentsOfCallsAreTheCallersVariables) {
  const FlatKernel flat = FlattenText(R"(
.func (.param .b32 r) f(.param .align 8 .b8 s[16]) { .reg .b64 %rd<3>;
mov.b64 %rd1, s; ret; }
.entry k() { .reg .b64 %rd<3>; .param .b32 q; .param .align 8 .b8 t[16];
mov.b64 %rd1, t; call (q), f, (t); ret; })");
  const std::vector<Place> places = PlacesOfMoves(flat);
  ASSERT_EQ(places.size(), 2U);
  EXPECT_EQ(places[0].space, ptx::Space::kLocal);
  EXPECT_EQ(places[0].address, 8U);
  EXPECT_EQ(places[1].address, 8U);
  EXPECT_EQ(flat.local_bytes, 24);
}

TEST(FlatKernel, SharedVariablesOfAFunctionAreOneForAllCallsAndLocalOnesEachCallsOwn) {
  const FlatKernel flat = FlattenText(R"(
.shared .align 4 .b8 m[5];
.func f() { .reg .b64 %rd<3>; .shared .align 8 .b8 s[24]; .local .align 4 .b8 l[12];
mov.u64 %rd1, s; mov.u64 %rd2, l; ret; }
.entry k() { call f; call f; ret; })");
  const std::vector<Place> places = PlacesOfMoves(flat);
  ASSERT_EQ(places.size(), 4U);
  EXPECT_EQ(places[0].space, ptx::Space::kShared);
  EXPECT_EQ(places[0].address, 8U);
  EXPECT_EQ(places[2].address, 8U);
  EXPECT_EQ(places[1].space, ptx::Space::kLocal);
  EXPECT_EQ(places[1].address, 0U);
  EXPECT_EQ(places[3].address, 12U);
  EXPECT_EQ(flat.shared_bytes, 32);
  EXPECT_EQ(flat.local_bytes, 24);
  EXPECT_EQ(flat.stack_bytes, 12);  // one after the other
}

TEST(FlatKernel, TheStackIsThatOfTheDeepestCalls) {
  const FlatKernel flat = FlattenText(R"(
.func g() { .local .b8 l[100]; ret; }
.func f() { .local .b8 l[10]; call g; call g; ret; }
.entry k() { .local .b8 l[1]; call f; call g; ret; })");
  EXPECT_EQ(flat.stack_bytes, 111);
  EXPECT_EQ(flat.local_bytes, 311);
  EXPECT_EQ(Error(R"(.entry k() { .local .b8 a[1099511627776];
.local .b8 b[1]; ret; })"),
            "line 5: b does not fit: a thread's local variables have more than 2^40 bytes");
}

// All dynamic arrays begin at the same address, behind the static ones.
TEST(FlatKernel, DynamicSharedArraysBeginWhereTheOthersEnd) {
  const FlatKernel flat = FlattenText(R"(
.extern .shared .align 16 .b8 d[];
.extern .shared .align 4 .b32 e[];
.shared .b8 s[3];
.entry k() { .reg .b64 %rd<5>; mov.u64 %rd1, d; mov.u64 %rd2, e; mov.u64 %rd3, s; ret; })");
  const std::vector<Place> places = PlacesOfMoves(flat);
  ASSERT_EQ(places.size(), 3U);
  EXPECT_EQ(places[0].address, 16U);
  EXPECT_EQ(places[1].address, 16U);
  EXPECT_EQ(places[2].address, 0U);
  EXPECT_EQ(flat.shared_bytes, 16);
}

}  // namespace
}  // namespace stax::emulator
