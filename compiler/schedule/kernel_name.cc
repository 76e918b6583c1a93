#include "compiler/schedule/kernel_name.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace stax {
namespace {

constexpr size_t kMaxOperations = 6;
constexpr size_t kMaxLength = 64;

std::string_view Prefix(KernelForm form) {
  switch (form) {
    case KernelForm::kPointwise:
      return "poi";
    case KernelForm::kLooped:
      return "red";
    case KernelForm::kPersistent:
      return "per";
  }
  return "";
}

bool IsZero(const LoopOp& op) {
  return op.code == OpCode::kConst && op.literal.f == 0 && op.literal.i == 0;
}

// What an op is called, empty if it says nothing about what the kernel is for.
std::string NameOf(const LoopNest& nest, const LoopOp& op) {
  if (op.code == OpCode::kReduce) return std::string(ReduceName(op.reduce));
  if (op.code == OpCode::kIndirect) return "gather";
  if (!IsScalarOp(op.code) || ClassOf(op.code) == OpClass::kCompare) return "";
  if (op.code == OpCode::kAnd || op.code == OpCode::kOr) return "";  // masks, as a rule
  if (op.code == OpCode::kMax &&
      (IsZero(nest.body[op.operands[0]]) || IsZero(nest.body[op.operands[1]])))
    return "relu";
  return std::string(OpName(op.code));
}

}  // namespace

std::string KernelName(KernelForm form, const LoopNest& nest, int number) {
  std::vector<std::string> names;
  for (const LoopOp& op : nest.body) {
    const std::string name = NameOf(nest, op);
    if (name.empty() || std::find(names.begin(), names.end(), name) != names.end()) continue;
    names.push_back(name);
  }
  if (names.empty()) names.emplace_back("copy");
  // The end of a long kernel says as much as its start: keep both.
  if (names.size() > kMaxOperations)
    names.erase(names.begin() + kMaxOperations / 2, names.end() - kMaxOperations / 2);
  const std::string prefix(Prefix(form));
  const auto text = [&] {
    return absl::StrCat(prefix, "_fused_", absl::StrJoin(names, "_"), "_", number);
  };
  while (text().size() > kMaxLength) names.pop_back();
  return text();
}

}  // namespace stax
