// Moves, arithmetic, comparisons and conversions.
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/emulator/isa/compare.h"
#include "runtime/emulator/translate/warp_emitter.h"

namespace stax::emulator {

using llvm::Value;
using Kind = ScalarType::Kind;

namespace {

// The modifiers of an instruction but for its type, which is the last.
bool OnlyModifiers(const ptx::Instruction& instruction, std::initializer_list<const char*> known) {
  for (size_t m = 0; m + 1 < instruction.modifiers.size(); ++m) {
    bool found = false;
    for (const char* name : known) found |= instruction.modifiers[m] == name;
    if (!found) return false;
  }
  return true;
}

bool TypeOf(const ptx::Instruction& instruction, ScalarType& type) {
  return !instruction.modifiers.empty() && ParseScalarType(instruction.modifiers.back(), type);
}

}  // namespace

// mov: also packs vectors into wider registers and takes them apart.
absl::Status WarpEmitter::Move(const Instruction& instruction) {
  ScalarType type;
  if (instruction.operands.size() != 2 || !TypeOf(instruction, type))
    return Unsupported(instruction);
  const Operand& to = instruction.operands[0];
  const Operand& from = instruction.operands[1];
  const std::vector<Operand>& parts = to.elements.empty() ? from.elements : to.elements;
  if (!parts.empty() && type.bits % static_cast<int>(parts.size()) != 0)
    return Unsupported(instruction, absl::StrCat("it has ", parts.size(), " parts"));
  if (to.kind == Operand::Kind::kVector && !parts.empty()) {
    absl::StatusOr<Value*> whole = Get(from, type.bits);
    if (!whole.ok()) return whole.status();
    const int bits = type.bits / static_cast<int>(to.elements.size());
    for (size_t i = 0; i < to.elements.size(); ++i) {
      Value* part = builder_.CreateLShr(*whole, Splat(i * bits, type.bits));
      Set(to.elements[i], builder_.CreateTrunc(part, LaneType(bits)));
    }
    return absl::OkStatus();
  }
  if (from.kind == Operand::Kind::kVector && !parts.empty()) {
    const int bits = type.bits / static_cast<int>(from.elements.size());
    Value* whole = Splat(0, type.bits);
    for (size_t i = 0; i < from.elements.size(); ++i) {
      absl::StatusOr<Value*> part = Get(from.elements[i], bits);
      if (!part.ok()) return part.status();
      Value* wide = builder_.CreateZExt(*part, LaneType(type.bits));
      whole = builder_.CreateOr(whole, builder_.CreateShl(wide, Splat(i * bits, type.bits)));
    }
    Set(to, whole);
    return absl::OkStatus();
  }
  absl::StatusOr<Value*> value = Get(from, type.bits);
  if (!value.ok()) return value.status();
  Set(to, *value);
  return absl::OkStatus();
}

absl::Status WarpEmitter::Select(const Instruction& instruction) {
  ScalarType type;
  if (instruction.operands.size() != 4 || !TypeOf(instruction, type))
    return Unsupported(instruction);
  absl::StatusOr<Value*> yes = Get(instruction.operands[1], type.bits);
  if (!yes.ok()) return yes.status();
  absl::StatusOr<Value*> no = Get(instruction.operands[2], type.bits);
  if (!no.ok()) return no.status();
  absl::StatusOr<Value*> which = Get(instruction.operands[3], 1);
  if (!which.ok()) return which.status();
  Set(instruction.operands[0], builder_.CreateSelect(*which, *yes, *no));
  return absl::OkStatus();
}

namespace {

// How many sources an operation has that LLVM may do; 0: it is none of these.
size_t SimpleSources(const std::string& opcode) {
  static const auto* const sources = new std::map<std::string, size_t>{
      {"add", 2}, {"sub", 2}, {"mul", 2}, {"fma", 3},     {"mad", 3}, {"neg", 1},
      {"abs", 1}, {"min", 2}, {"max", 2}, {"and", 2},     {"or", 2},  {"xor", 2},
      {"not", 1}, {"shl", 2}, {"shr", 2}, {"copysign", 2}};
  auto found = sources->find(opcode);
  return found == sources->end() ? 0 : found->second;
}

}  // namespace

// Arithmetic that LLVM has. False: not one of these.
bool WarpEmitter::EmitSimple(const Instruction& i, absl::Status& status) {
  ScalarType type;
  const size_t sources = SimpleSources(i.opcode);
  if (sources == 0 || i.operands.size() != sources + 1 || !TypeOf(i, type) ||
      i.operands[0].kind != Operand::Kind::kRegister)
    return false;
  const absl::StatusOr<Value*> result = type.kind == Kind::kFloat ? EmitFloat(i, type)
                                        : i.opcode == "mul" || i.opcode == "mad"
                                            ? EmitMultiply(i, type)
                                            : EmitInteger(i, type);
  status = result.status();
  if (status.ok() && *result == nullptr) return false;
  if (status.ok()) Set(i.operands[0], *result);
  return true;
}

// Of f32 and f64, rounded to nearest. Null: not LLVM's.
absl::StatusOr<Value*> WarpEmitter::EmitFloat(const Instruction& i, const ScalarType& type) {
  if (type.bits == 16 || !OnlyModifiers(i, {"rn", "sat"})) return nullptr;
  std::vector<Value*> args;
  for (size_t o = 1; o < i.operands.size(); ++o) {
    absl::StatusOr<Value*> value = GetFloat(i.operands[o], type);
    if (!value.ok()) return value;
    args.push_back(*value);
  }
  const std::string& op = i.opcode;
  llvm::Type* floats = args[0]->getType();
  Value* result = nullptr;
  if (op == "add") result = builder_.CreateFAdd(args[0], args[1]);
  if (op == "sub") result = builder_.CreateFSub(args[0], args[1]);
  if (op == "mul") result = builder_.CreateFMul(args[0], args[1]);
  if (op == "fma" || op == "mad")
    result = builder_.CreateIntrinsic(llvm::Intrinsic::fma, {floats}, args);
  if (op == "neg") result = builder_.CreateFNeg(args[0]);
  if (op == "abs") result = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, args[0]);
  // copysign d, a, b: the sign of a, the rest of b.
  if (op == "copysign")
    result = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, args[1], args[0]);
  if (result != nullptr && i.Has("sat")) {  // to [0, 1]; NaN becomes 0
    Value* zero = llvm::Constant::getNullValue(floats);
    Value* one = llvm::ConstantFP::get(floats, 1.0);
    result = builder_.CreateSelect(builder_.CreateFCmpOGT(result, zero), result, zero);
    result = builder_.CreateSelect(builder_.CreateFCmpOLT(result, one), result, one);
  }
  return result;
}

// Integers, bits and predicates, without mul and mad. Null: not LLVM's.
absl::StatusOr<Value*> WarpEmitter::EmitInteger(const Instruction& i, const ScalarType& type) {
  const std::string& op = i.opcode;
  const bool is_shift = op == "shl" || op == "shr";
  const bool is_logic = op == "and" || op == "or" || op == "xor" || op == "not";
  const bool has_arithmetic = type.kind != Kind::kPred && type.bits >= 16 && type.bits <= 64;
  if (!OnlyModifiers(i, {}) || !(is_logic || has_arithmetic)) return nullptr;
  std::vector<Value*> args;
  for (size_t o = 1; o < i.operands.size(); ++o) {
    absl::StatusOr<Value*> value = Get(i.operands[o], is_shift && o == 2 ? 32 : type.bits);
    if (!value.ok()) return value;
    args.push_back(*value);
  }
  const bool is_signed = type.kind == Kind::kSigned;
  if (is_shift) return Shift(args[0], args[1], op == "shl", is_signed);
  if (op == "and") return builder_.CreateAnd(args[0], args[1]);
  if (op == "or") return builder_.CreateOr(args[0], args[1]);
  if (op == "xor") return builder_.CreateXor(args[0], args[1]);
  if (op == "not") return builder_.CreateNot(args[0]);
  if (op == "add") return builder_.CreateAdd(args[0], args[1]);
  if (op == "sub") return builder_.CreateSub(args[0], args[1]);
  if (op == "neg") return builder_.CreateNeg(args[0]);
  if (op == "abs")
    return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, args[0], builder_.getFalse());
  if (op == "min")
    return builder_.CreateBinaryIntrinsic(is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin,
                                          args[0], args[1]);
  if (op == "max")
    return builder_.CreateBinaryIntrinsic(is_signed ? llvm::Intrinsic::smax : llvm::Intrinsic::umax,
                                          args[0], args[1]);
  return nullptr;
}

// Counts of the width and more shift all bits out.
Value* WarpEmitter::Shift(Value* value, Value* count, bool left, bool is_signed) {
  const auto bits = static_cast<int>(value->getType()->getScalarSizeInBits());
  Value* in_range = builder_.CreateICmpULT(count, Splat(static_cast<uint64_t>(bits), 32));
  Value* last = Splat(static_cast<uint64_t>(bits - 1), 32);
  Value* amount =
      builder_.CreateZExtOrTrunc(builder_.CreateSelect(in_range, count, last), LaneType(bits));
  if (!left && is_signed) return builder_.CreateAShr(value, amount);
  Value* shifted = left ? builder_.CreateShl(value, amount) : builder_.CreateLShr(value, amount);
  return builder_.CreateSelect(in_range, shifted, Splat(0, bits));
}

// mul and mad of integers, .lo and .wide. Null: not LLVM's.
absl::StatusOr<Value*> WarpEmitter::EmitMultiply(const Instruction& i, const ScalarType& type) {
  if (type.kind == Kind::kPred || type.bits < 16 || type.bits > 64 ||
      !OnlyModifiers(i, {"lo", "wide"}))
    return nullptr;
  const int result_bits = i.Has("wide") ? 2 * type.bits : type.bits;
  Value* args[2];
  for (int s = 0; s < 2; ++s) {
    absl::StatusOr<Value*> value = Get(i.operands[s + 1], type.bits);
    if (!value.ok()) return value;
    args[s] = type.kind == Kind::kSigned ? builder_.CreateSExt(*value, LaneType(result_bits))
                                         : builder_.CreateZExt(*value, LaneType(result_bits));
  }
  Value* product = builder_.CreateMul(args[0], args[1]);
  if (i.opcode == "mul") return product;
  absl::StatusOr<Value*> addend = Get(i.operands[3], result_bits);
  if (!addend.ok()) return addend;
  return builder_.CreateAdd(product, *addend);
}

namespace {

struct Predicates {
  llvm::CmpInst::Predicate signed_int, unsigned_int, ordered, unordered;
};

// The comparison operators of section 9.3 that integers and floats share; "u" forms are unordered.
bool FindPredicate(const std::string& name, const ScalarType& type,
                   llvm::CmpInst::Predicate& predicate) {
  using P = llvm::CmpInst;
  static const auto* const table = new std::map<std::string, Predicates>{
      {"eq", {P::ICMP_EQ, P::ICMP_EQ, P::FCMP_OEQ, P::FCMP_UEQ}},
      {"ne", {P::ICMP_NE, P::ICMP_NE, P::FCMP_ONE, P::FCMP_UNE}},
      {"lt", {P::ICMP_SLT, P::ICMP_ULT, P::FCMP_OLT, P::FCMP_ULT}},
      {"le", {P::ICMP_SLE, P::ICMP_ULE, P::FCMP_OLE, P::FCMP_ULE}},
      {"gt", {P::ICMP_SGT, P::ICMP_UGT, P::FCMP_OGT, P::FCMP_UGT}},
      {"ge", {P::ICMP_SGE, P::ICMP_UGE, P::FCMP_OGE, P::FCMP_UGE}}};
  static const auto* const same = new std::map<std::string, std::string>{
      {"lo", "lt"}, {"ls", "le"}, {"hi", "gt"}, {"hs", "ge"}};
  if (type.kind == Kind::kFloat) {
    if (name == "num" || name == "nan") {
      predicate = name == "num" ? P::FCMP_ORD : P::FCMP_UNO;
      return true;
    }
    const bool unordered = name.size() == 3 && name.back() == 'u';
    auto found = table->find(unordered ? name.substr(0, 2) : name);
    if (found == table->end()) return false;
    predicate = unordered ? found->second.unordered : found->second.ordered;
    return true;
  }
  auto alias = same->find(name);
  auto found = table->find(alias == same->end() ? name : alias->second);
  if (found == table->end()) return false;
  const bool is_signed = type.kind == Kind::kSigned && alias == same->end();
  predicate = is_signed ? found->second.signed_int : found->second.unsigned_int;
  return true;
}

}  // namespace

// setp.op[.bool][.ftz].type p[|q], a, b [, c]
absl::Status WarpEmitter::SetPredicate(const Instruction& i) {
  ScalarType type;
  llvm::CmpInst::Predicate predicate;
  const bool simple = TypeOf(i, type) && i.operands.size() >= 3 && type.kind != Kind::kPred &&
                      !(type.kind == Kind::kFloat && type.bits == 16) && !i.Has("ftz") &&
                      FindPredicate(i.modifiers.front(), type, predicate);
  if (!simple) {
    const std::optional<isa::CompareOperation> operation = isa::FindCompareOperation(i.Name());
    return operation.has_value() ? CallCompare(i, *operation) : Unsupported(i);
  }
  const bool is_float = type.kind == Kind::kFloat;
  absl::StatusOr<Value*> a =
      is_float ? GetFloat(i.operands[1], type) : Get(i.operands[1], type.bits);
  if (!a.ok()) return a.status();
  absl::StatusOr<Value*> b =
      is_float ? GetFloat(i.operands[2], type) : Get(i.operands[2], type.bits);
  if (!b.ok()) return b.status();
  Value* holds =
      is_float ? builder_.CreateFCmp(predicate, *a, *b) : builder_.CreateICmp(predicate, *a, *b);
  return FinishCompare(i, holds, builder_.CreateNot(holds));
}

// p gets `holds`, q `fails`, both combined with the third source where there is one.
absl::Status WarpEmitter::FinishCompare(const Instruction& i, Value* holds, Value* fails) {
  if (i.operands.size() > 3) {
    absl::StatusOr<Value*> c = Get(i.operands[3], 1);
    if (!c.ok()) return c.status();
    auto combine = [&](Value* value) {
      if (i.Has("or")) return builder_.CreateOr(value, *c);
      return i.Has("xor") ? builder_.CreateXor(value, *c) : builder_.CreateAnd(value, *c);
    };
    holds = combine(holds);
    fails = combine(fails);
  }
  SetWithPredicate(i.operands[0], holds, fails);
  return absl::OkStatus();
}

// cvt between integers without saturation, and those between integers and f32, f64 that round as
// LLVM does.
bool WarpEmitter::Convert(const Instruction& i, absl::Status& status) {
  const size_t count = i.modifiers.size();
  ScalarType to;
  ScalarType from;
  if (count < 2 || i.operands.size() != 2 || !ParseScalarType(i.modifiers[count - 1], from) ||
      !ParseScalarType(i.modifiers[count - 2], to))
    return false;
  auto is_int = [](const ScalarType& t) {
    return t.kind == Kind::kSigned || t.kind == Kind::kUnsigned;
  };
  const bool to_wide_float = to.kind == Kind::kFloat && to.bits >= 32;
  const bool from_wide_float = from.kind == Kind::kFloat && from.bits >= 32;
  const bool integers = is_int(to) && is_int(from) && count == 2;
  const bool from_int = to_wide_float && is_int(from) && count == 3 && i.modifiers[0] == "rn";
  const bool floats = to_wide_float && from_wide_float &&
                      ((count == 2 && to.bits >= from.bits) ||
                       (count == 3 && i.modifiers[0] == "rn" && to.bits < from.bits));
  if (!integers && !from_int && !floats) return false;
  absl::StatusOr<Value*> source =
      from.kind == Kind::kFloat ? GetFloat(i.operands[1], from) : Get(i.operands[1], from.bits);
  if (!source.ok()) {
    status = source.status();
    return true;
  }
  llvm::Type* scalar = to.bits == 64 ? builder_.getDoubleTy() : builder_.getFloatTy();
  llvm::Type* float_lanes = llvm::FixedVectorType::get(scalar, kWarpLanes);
  Value* result = nullptr;
  if (integers) {
    result = from.kind == Kind::kSigned ? builder_.CreateSExtOrTrunc(*source, LaneType(to.bits))
                                        : builder_.CreateZExtOrTrunc(*source, LaneType(to.bits));
  } else if (from_int) {
    result = from.kind == Kind::kSigned ? builder_.CreateSIToFP(*source, float_lanes)
                                        : builder_.CreateUIToFP(*source, float_lanes);
  } else {
    result = builder_.CreateFPCast(*source, float_lanes);
  }
  Set(i.operands[0], result, to.kind == Kind::kSigned);
  return true;
}

// A function of isa/: sources and the result are arrays in memory.
absl::Status WarpEmitter::CallOperation(const Instruction& i, const isa::WarpOperation& operation) {
  if (static_cast<int>(i.operands.size()) != operation.sources + 1)
    return Unsupported(i, absl::StrCat("it has ", i.operands.size(), " operands; expected ",
                                       operation.sources + 1));
  const Operand& to = i.operands[0];
  if (to.kind != Operand::Kind::kRegister) return Unsupported(i, "its result must be a register");
  std::vector<Value*> args = {active_bits_};
  const int slots = operation.function4 != nullptr ? 4 : 3;
  for (int s = 0; s < slots; ++s) {
    Value* source = llvm::ConstantPointerNull::get(builder_.getPtrTy());
    if (s < operation.sources) {
      absl::StatusOr<Value*> address =
          SourceAddress(i.operands[s + 1], operation.source_bytes[s], s);
      if (!address.ok()) return address.status();
      source = *address;
    }
    args.push_back(source);
  }
  const bool in_place = RegisterBits(to.reg) == 8 * operation.result_bytes;
  Value* result = nullptr;
  if (in_place) {
    Flush(to.reg);  // lanes that the guard holds back keep what they have
    result = Home(to.reg);
  } else {
    result = Scratch(4, kWarpLanes * operation.result_bytes);
  }
  args.push_back(result);
  const void* function = operation.function4 != nullptr
                             ? reinterpret_cast<const void*>(operation.function4)
                             : reinterpret_cast<const void*>(operation.function);
  CallRuntime(function, builder_.getVoidTy(), args);
  if (in_place) {
    values_.erase(to.reg);
  } else {
    Set(to,
        builder_.CreateAlignedLoad(LaneType(8 * operation.result_bytes), result, llvm::Align(64)),
        operation.result_signed);
  }
  return absl::OkStatus();
}

absl::Status WarpEmitter::CallCompare(const Instruction& i,
                                      const isa::CompareOperation& operation) {
  if (static_cast<int>(i.operands.size()) <= operation.sources) return Unsupported(i);
  Value* sources[2] = {nullptr, llvm::ConstantPointerNull::get(builder_.getPtrTy())};
  for (int s = 0; s < operation.sources; ++s) {
    absl::StatusOr<Value*> address = SourceAddress(i.operands[s + 1], operation.source_bytes, s);
    if (!address.ok()) return address.status();
    sources[s] = *address;
  }
  auto call = [&](isa::CompareFunction function) {
    return FromBits(CallRuntime(reinterpret_cast<const void*>(function), builder_.getInt32Ty(),
                                {lanes_argument_, sources[0], sources[1]}));
  };
  Value* holds = call(operation.function);
  Value* fails = operation.high != nullptr ? call(operation.high) : builder_.CreateNot(holds);
  return FinishCompare(i, holds, fails);
}

// The carry flags of all lanes are a word of the warp's.
absl::Status WarpEmitter::CallCarry(const Instruction& i, const isa::CarryOperation& operation) {
  if (static_cast<int>(i.operands.size()) != operation.sources + 1 || i.operands[0].reg < 0 ||
      RegisterBits(i.operands[0].reg) != 8 * operation.bytes)
    return Unsupported(i);
  Value* sources[3];
  for (int s = 0; s < 3; ++s) {
    sources[s] = llvm::ConstantPointerNull::get(builder_.getPtrTy());
    if (s >= operation.sources) continue;
    absl::StatusOr<Value*> address = SourceAddress(i.operands[s + 1], operation.bytes, s);
    if (!address.ok()) return address.status();
    sources[s] = *address;
  }
  const int to = i.operands[0].reg;
  Flush(to);
  constexpr size_t kCarry = offsetof(WarpContext, carry);
  Value* carry =
      CallRuntime(reinterpret_cast<const void*>(operation.function), builder_.getInt32Ty(),
                  {active_bits_, LoadMember(kCarry), sources[0], sources[1], sources[2], Home(to)});
  StoreMember(kCarry, carry);
  values_.erase(to);
  return absl::OkStatus();
}

}  // namespace stax::emulator
