// Memory on the CPU: a slot is a vector over the lanes. Lanes that walk memory one element at a
// time make one vector access (masked at the ends of a range), lanes that all read the same make a
// scalar one, and anything else is a gather or scatter.
#include <algorithm>
#include <string>

#include "compiler/codegen/memory_emitter.h"

namespace stax {
namespace {

using llvm::Value;

class CpuMemoryEmitter : public MemoryEmitter {
 public:
  explicit CpuMemoryEmitter(EmitContext& context) : c_(context), b_(context.builder) {}

  TileValue Load(const LoopOp& op, const IndexTile& index, const TileValue& mask) override {
    TileValue value;
    value.axes = index.axes | mask.axes;
    value.regs = index.regs | mask.regs;
    const Shape shape = ShapeOf(index);
    for (uint32_t packed = 0; packed < 1u << CountBits(value.regs); ++packed) {
      const uint32_t slot = SpreadBits(packed, value.regs);
      Value* bits = LoadSlot(op, index, slot, shape, mask.empty() ? nullptr : mask.At(slot));
      value.slots.push_back(FromMemory(op.dtype, bits));
    }
    return value;
  }

  void Store(const LoopOp& op, const IndexTile& index, const TileValue& value,
             const TileValue& mask) override {
    Shape shape = ShapeOf(index);
    llvm::Constant* owners = Owners(index.axes);
    // Contiguous only in appearance: lanes that hold the same element must not all write it.
    if (owners != nullptr && shape == Shape::kContiguous) shape = Shape::kScattered;
    const BitSet regs = index.regs | mask.regs;
    for (uint32_t packed = 0; packed < 1u << CountBits(regs); ++packed) {
      const uint32_t slot = SpreadBits(packed, regs);
      Value* predicate = mask.empty() ? nullptr : mask.At(slot);
      if (shape == Shape::kScattered && owners != nullptr)
        predicate = predicate == nullptr ? owners : c_.AndMasks(predicate, owners);
      StoreSlot(op, index, slot, shape, ToMemory(op.dtype, value.At(slot)), predicate);
    }
  }

 private:
  // How the lanes walk memory.
  enum class Shape { kUniform, kContiguous, kScattered };

  Shape ShapeOf(const IndexTile& index) const {
    if (index.lane_vector) return Shape::kScattered;
    bool uniform = true, contiguous = true;
    for (int lane = 0; lane < c_.lanes(); ++lane) {
      uniform &= index.LaneOffset(lane) == 0;
      contiguous &= index.LaneOffset(lane) == lane;
    }
    if (uniform) return Shape::kUniform;
    return contiguous ? Shape::kContiguous : Shape::kScattered;
  }

  static bool IsAll(Value* mask, bool value) {
    auto* constant = llvm::dyn_cast_or_null<llvm::Constant>(mask);
    if (constant == nullptr) return false;
    return value ? constant->isAllOnesValue() : constant->isNullValue();
  }

  llvm::Type* MemoryType(DType t) const {
    if (t == DType::kF16) return b_.getHalfTy();
    if (t == DType::kF32) return b_.getFloatTy();
    if (t == DType::kF64) return b_.getDoubleTy();
    return b_.getIntNTy(8 * DTypeBytes(t));  // bf16 too
  }

  // Address of lane 0 in the scalar shapes, a vector of addresses in the scattered one.
  Value* Address(const LoopOp& op, const IndexTile& index, uint32_t slot, Shape shape) {
    llvm::Type* type = MemoryType(op.dtype);
    Value* base = index.Base(slot);
    Value* wide = b_.CreateSExt(base, base->getType()->isVectorTy()
                                          ? static_cast<llvm::Type*>(llvm::FixedVectorType::get(
                                                b_.getInt64Ty(), c_.lanes()))
                                          : b_.getInt64Ty());
    Value* address = b_.CreateGEP(type, c_.buffers[op.buffer], {wide});
    if (index.Offset(slot) != 0)
      address = b_.CreateGEP(type, address, {b_.getInt64(index.Offset(slot))});
    if (shape != Shape::kScattered || index.lane_vector) return address;
    std::vector<llvm::Constant*> offsets;
    for (int lane = 0; lane < c_.lanes(); ++lane)
      offsets.push_back(b_.getInt64(index.LaneOffset(lane)));
    return b_.CreateGEP(type, address, {llvm::ConstantVector::get(offsets)});
  }

  // Masked operations take a vector; for a scalar under a mask it has one element.
  Value* AsMask(Value* predicate, Shape shape) {
    if (shape != Shape::kUniform) return c_.Splat(predicate);
    return b_.CreateVectorSplat(1, predicate);
  }

  Value* LoadSlot(const LoopOp& op, const IndexTile& index, uint32_t slot, Shape shape,
                  Value* predicate) {
    // One address but a mask that differs between the lanes.
    if (shape == Shape::kUniform && predicate != nullptr && predicate->getType()->isVectorTy())
      shape = Shape::kScattered;
    llvm::Type* scalar = MemoryType(op.dtype);
    llvm::Type* vector = llvm::FixedVectorType::get(scalar, c_.lanes());
    llvm::Type* type = shape == Shape::kUniform ? scalar : vector;
    if (IsAll(predicate, false)) return llvm::Constant::getNullValue(type);
    const bool masked = predicate != nullptr && !IsAll(predicate, true);
    const llvm::Align align(DTypeBytes(op.dtype));
    Value* address = Address(op, index, slot, shape);
    if (shape == Shape::kScattered) {
      Value* all = c_.Splat(b_.getTrue());
      return b_.CreateMaskedGather(vector, address, align, masked ? AsMask(predicate, shape) : all,
                                   llvm::Constant::getNullValue(vector));
    }
    if (!masked) return b_.CreateAlignedLoad(type, address, align);
    if (shape == Shape::kUniform) type = llvm::FixedVectorType::get(scalar, 1);
    Value* loaded = b_.CreateMaskedLoad(type, address, align, AsMask(predicate, shape),
                                        llvm::Constant::getNullValue(type));
    return shape == Shape::kUniform ? b_.CreateExtractElement(loaded, uint64_t{0}) : loaded;
  }

  void StoreSlot(const LoopOp& op, const IndexTile& index, uint32_t slot, Shape shape, Value* value,
                 Value* predicate) {
    if (IsAll(predicate, false)) return;
    const bool masked = predicate != nullptr && !IsAll(predicate, true);
    const llvm::Align align(DTypeBytes(op.dtype));
    if (shape == Shape::kUniform) {
      // All lanes hold the same element; the first speaks for them.
      auto first = [&](Value* v) {
        return v->getType()->isVectorTy() ? b_.CreateExtractElement(v, uint64_t{0}) : v;
      };
      value = first(value);
      if (masked) {
        predicate = first(predicate);
        value = b_.CreateVectorSplat(1, value);
      }
    } else {
      value = c_.Splat(value);
    }
    Value* address = Address(op, index, slot, shape);
    if (shape == Shape::kScattered) {
      Value* all = c_.Splat(b_.getTrue());
      b_.CreateMaskedScatter(value, address, align, masked ? AsMask(predicate, shape) : all);
    } else if (masked) {
      b_.CreateMaskedStore(value, address, align, AsMask(predicate, shape));
    } else {
      b_.CreateAlignedStore(value, address, align);
    }
  }

  // Lanes that are the first of those that hold the same element; null when all differ.
  llvm::Constant* Owners(AxisSet axes) const {
    const BitSet all = (BitSet{1} << c_.layout.lanes.size()) - 1;
    const BitSet shared = all & ~c_.layout.LaneBits(axes == 0 ? ~AxisSet{0} << kNumAxes : axes);
    if (shared == 0) return nullptr;
    std::vector<llvm::Constant*> owners;
    for (int lane = 0; lane < c_.lanes(); ++lane)
      owners.push_back(b_.getInt1((lane & shared) == 0));
    return llvm::ConstantVector::get(owners);
  }

  Value* FromMemory(DType t, Value* bits) {
    if (t == DType::kBool)
      return b_.CreateICmpNE(bits, llvm::Constant::getNullValue(bits->getType()));
    if (t == DType::kF16) return b_.CreateFPExt(bits, TypeLike(bits, b_.getFloatTy()));
    if (t != DType::kBF16) return bits;
    llvm::Type* int_type = TypeLike(bits, b_.getInt32Ty());
    Value* wide = b_.CreateShl(b_.CreateZExt(bits, int_type), llvm::ConstantInt::get(int_type, 16));
    return b_.CreateBitCast(wide, TypeLike(bits, b_.getFloatTy()));
  }

  Value* ToMemory(DType t, Value* value) {
    if (t == DType::kBool) return b_.CreateZExt(value, TypeLike(value, b_.getInt8Ty()));
    if (t == DType::kF16) return b_.CreateFPTrunc(value, TypeLike(value, b_.getHalfTy()));
    if (t != DType::kBF16) return value;
    // Exact: the lower bits are zero.
    llvm::Type* int_type = TypeLike(value, b_.getInt32Ty());
    Value* bits = b_.CreateBitCast(value, int_type);
    bits = b_.CreateLShr(bits, llvm::ConstantInt::get(int_type, 16));
    return b_.CreateTrunc(bits, TypeLike(value, b_.getInt16Ty()));
  }

  static llvm::Type* TypeLike(Value* like, llvm::Type* element) {
    auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(like->getType());
    if (vector == nullptr) return element;
    return llvm::FixedVectorType::get(element, vector->getNumElements());
  }

  EmitContext& c_;
  llvm::IRBuilder<>& b_;
};

}  // namespace

std::unique_ptr<MemoryEmitter> MakeCpuMemoryEmitter(EmitContext& context) {
  return std::make_unique<CpuMemoryEmitter>(context);
}

}  // namespace stax
