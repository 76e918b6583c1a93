#include "compiler/codegen/testing/op_nests.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "compiler/codegen/math/math.h"
#include "compiler/codegen/testing/nest_kernel.h"
#include "ir/op_semantics.h"

namespace stax {
namespace {

constexpr int kElements = 333;

std::string Name(DType t) { return std::string(DTypeName(t)); }

}  // namespace

std::vector<DType> AllTypes() {
  std::vector<DType> types;
  for (int i = 0; i < kNumDTypes; ++i) types.push_back(static_cast<DType>(i));
  return types;
}

std::vector<OpCode> OpsOnType(DType type, bool math) {
  std::vector<OpCode> ops;
#define STAX_OP_CODE(name, text, arity, cls)                                                 \
  if (OpAllowsType(OpCode::name, type) && (IsFloat(type) && IsMathOp(OpCode::name)) == math) \
    ops.push_back(OpCode::name);
  STAX_SCALAR_OPS(STAX_OP_CODE)
#undef STAX_OP_CODE
  return ops;
}

LoopNest OpsNest(const std::vector<OpCode>& ops, DType type) {
  std::string buffers = absl::StrCat("  buffer a: ", Name(type), "[", kElements,
                                     "] in\n  buffer b: ", Name(type), "[", kElements, "] in\n");
  std::string body =
      absl::StrCat("  %0 = load a[i0] : ", Name(type), "\n  %1 = load b[i0] : ", Name(type), "\n");
  int id = 2;
  for (OpCode code : ops) {
    const std::string op(OpName(code));
    const std::string result = Name(ClassOf(code) == OpClass::kCompare ? DType::kBool : type);
    absl::StrAppend(&buffers, "  buffer o_", op, ": ", result, "[", kElements, "] out\n");
    absl::StrAppend(&body, "  %", id, " = ", op,
                    OpArity(code) == 2 ? " %0, %1 : " : " %0 : ", result, "\n  store o_", op,
                    "[i0], %", id, "\n");
    id += 2;
  }
  return NestOrDie(
      absl::StrCat("nest ops {\n", buffers, "  loop i0: ", kElements, "\n", body, "}\n"));
}

LoopNest CastsNest(DType type) {
  const std::string from = Name(type);
  std::string buffers = absl::StrCat("  buffer a: ", from, "[", kElements, "] in\n");
  std::string body = absl::StrCat("  %0 = load a[i0] : ", from, "\n");
  int id = 1;
  for (DType to : AllTypes()) {
    absl::StrAppend(&buffers, "  buffer o_", Name(to), ": ", Name(to), "[", kElements, "] out\n");
    absl::StrAppend(&body, "  %", id, " = cast %0 : ", Name(to), "\n  store o_", Name(to),
                    "[i0], %", id, "\n");
    id += 2;
  }
  return NestOrDie(
      absl::StrCat("nest casts {\n", buffers, "  loop i0: ", kElements, "\n", body, "}\n"));
}

LoopNest ReduceNest(const std::string& kind, DType type, int rows, int length, bool inner) {
  const bool arg = kind.substr(0, 3) == "arg";
  return NestOrDie(absl::Substitute(
      R"(nest reduction {
  buffer x: $0[$1] in
  buffer o: $2[$3] out
  loop i0: $3
  reduce r0: $4
  %0 = load x[$5] : $0
  %1 = reduce.$6 %0 : $2
  store o[i0], %1
})",
      Name(type), rows * length, arg ? "i64" : Name(type), rows, length,
      inner ? absl::StrCat(length, "*i0 + r0") : absl::StrCat("i0 + ", rows, "*r0"), kind));
}

}  // namespace stax
