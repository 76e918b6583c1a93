#include "ir/loop_op.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace stax {
namespace {

struct OpRow {
  std::string_view name;
  int arity;
  OpClass op_class;
};

// In the order of the enumerators.
constexpr OpRow kOps[] = {{"const", 0, OpClass::kSpecial},    {"index", 0, OpClass::kSpecial},
                          {"load", -1, OpClass::kSpecial},    {"store", 1, OpClass::kSpecial},
                          {"cast", 1, OpClass::kSpecial},     {"select", 3, OpClass::kSpecial},
                          {"indirect", 1, OpClass::kSpecial}, {"reduce", 1, OpClass::kSpecial},
#define STAX_OP_ROW(name, text, arity, cls) {text, arity, OpClass::cls},
                          STAX_SCALAR_OPS(STAX_OP_ROW)
#undef STAX_OP_ROW
};
constexpr int kNumOps = static_cast<int>(sizeof(kOps) / sizeof(kOps[0]));
static_assert(kNumOps == static_cast<int>(OpCode::kGe) + 1);

constexpr std::string_view kReduces[] = {"sum",    "prod",   "max",         "min",
                                         "argmax", "argmin", "argmax_last", "argmin_last"};

const OpRow& RowOf(OpCode code) { return kOps[static_cast<int>(code)]; }

// Names with their codes, sorted for binary search: the parser looks up every op it reads.
const std::vector<std::pair<std::string_view, OpCode>>& OpsByName() {
  static const auto* const table = [] {
    auto* t = new std::vector<std::pair<std::string_view, OpCode>>;
    for (int i = 0; i < kNumOps; ++i) t->emplace_back(kOps[i].name, static_cast<OpCode>(i));
    std::sort(t->begin(), t->end());
    return t;
  }();
  return *table;
}

}  // namespace

std::string_view OpName(OpCode code) { return RowOf(code).name; }

absl::StatusOr<OpCode> ParseOpCode(std::string_view name) {
  const auto& table = OpsByName();
  auto it = std::lower_bound(table.begin(), table.end(), name,
                             [](const auto& row, std::string_view key) { return row.first < key; });
  if (it != table.end() && it->first == name) return it->second;
  return absl::InvalidArgumentError(absl::StrCat("unknown op '", std::string(name), "'"));
}

int OpArity(OpCode code) { return RowOf(code).arity; }

OpClass ClassOf(OpCode code) { return RowOf(code).op_class; }

std::string_view ReduceName(ReduceKind kind) { return kReduces[static_cast<int>(kind)]; }

absl::StatusOr<ReduceKind> ParseReduceKind(std::string_view name) {
  std::string known;
  for (int i = 0; i < static_cast<int>(std::size(kReduces)); ++i) {
    if (kReduces[i] == name) return static_cast<ReduceKind>(i);
    absl::StrAppend(&known, i == 0 ? "" : ", ", std::string(kReduces[i]));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown reduction '", std::string(name), "', expected one of ", known));
}

}  // namespace stax
