#include "compiler/codegen/line_info.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/Module.h"

namespace stax {
namespace {

constexpr int kHeaderLine = 1;

bool HasLine(const llvm::Instruction& i) {
  return i.getDebugLoc() && i.getDebugLoc().getLine() != 0;
}

constexpr absl::string_view kLoc = "\t.loc\t1 ";

// "\t.loc\t1 7 0" -> 7
bool ParseLoc(absl::string_view text, int* line) {
  return absl::ConsumePrefix(&text, kLoc) && absl::ConsumeSuffix(&text, " 0") &&
         absl::SimpleAtoi(text, line);
}

// Labels that nothing refers to, and an empty section.
bool IsDebugOnly(absl::string_view text) {
  if (absl::StartsWith(text, "\t.section\t.debug_")) return true;
  return absl::StartsWith(text, "$L__func_") || absl::StartsWith(text, "$L__tmp");
}

llvm::DebugLoc LineOfUser(const llvm::Instruction& i) {
  for (const llvm::User* user : i.users()) {
    const auto* instruction = llvm::dyn_cast<llvm::Instruction>(user);
    if (instruction != nullptr && HasLine(*instruction)) return instruction->getDebugLoc();
  }
  return {};
}

llvm::DebugLoc LineOfOperand(const llvm::Instruction& i) {
  for (const llvm::Value* operand : i.operands()) {
    const auto* instruction = llvm::dyn_cast<llvm::Instruction>(operand);
    if (instruction != nullptr && HasLine(*instruction)) return instruction->getDebugLoc();
  }
  return {};
}

}  // namespace

void AddLineInfo(llvm::Function& function) {
  llvm::Module& module = *function.getParent();
  module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
  llvm::DIBuilder builder(module);
  llvm::DIFile* file = builder.createFile(function.getName().str() + ".nest", "");
  builder.createCompileUnit(llvm::dwarf::DW_LANG_C, file, "stax", /*isOptimized=*/true, "", 0, "",
                            llvm::DICompileUnit::DebugDirectivesOnly);
  function.setSubprogram(builder.createFunction(
      file, function.getName(), "", file, kHeaderLine,
      builder.createSubroutineType(builder.getOrCreateTypeArray({})), kHeaderLine,
      llvm::DINode::FlagZero, llvm::DISubprogram::SPFlagDefinition));
  builder.finalize();
}

LineScope::LineScope(const EmitContext& context, int line)
    : builder_(context.builder), before_(builder_.getCurrentDebugLocation()) {
  llvm::DISubprogram* scope = builder_.GetInsertBlock()->getParent()->getSubprogram();
  if (scope == nullptr) return;
  builder_.SetCurrentDebugLocation(
      llvm::DILocation::get(builder_.getContext(), line, /*Column=*/0, scope));
}

void CompleteLines(llvm::Function& function) {
  llvm::DISubprogram* scope = function.getSubprogram();
  if (scope == nullptr) return;
  // Users before what they use, but for those around a loop.
  for (llvm::BasicBlock* block : llvm::post_order(&function)) {
    for (llvm::Instruction& i : llvm::reverse(*block))
      if (!HasLine(i)) i.setDebugLoc(LineOfUser(i));
  }
  const llvm::ReversePostOrderTraversal<llvm::Function*> forward(&function);
  for (llvm::BasicBlock* block : forward) {
    for (llvm::Instruction& i : *block) {
      if (!HasLine(i)) i.setDebugLoc(LineOfOperand(i));
      if (!HasLine(i))
        i.setDebugLoc(llvm::DILocation::get(function.getContext(), kHeaderLine, 0, scope));
    }
  }
}

// LLVM gives line 0 to what it has moved into the block of its use, in front of it.
std::string KeepLinesOnly(const std::string& ptx) {
  std::vector<absl::string_view> lines = absl::StrSplit(ptx, '\n');
  std::vector<int> locs(lines.size(), -1);
  for (size_t i = lines.size(), next = kHeaderLine; i-- > 0;) {
    if (!ParseLoc(lines[i], &locs[i])) continue;
    if (locs[i] == 0) locs[i] = next;
    next = locs[i];
  }
  std::string kept;
  kept.reserve(ptx.size());
  int current = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (IsDebugOnly(lines[i])) continue;
    if (locs[i] < 0) {
      absl::StrAppend(&kept, i > 0 ? "\n" : "", lines[i]);
    } else if (locs[i] != current) {
      current = locs[i];
      absl::StrAppend(&kept, "\n", kLoc, current, " 0");
    }
  }
  return kept;
}

std::string WithoutLines(const std::string& ptx) {
  return absl::StrJoin(absl::StrSplit(ptx, '\n',
                                      [](absl::string_view text) {
                                        return !absl::StartsWith(text, "\t.loc\t") &&
                                               !absl::StartsWith(text, "\t.file\t");
                                      }),
                       "\n");
}

}  // namespace stax
