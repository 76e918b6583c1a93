#include "compiler/lowering/op_weight.h"

namespace stax {

int OpWeight(OpCode code) {
  switch (code) {
    case OpCode::kDiv:
    case OpCode::kMod:
    case OpCode::kFmod:
    case OpCode::kSqrt:
    case OpCode::kRsqrt:
      return kDivisionWeight;
    case OpCode::kPow:
    case OpCode::kAtan2:
      return kTranscendentalWeight;
    case OpCode::kCeil:
    case OpCode::kFloor:
    case OpCode::kRound:
    case OpCode::kTrunc:
      return kCheapWeight;
    default:
      return ClassOf(code) == OpClass::kFloat ? kTranscendentalWeight : kCheapWeight;
  }
}

int BodyWeight(const LoopNest& nest) {
  int weight = 0;
  for (const LoopOp& op : nest.body) weight += OpWeight(op.code);
  return weight;
}

}  // namespace stax
