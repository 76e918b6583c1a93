// Over PTX of nvcc, clang and Stax: everything is parsed, nothing more than what is there.
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "runtime/emulator/ptx/module.h"
#include "runtime/emulator/ptx/parser.h"
#include "runtime/emulator/ptx/testdata_files.h"

namespace stax::ptx {
namespace {

// Without comments, .loc and debug sections.
std::string Strip(const std::string& text) {
  std::string stripped;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    line = absl::StripAsciiWhitespace(line.substr(0, line.find("//")));
    if (absl::StartsWith(line, ".section")) break;
    if (!absl::StartsWith(line, ".loc") && !absl::StartsWith(line, ".file"))
      absl::StrAppend(&stripped, line, "\n");
  }
  return stripped;
}

// How many statements, by ';', begin as instructions do once labels and braces in front are gone. A
// second way to find instructions, which knows nothing of their operands.
size_t CountInstructions(const std::string& text) {
  size_t count = 0;
  for (absl::string_view statement : absl::StrSplit(text, ';')) {
    for (;;) {
      statement = absl::StripLeadingAsciiWhitespace(statement);
      const size_t brace = statement.find_first_of("{}");
      const size_t blank = statement.find_first_of(" \t\n");
      const size_t colon = statement.find(':');
      if (brace == 0) {
        statement.remove_prefix(1);
      } else if (absl::StartsWith(statement, ".") && absl::StrContains(statement, ")\n") &&
                 brace != absl::string_view::npos) {
        statement.remove_prefix(brace);  // the head of a function
      } else if (colon < blank && statement.substr(colon, 2) != "::") {
        statement.remove_prefix(colon + 1);
      } else {
        break;
      }
    }
    const bool is_table = absl::StrContains(statement, ".callprototype");
    count += !statement.empty() && !is_table &&
             (statement[0] == '@' || absl::ascii_isalpha(statement[0]));
  }
  return count;
}

TEST(RealPtxTest, EveryInstructionIsThere) {
  const std::map<std::string, std::string> files = ReadTestdata();
  EXPECT_EQ(files.size(), 12u);
  for (const auto& [name, text] : files) {
    SCOPED_TRACE(name);
    const absl::StatusOr<Module> module = ParsePtx(text, name);
    ASSERT_TRUE(module.ok()) << module.status();
    size_t instructions = 0;
    const std::vector<std::string> lines = absl::StrSplit(text, '\n');
    for (const Function& function : module->functions) {
      instructions += function.instructions.size();
      for (const Instruction& i : function.instructions) {
        ASSERT_LE(static_cast<size_t>(i.line), lines.size());
        EXPECT_TRUE(absl::StrContains(lines[i.line - 1], i.Name())) << i.line << ": " << i.Name();
        if (i.guard >= 0) {
          const std::string guard =
              absl::StrCat("@", i.guard_negated ? "!" : "", function.registers[i.guard].name);
          EXPECT_TRUE(absl::StrContains(lines[i.line - 1], guard)) << i.line << ": " << guard;
        }
      }
    }
    EXPECT_EQ(instructions, CountInstructions(Strip(text)));
    EXPECT_EQ(module->target, absl::StrContains(name, "sm_80") ? "sm_80" : "sm_90a");
    EXPECT_EQ(module->has_debug_info, absl::StrContains(name, "debug"));
  }
}

Module Read(const std::string& name) {
  absl::StatusOr<Module> module = ParsePtx(ReadTestdata().at(name), name);
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *std::move(module) : Module();
}

const Variable* FindVariable(const Module& module, const std::string& name) {
  for (const Variable& v : module.variables) {
    if (v.name == name) return &v;
  }
  ADD_FAILURE() << name;
  return nullptr;
}

TEST(RealPtxTest, ValuesOfVariables) {
  const Module module = Read("memory_sm_80.ptx");
  const Variable* counters = FindVariable(module, "counters");  // {1, -2, 3} of four
  ASSERT_EQ(counters->initial.size(), 1u);
  EXPECT_EQ(counters->initial[0].bytes, std::string("\1\0\0\0\xFE\xFF\xFF\xFF\3", 9));
  EXPECT_EQ(counters->size_bytes, 16);
  const Variable* row = FindVariable(module, "row");  // its last member is &counters[2]
  ASSERT_EQ(row->initial.size(), 2u);
  EXPECT_EQ(row->initial[0].bytes.size(), 16u);
  EXPECT_EQ(row->initial[1].offset, 16);
  EXPECT_EQ(row->initial[1].symbol, "counters");
  EXPECT_EQ(row->initial[1].addend, 8);
  EXPECT_TRUE(row->initial[1].generic);
  EXPECT_TRUE(FindVariable(module, "managed_value")->is_managed);
  EXPECT_EQ(FindVariable(module, "big_value")->initial[0].bytes,
            "\x10\x32\x54\x76\x98\xBA\xDC\xFE");
}

TEST(RealPtxTest, KernelsAndFunctions) {
  const Module module = Read("control_sm_90a.ptx");
  const Function* calls = module.FindFunction("_Z5CallsPfi3Big");
  ASSERT_NE(calls, nullptr);
  EXPECT_TRUE(calls->is_entry);
  ASSERT_EQ(calls->parameters.size(), 3u);
  EXPECT_EQ(calls->parameters[2].size_bytes, 48);
  EXPECT_EQ(calls->parameters[2].align_bytes, 8);
  EXPECT_EQ(calls->prototypes.size(), 3u);
  // Four call sequences, each with parameters of its own.
  EXPECT_EQ(std::count_if(calls->variables.begin(), calls->variables.end(),
                          [](const Variable& v) { return absl::StartsWith(v.name, "param0"); }),
            4);
  const Function* big = module.FindFunction("_Z7MakeBig3Bigc");
  ASSERT_NE(big, nullptr);
  EXPECT_FALSE(big->is_declaration);
  EXPECT_EQ(big->returned[0].size_bytes, 48);
  EXPECT_TRUE(module.FindFunction("vprintf")->is_declaration);
}

TEST(RealPtxTest, JumpTable) {
  const Module module = Read("clang_sm_90a.ptx");
  const Function* jump = module.FindFunction("_Z4Jumpii");
  ASSERT_NE(jump, nullptr);
  ASSERT_EQ(jump->branch_targets.size(), 1u);
  EXPECT_EQ(jump->branch_targets[0].labels.size(), 7u);
}

TEST(RealPtxTest, PlacesInTheSource) {
  const Module module = Read("reduce_lineinfo_sm_90a.ptx");
  ASSERT_GT(module.files.size(), 1u);
  EXPECT_EQ(module.files[1], "/src/reduce.cu");
  size_t with_place = 0, instructions = 0;
  for (const Function& function : module.functions) {
    instructions += function.instructions.size();
    for (const Instruction& i : function.instructions) with_place += i.loc_file > 0;
  }
  EXPECT_EQ(with_place, instructions);
}

TEST(RealPtxTest, WhatStaxWrites) {
  const Module module = Read("stax_softmax_sm_90a.ptx");
  ASSERT_EQ(module.functions.size(), 1u);
  const Function& kernel = module.functions[0];
  EXPECT_EQ(kernel.max_threads[0], 128);
  ASSERT_EQ(kernel.parameters.size(), 2u);
  EXPECT_TRUE(kernel.parameters[0].is_pointer);
  EXPECT_EQ(kernel.parameters[0].pointer_space, Space::kGlobal);
  EXPECT_EQ(kernel.parameters[0].pointer_align_bytes, 16);
  ASSERT_EQ(kernel.variables.size(), 2u);
  EXPECT_EQ(kernel.variables[0].name, "exchange0");
  EXPECT_EQ(kernel.variables[0].space, Space::kShared);
  EXPECT_EQ(kernel.variables[0].size_bytes, 16);
}

}  // namespace
}  // namespace stax::ptx
