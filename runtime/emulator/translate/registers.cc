// Registers, operands and constants of the translated code.
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/emulator/translate/warp_emitter.h"

namespace stax::emulator {

using llvm::Value;

llvm::Type* WarpEmitter::LaneType(int bits) const {
  return llvm::FixedVectorType::get(llvm::IntegerType::get(module_.getContext(), bits), kWarpLanes);
}

int WarpEmitter::RegisterBits(int reg) const {
  const ptx::Type type = kernel_.flat.registers[reg].type;
  return type == ptx::Type::kPred ? 1 : 8 * ptx::SizeBytes(type);
}

Value* WarpEmitter::Splat(uint64_t value, int bits) {
  return llvm::ConstantInt::get(LaneType(bits), llvm::APInt(bits, value, false, true));
}

Value* WarpEmitter::ToBits(Value* predicate) {
  return builder_.CreateBitCast(predicate, builder_.getInt32Ty());
}
Value* WarpEmitter::FromBits(Value* mask) { return builder_.CreateBitCast(mask, LaneType(1)); }

Value* WarpEmitter::Pointer(const void* address) {
  return builder_.CreateIntToPtr(builder_.getInt64(reinterpret_cast<uintptr_t>(address)),
                                 builder_.getPtrTy());
}

Value* WarpEmitter::Member(size_t offset) {
  return builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), context_, offset);
}
Value* WarpEmitter::LoadMember(size_t offset) {
  return builder_.CreateLoad(builder_.getInt32Ty(), Member(offset));
}
void WarpEmitter::StoreMember(size_t offset, Value* value) {
  builder_.CreateStore(value, Member(offset));
}

llvm::AllocaInst* WarpEmitter::Scratch(int index, int bytes) {
  constexpr int kScratchBytes = kWarpLanes * 8 * 8;  // eight registers of 8 bytes
  constexpr int kAlign = 64;
  if (static_cast<int>(scratch_.size()) <= index) scratch_.resize(index + 1, nullptr);
  if (scratch_[index] == nullptr) {
    llvm::IRBuilder<> at_entry(entry_, entry_->begin());
    scratch_[index] = at_entry.CreateAlloca(
        llvm::ArrayType::get(builder_.getInt8Ty(), bytes > kScratchBytes ? bytes : kScratchBytes));
    scratch_[index]->setAlignment(llvm::Align(kAlign));
  }
  return scratch_[index];
}

Value* WarpEmitter::Home(int reg) {
  return builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), registers_, homes_[reg]);
}

Value* WarpEmitter::Read(int reg) {
  auto held = values_.find(reg);
  if (held != values_.end()) return held->second.value;
  const int bits = RegisterBits(reg);
  Value* value = nullptr;
  if (bits == 1) {
    value = FromBits(builder_.CreateLoad(builder_.getInt32Ty(), Home(reg)));
  } else {
    value = builder_.CreateAlignedLoad(LaneType(bits), Home(reg), llvm::Align(64));
  }
  values_[reg] = {value, false};
  return value;
}

void WarpEmitter::Write(int reg, Value* value) {
  if (guarded_) value = builder_.CreateSelect(active_, value, Read(reg));
  values_[reg] = {value, true};
}

// Lanes outside the group keep what they have.
void WarpEmitter::Flush(int reg) {
  auto held = values_.find(reg);
  if (held == values_.end() || !held->second.dirty) return;
  const int bits = RegisterBits(reg);
  if (bits == 1) {
    Value* old = builder_.CreateLoad(builder_.getInt32Ty(), Home(reg));
    Value* keep = builder_.CreateAnd(old, builder_.CreateNot(lanes_argument_));
    Value* fresh = builder_.CreateAnd(ToBits(held->second.value), lanes_argument_);
    builder_.CreateStore(builder_.CreateOr(keep, fresh), Home(reg));
  } else {
    Value* old = builder_.CreateAlignedLoad(LaneType(bits), Home(reg), llvm::Align(64));
    Value* merged = builder_.CreateSelect(FromBits(lanes_argument_), held->second.value, old);
    builder_.CreateAlignedStore(merged, Home(reg), llvm::Align(64));
  }
  held->second.dirty = false;
}

void WarpEmitter::FlushLive(int block) {
  const std::vector<int>& live = flow_.blocks[block].live_out;
  std::vector<int> registers;
  for (const auto& [reg, held] : values_) {
    if (held.dirty && std::binary_search(live.begin(), live.end(), reg)) registers.push_back(reg);
  }
  for (int reg : registers) Flush(reg);
}

namespace {

// Special registers that are the same for all lanes.
size_t UniformOffset(const std::string& name) {
  static const auto* const offsets = new std::map<std::string, size_t>{
      {"%ntid.x", offsetof(WarpContext, ntid)},
      {"%ntid.y", offsetof(WarpContext, ntid) + 4},
      {"%ntid.z", offsetof(WarpContext, ntid) + 8},
      {"%ctaid.x", offsetof(WarpContext, ctaid)},
      {"%ctaid.y", offsetof(WarpContext, ctaid) + 4},
      {"%ctaid.z", offsetof(WarpContext, ctaid) + 8},
      {"%nctaid.x", offsetof(WarpContext, nctaid)},
      {"%nctaid.y", offsetof(WarpContext, nctaid) + 4},
      {"%nctaid.z", offsetof(WarpContext, nctaid) + 8},
      {"%cluster_ctaid.x", offsetof(WarpContext, cluster_ctaid)},
      {"%cluster_ctaid.y", offsetof(WarpContext, cluster_ctaid) + 4},
      {"%cluster_ctaid.z", offsetof(WarpContext, cluster_ctaid) + 8},
      {"%cluster_nctaid.x", offsetof(WarpContext, cluster_nctaid)},
      {"%cluster_nctaid.y", offsetof(WarpContext, cluster_nctaid) + 4},
      {"%cluster_nctaid.z", offsetof(WarpContext, cluster_nctaid) + 8},
      {"%clusterid.x", offsetof(WarpContext, clusterid)},
      {"%clusterid.y", offsetof(WarpContext, clusterid) + 4},
      {"%clusterid.z", offsetof(WarpContext, clusterid) + 8},
      {"%nclusterid.x", offsetof(WarpContext, nclusterid)},
      {"%nclusterid.y", offsetof(WarpContext, nclusterid) + 4},
      {"%nclusterid.z", offsetof(WarpContext, nclusterid) + 8},
      {"%cluster_ctarank", offsetof(WarpContext, cluster_ctarank)},
      {"%envreg1", offsetof(WarpContext, envreg) + 4},
      {"%envreg2", offsetof(WarpContext, envreg) + 8},
      {"%cluster_nctarank", offsetof(WarpContext, cluster_nctarank)},
      {"%warpid", offsetof(WarpContext, warpid)},
      {"%nwarpid", offsetof(WarpContext, nwarpid)},
      {"%smid", offsetof(WarpContext, smid)},
      {"%nsmid", offsetof(WarpContext, nsmid)},
      {"%gridid", offsetof(WarpContext, gridid)},
      {"%total_smem_size", offsetof(WarpContext, total_smem_size)},
      {"%dynamic_smem_size", offsetof(WarpContext, dynamic_smem_size)},
  };
  auto found = offsets->find(name);
  return found == offsets->end() ? 0 : found->second;
}

// One value a lane: a function of its number.
template <typename Function>
llvm::Constant* PerLane(llvm::LLVMContext& context, Function function) {
  std::vector<uint32_t> values;
  for (int lane = 0; lane < kWarpLanes; ++lane) values.push_back(function(lane));
  return llvm::ConstantDataVector::get(context, values);
}

}  // namespace

Value* WarpEmitter::Special(const std::string& name) {
  auto lanes = [&](size_t offset) -> Value* {
    return builder_.CreateAlignedLoad(LaneType(32), Member(offset), llvm::Align(4));
  };
  if (name == "%tid.x") return lanes(offsetof(WarpContext, tid_x));
  if (name == "%tid.y") return lanes(offsetof(WarpContext, tid_y));
  if (name == "%tid.z") return lanes(offsetof(WarpContext, tid_z));
  llvm::LLVMContext& context = module_.getContext();
  if (name == "%laneid") return PerLane(context, [](uint32_t i) { return i; });
  if (name == "%lanemask_eq") return PerLane(context, [](uint32_t i) { return 1U << i; });
  if (name == "%lanemask_lt") return PerLane(context, [](uint32_t i) { return (1U << i) - 1; });
  if (name == "%lanemask_le") return PerLane(context, [](uint32_t i) { return (2U << i) - 1; });
  if (name == "%lanemask_gt") return PerLane(context, [](uint32_t i) { return ~((2U << i) - 1); });
  if (name == "%lanemask_ge") return PerLane(context, [](uint32_t i) { return ~((1U << i) - 1); });
  if (name == "WARP_SZ") return Splat(kWarpLanes, 32);
  if (name == "%is_explicit_cluster")
    return builder_.CreateVectorSplat(kWarpLanes,
                                      LoadMember(offsetof(WarpContext, is_explicit_cluster)));
  if (name == "%clock" || name == "%clock_hi" || name == "%clock64" || name == "%globaltimer" ||
      name == "%globaltimer_lo") {
    Value* clock = builder_.CreateLoad(builder_.getInt64Ty(), Member(offsetof(WarpContext, clock)));
    clock = builder_.CreateAdd(clock, builder_.getInt64(1));
    builder_.CreateStore(clock, Member(offsetof(WarpContext, clock)));
    if (name == "%clock64" || name == "%globaltimer")
      return builder_.CreateVectorSplat(kWarpLanes, clock);
    Value* half = name == "%clock_hi" ? builder_.CreateLShr(clock, 32) : clock;
    return builder_.CreateVectorSplat(kWarpLanes,
                                      builder_.CreateTrunc(half, builder_.getInt32Ty()));
  }
  constexpr const char* kReserved = "%reserved_smem_offset_";
  if (absl::StartsWith(name, kReserved)) return ReservedShared(name.substr(strlen(kReserved)));
  if (name == "%envreg1" || name == "%envreg2") kernel_.uses_grid_workspace = true;
  const size_t offset = UniformOffset(name);
  return offset == 0 ? nullptr : builder_.CreateVectorSplat(kWarpLanes, LoadMember(offset));
}

// A part of shared memory that belongs to the system, behind the kernel's own here.
Value* WarpEmitter::ReservedShared(const std::string& which) {
  kernel_.uses_reserved_shared = true;
  Value* begin = LoadMember(offsetof(WarpContext, reserved_smem_offset));
  int offset = 0;
  if (which == "end" || which == "cap") offset = kReservedSharedBytes;
  if (which == "1") offset = kReservedSharedBytes / 2;
  if (which != "end" && which != "cap" && which != "1" && which != "0" && which != "begin")
    return nullptr;
  return builder_.CreateVectorSplat(kWarpLanes,
                                    builder_.CreateAdd(begin, builder_.getInt32(offset)));
}

absl::StatusOr<Value*> WarpEmitter::Get(const Operand& operand, int bits) {
  switch (operand.kind) {
    case Operand::Kind::kRegister: {
      Value* value = Read(operand.reg);
      if (operand.negated) value = builder_.CreateNot(value);
      const int have = RegisterBits(operand.reg);
      if (have == bits) return value;
      // Only loads, stores and conversions may use wider registers; they know what they do.
      if (have > bits && bits > 1) return builder_.CreateTrunc(value, LaneType(bits));
      break;
    }
    case Operand::Kind::kInteger:
      return Splat(static_cast<uint64_t>(operand.integer), bits);
    case Operand::Kind::kFloat:
      if (bits == 32 && operand.is_double) {
        double value;
        static_assert(sizeof(value) == sizeof(operand.integer));
        __builtin_memcpy(&value, &operand.integer, sizeof(value));
        const float narrow = static_cast<float>(value);
        uint32_t word;
        __builtin_memcpy(&word, &narrow, sizeof(word));
        return Splat(word, 32);
      }
      if (bits == 64 && !operand.is_double) {
        const auto word = static_cast<uint32_t>(operand.integer);
        float value;
        __builtin_memcpy(&value, &word, sizeof(value));
        const double wide = value;
        uint64_t wide_bits;
        __builtin_memcpy(&wide_bits, &wide, sizeof(wide_bits));
        return Splat(wide_bits, 64);
      }
      return Splat(static_cast<uint64_t>(operand.integer), bits);
    case Operand::Kind::kSpecial: {
      Value* value = Special(operand.name);
      if (value == nullptr) break;
      return builder_.CreateZExtOrTrunc(value, LaneType(bits));
    }
    case Operand::Kind::kSymbol: {
      auto place = kernel_.flat.places.find(operand.name);
      if (place == kernel_.flat.places.end()) break;
      return Splat(place->second.address + static_cast<uint64_t>(operand.integer), bits);
    }
    default:
      break;
  }
  const ptx::Instruction& instruction = kernel_.flat.instructions[position_];
  return absl::InvalidArgumentError(absl::StrCat(
      "line ", instruction.line, ": ", instruction.Name(), " has an operand that is no ", bits,
      "-bit value", operand.name.empty() ? "" : ": ", operand.name));
}

absl::StatusOr<Value*> WarpEmitter::GetFloat(const Operand& operand, const ScalarType& type) {
  absl::StatusOr<Value*> bits = Get(operand, type.bits);
  if (!bits.ok()) return bits;
  llvm::Type* scalar = type.bits == 64   ? builder_.getDoubleTy()
                       : type.bits == 32 ? builder_.getFloatTy()
                                         : builder_.getHalfTy();
  return builder_.CreateBitCast(*bits, llvm::FixedVectorType::get(scalar, kWarpLanes));
}

// The value may be narrower than the register (loads and conversions).
void WarpEmitter::Set(const Operand& operand, Value* value, bool is_signed) {
  if (operand.kind != Operand::Kind::kRegister) return;  // a sink
  llvm::Type* type = value->getType();
  if (type->getScalarType()->isFloatingPointTy()) {
    value = builder_.CreateBitCast(value, LaneType(static_cast<int>(type->getScalarSizeInBits())));
  }
  llvm::Type* wanted = LaneType(RegisterBits(operand.reg));
  Write(operand.reg, is_signed ? builder_.CreateSExtOrTrunc(value, wanted)
                               : builder_.CreateZExtOrTrunc(value, wanted));
}

absl::StatusOr<Value*> WarpEmitter::SourceAddress(const Operand& operand, int bytes, int scratch) {
  if (operand.kind == Operand::Kind::kRegister && !operand.negated &&
      RegisterBits(operand.reg) == 8 * bytes) {
    Flush(operand.reg);
    return Home(operand.reg);
  }
  absl::StatusOr<Value*> value = Get(operand, 8 * bytes);
  if (!value.ok()) return value;
  Value* address = Scratch(scratch, kWarpLanes * bytes);
  builder_.CreateAlignedStore(*value, address, llvm::Align(64));
  return address;
}

}  // namespace stax::emulator
