#include "runtime/emulator/isa/wmma.h"

#include <optional>

#include "absl/strings/string_view.h"
#include "runtime/emulator/isa/instruction_name.h"
#include "runtime/emulator/isa/mma.h"

namespace stax::isa {
namespace {

struct Shape {
  int m = 0, n = 0, k = 0;
};

std::optional<Shape> TakeShape(InstructionName& name) {
  static constexpr Shape kShapes[] = {{16, 16, 16}, {32, 8, 16}, {8, 32, 16},
                                      {16, 16, 8},  {8, 8, 4},   {8, 8, 32}};
  const int index =
      name.TakeOneOf({"m16n16k16", "m32n8k16", "m8n32k16", "m16n16k8", "m8n8k4", "m8n8k32"});
  if (index < 0) return std::nullopt;
  return kShapes[index];
}

// The depth that products of these elements have, which tells their shapes apart.
int DepthOf(MmaElement factor) {
  switch (factor) {
    case MmaElement::kF16:
    case MmaElement::kBF16:
    case MmaElement::kS8:
    case MmaElement::kU8:
      return 16;
    case MmaElement::kTF32:
      return 8;
    case MmaElement::kF64:
      return 4;
    case MmaElement::kS4:
    case MmaElement::kU4:
      return 32;
    default:
      return 0;  // no factors: f32, s32, f8
  }
}

bool IsAccumulator(MmaElement element, int k) {
  switch (element) {
    case MmaElement::kF16:
      return k == 16;
    case MmaElement::kF32:
      return k == 16 || k == 8;
    case MmaElement::kS32:
      return k == 16 || k == 32;
    case MmaElement::kF64:
      return k == 4;
    default:
      return false;
  }
}

// The accumulator of factors that have one type of it only.
MmaElement SumOf(MmaElement factor) {
  switch (factor) {
    case MmaElement::kF64:
      return MmaElement::kF64;
    case MmaElement::kBF16:
    case MmaElement::kTF32:
      return MmaElement::kF32;
    default:
      return MmaElement::kS32;
  }
}

MmaFragment Fragment(MmaMatrix matrix, MmaElement element, const Shape& shape) {
  MmaFragment result;
  switch (matrix) {
    case MmaMatrix::kA:
      result = MakeFragment(element, shape.m, shape.k);
      break;
    case MmaMatrix::kB:
      result = MakeFragment(element, shape.k, shape.n);
      break;
    case MmaMatrix::kAccumulator:
      result = MakeFragment(element, shape.m, shape.n);
      break;
  }
  result.wmma = true;
  // Factors of f16 have eight registers in every shape.
  constexpr int kF16Registers = 8;
  if (element == MmaElement::kF16 && matrix != MmaMatrix::kAccumulator) {
    result.registers = kF16Registers;
  }
  return result;
}

std::optional<WmmaOperation> FindMove(InstructionName name, WmmaMove move) {
  WmmaOperation result;
  result.move = move;
  const int matrix = move == WmmaMove::kLoad ? name.TakeOneOf({"a", "b", "c"}) : 2;
  if (move == WmmaMove::kStore && !name.Take("d")) return std::nullopt;
  if (matrix < 0 || !name.Take("sync") || !name.Take("aligned")) return std::nullopt;
  result.matrix = static_cast<MmaMatrix>(matrix);
  const int order = name.TakeOneOf({"row", "col"});
  result.column_major = order == 1;
  const std::optional<Shape> shape = TakeShape(name);
  name.TakeOneOf({"global", "shared", "shared::cta"});  // may be left out: a generic address
  const std::optional<MmaElement> element = TakeMmaElement(name);
  if (order < 0 || !shape.has_value() || !element.has_value() || !name.done()) return std::nullopt;
  const bool fits = result.matrix == MmaMatrix::kAccumulator ? IsAccumulator(*element, shape->k)
                                                             : DepthOf(*element) == shape->k;
  if (!fits) return std::nullopt;
  result.fragment = Fragment(result.matrix, *element, *shape);
  result.default_stride = result.column_major ? result.fragment.rows : result.fragment.columns;
  return result;
}

std::optional<WmmaOperation> FindProduct(InstructionName name) {
  if (!name.Take("sync") || !name.Take("aligned")) return std::nullopt;
  const int a_order = name.TakeOneOf({"row", "col"}), b_order = name.TakeOneOf({"row", "col"});
  const std::optional<Shape> shape = TakeShape(name);
  if (a_order < 0 || b_order < 0 || !shape.has_value()) return std::nullopt;
  const bool rounds = name.Take("rn");
  const std::optional<MmaElement> d = TakeMmaElement(name), second = TakeMmaElement(name);
  if (!d.has_value() || !second.has_value()) return std::nullopt;
  // Two types are those of d and c, of f16 factors.
  MmaElement a = MmaElement::kF16, b = MmaElement::kF16, c = *second;
  WmmaOperation result;
  result.move = WmmaMove::kMma;
  if (name.done()) {
    const bool sums = (*d == MmaElement::kF16 || *d == MmaElement::kF32) &&
                      (c == MmaElement::kF16 || c == MmaElement::kF32);
    if (!sums || rounds) return std::nullopt;
  } else {
    a = *second;
    const std::optional<MmaElement> third = TakeMmaElement(name), fourth = TakeMmaElement(name);
    result.mma.satfinite = name.Take("satfinite");
    if (!third.has_value() || !fourth.has_value() || !name.done()) return std::nullopt;
    b = *third;
    c = *fourth;
    if (a == MmaElement::kF16 || a != b || c != SumOf(a) || *d != c) return std::nullopt;
    if (rounds && a != MmaElement::kF64) return std::nullopt;
    if (result.mma.satfinite && c != MmaElement::kS32) return std::nullopt;
  }
  if (DepthOf(a) != shape->k) return std::nullopt;
  result.mma.a = Fragment(MmaMatrix::kA, a, *shape);
  result.mma.b = Fragment(MmaMatrix::kB, b, *shape);
  result.mma.c = Fragment(MmaMatrix::kAccumulator, c, *shape);
  result.mma.d = Fragment(MmaMatrix::kAccumulator, *d, *shape);
  return result;
}

}  // namespace

std::optional<WmmaOperation> FindWmma(absl::string_view text) {
  if (text.empty() || text.back() == '.') return std::nullopt;
  InstructionName name(text);
  if (name.opcode() != "wmma") return std::nullopt;
  switch (name.TakeOneOf({"load", "store", "mma"})) {
    case 0:
      return FindMove(name, WmmaMove::kLoad);
    case 1:
      return FindMove(name, WmmaMove::kStore);
    case 2:
      return FindProduct(name);
    default:
      return std::nullopt;
  }
}

}  // namespace stax::isa
