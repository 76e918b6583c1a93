// Global memory on CUDA: vectors of up to 16 bytes, packed and unpacked in registers.
//
// Accesses under a mask are predicated instructions, so lanes outside touch no memory and there is
// no branch. LLVM has no such operation for NVPTX, hence inline assembly; loads of it have no side
// effects (their buffers are never written), so LLVM may move and merge them like others.
#include <algorithm>
#include <string>

#include "compiler/codegen/memory_emitter.h"
#include "llvm/IR/InlineAsm.h"

namespace stax {
namespace {

using llvm::Value;

constexpr int kMaxVectorBytes = 16;

// How a vector of elements travels: `count` words of `bits` each.
struct Words {
  int count;
  int bits;
};

Words WordsOf(int bytes, int element_bytes) {
  if (element_bytes == 8) return {bytes / 8, 64};
  if (bytes >= 4) return {bytes / 4, 32};
  return {1, 8 * bytes};
}

class CudaMemoryEmitter : public MemoryEmitter {
 public:
  explicit CudaMemoryEmitter(EmitContext& context) : c_(context), b_(context.builder) {}

  TileValue Load(const LoopOp& op, const IndexTile& index, const TileValue& mask) override {
    TileValue value;
    value.axes = index.axes | mask.axes;
    value.regs = index.regs | mask.regs;
    value.slots.resize(size_t{1} << CountBits(value.regs));
    Begin(op, index, mask);
    ForEachVector(value.regs, [&](uint32_t slot) {
      Value* predicate = mask.empty() ? nullptr : mask.At(slot);
      const std::vector<Value*> elements = LoadVector(slot, predicate);
      for (size_t i = 0; i < elements.size(); ++i)
        value.slots[PackBits(slot | SlotOfElement(i), value.regs)] = elements[i];
    });
    return value;
  }

  void Store(const LoopOp& op, const IndexTile& index, const TileValue& value,
             const TileValue& mask) override {
    Begin(op, index, mask);
    Value* owner = IsOwner(index.axes);
    ForEachVector(index.regs | mask.regs, [&](uint32_t slot) {
      Value* predicate = mask.empty() ? nullptr : mask.At(slot);
      if (predicate == b_.getFalse()) return;
      if (predicate == b_.getTrue()) predicate = nullptr;
      if (owner != nullptr)
        predicate = predicate == nullptr ? owner : b_.CreateAnd(predicate, owner);
      std::vector<Value*> elements;
      for (int i = 0; i < vector_size(); ++i) elements.push_back(value.At(slot | SlotOfElement(i)));
      StoreVector(slot, elements, predicate);
    });
  }

  double TakeLoadedBytes() override {
    const double bytes = loaded_bytes_;
    loaded_bytes_ = 0;
    return bytes;
  }

 private:
  int vector_size() const { return 1 << vector_bits_.size(); }

  void Begin(const LoopOp& op, const IndexTile& index, const TileValue& mask) {
    op_ = &op;
    index_ = &index;
    element_bytes_ = DTypeBytes(op.dtype);
    bases_.clear();
    ChooseVector(mask.regs);
  }

  // Register bits whose strides are 1, 2, 4 ... elements: the elements of one vector, as long as
  // its start is aligned and no mask cuts through it.
  void ChooseVector(BitSet mask_regs) {
    vector_bits_.clear();
    std::array<int, kNumAxes> low_bits = {0, 0, 0};
    for (int64_t stride = 1; 2 * stride * element_bytes_ <= kMaxVectorBytes; stride *= 2) {
      const int found = FindRegBit(stride, low_bits, mask_regs);
      if (found < 0) return;
      ++low_bits[c_.layout.regs[found].axis];
      if (!ProveAligned(c_.tile, index_->pattern, low_bits, 2 * stride)) return;
      vector_bits_.push_back(found);
    }
  }

  int FindRegBit(int64_t stride, const std::array<int, kNumAxes>& low_bits, BitSet mask_regs) {
    for (size_t i = 0; i < c_.layout.regs.size(); ++i) {
      const AxisBit& bit = c_.layout.regs[i];
      const BitSet set = BitSet{1} << i;
      const bool linear = (index_->regs & ~index_->nonlinear & ~mask_regs & set) != 0;
      if (linear && index_->reg_strides[i] == stride && low_bits[bit.axis] == bit.bit) return i;
    }
    return -1;
  }

  // Slot bits of element `i` of a vector.
  uint32_t SlotOfElement(size_t i) const {
    uint32_t slot = 0;
    for (size_t k = 0; k < vector_bits_.size(); ++k)
      if (i >> k & 1) slot |= uint32_t{1} << vector_bits_[k];
    return slot;
  }

  // Calls `f` with the slot of the first element of every vector.
  template <typename F>
  void ForEachVector(BitSet regs, const F& f) {
    for (int bit : vector_bits_) regs &= ~(BitSet{1} << bit);
    for (uint32_t packed = 0; packed < 1u << CountBits(regs); ++packed) f(SpreadBits(packed, regs));
  }

  // Byte address of the base that `slot` uses; its constant offset comes on top.
  Value* BaseAddress(uint32_t slot) {
    Value* index = index_->Base(slot);
    Value*& address = bases_[index];
    if (address == nullptr) {
      Value* wide = b_.CreateSExt(index, b_.getInt64Ty());
      address = b_.CreateGEP(MemoryType(), c_.buffers[op_->buffer], {wide});
    }
    return address;
  }

  llvm::Type* MemoryType() const { return b_.getIntNTy(8 * element_bytes_); }

  std::vector<Value*> LoadVector(uint32_t slot, Value* predicate) {
    const Words words = WordsOf(element_bytes_ * vector_size(), element_bytes_);
    std::vector<Value*> loaded;
    if (predicate == b_.getFalse()) {
      loaded.assign(words.count, llvm::Constant::getNullValue(b_.getIntNTy(words.bits)));
    } else if (predicate == nullptr || predicate == b_.getTrue()) {
      loaded = LoadPlain(slot, words);
    } else {
      loaded = LoadPredicated(slot, words, predicate);
    }
    if (predicate != b_.getFalse()) loaded_bytes_ += words.count * words.bits / 8;
    std::vector<Value*> elements;
    for (int i = 0; i < vector_size(); ++i) elements.push_back(FromWords(loaded, words, i));
    return elements;
  }

  std::vector<Value*> LoadPlain(uint32_t slot, Words words) {
    Value* address = b_.CreateConstGEP1_64(b_.getInt8Ty(), BaseAddress(slot), ByteOffset(slot));
    llvm::Type* word = b_.getIntNTy(words.bits);
    llvm::Type* type = words.count == 1 ? word : llvm::FixedVectorType::get(word, words.count);
    llvm::LoadInst* load =
        b_.CreateAlignedLoad(type, address, llvm::Align(words.count * words.bits / 8));
    load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                      llvm::MDNode::get(b_.getContext(), {}));
    if (words.count == 1) return {load};
    std::vector<Value*> loaded;
    for (int i = 0; i < words.count; ++i)
      loaded.push_back(b_.CreateExtractElement(load, uint64_t(i)));
    return loaded;
  }

  int64_t ByteOffset(uint32_t slot) const { return index_->Offset(slot) * element_bytes_; }

  // 64-bit address for inline assembly and the offset to be written beside it, which has 32 bits
  // ("+-8" is how PTX writes a negative one).
  std::pair<Value*, std::string> AsmAddress(uint32_t slot) {
    Value* address = BaseAddress(slot);
    int64_t offset = ByteOffset(slot);
    if (offset != static_cast<int32_t>(offset)) {
      address = b_.CreateConstGEP1_64(b_.getInt8Ty(), address, offset);
      offset = 0;
    }
    return {b_.CreatePtrToInt(address, b_.getInt64Ty()),
            offset == 0 ? "" : "+" + std::to_string(offset)};
  }

  // ".v4.b32" and "{$2, $3, $4, $5}" (or "$2") for operands that start at `first`.
  static std::string TypeSuffix(Words words) {
    return (words.count == 1 ? "" : ".v" + std::to_string(words.count)) + ".b" +
           std::to_string(words.bits);
  }
  static std::string Operands(Words words, int first) {
    std::string list;
    for (int i = 0; i < words.count; ++i)
      list += (i == 0 ? "$" : ", $") + std::to_string(first + i);
    return words.count == 1 ? list : "{" + list + "}";
  }
  // Register class of a word; 8-bit memory goes through 16-bit registers.
  static const char* Constraint(Words words) {
    return words.bits == 64 ? "l" : words.bits == 32 ? "r" : "h";
  }
  llvm::Type* RegisterWord(Words words) const { return b_.getIntNTy(std::max(words.bits, 16)); }

  std::vector<Value*> LoadPredicated(uint32_t slot, Words words, Value* predicate) {
    const auto [address, offset] = AsmAddress(slot);
    llvm::Type* word = RegisterWord(words);
    std::string code, constraints;
    for (int i = 0; i < words.count; ++i) {
      code += "mov.b" + std::to_string(word->getIntegerBitWidth()) + " $" + std::to_string(i) +
              ", 0; ";
      constraints += std::string("=&") + Constraint(words) + ",";
    }
    const std::string n = std::to_string(words.count), p = std::to_string(words.count + 1);
    code += "@$" + p + " ld.global" + TypeSuffix(words) + " " + Operands(words, 0) + ", [$" + n +
            offset + "];";
    llvm::Type* result = word;
    if (words.count > 1)
      result = llvm::StructType::get(b_.getContext(),
                                     std::vector<llvm::Type*>(words.count, word));
    auto* type = llvm::FunctionType::get(result, {b_.getInt64Ty(), b_.getInt1Ty()}, false);
    llvm::CallInst* call = b_.CreateCall(
        type, llvm::InlineAsm::get(type, code, constraints + "l,b", /*hasSideEffects=*/false),
        {address, predicate});
    call->setDoesNotAccessMemory();
    call->setDoesNotThrow();
    call->addFnAttr(llvm::Attribute::WillReturn);
    std::vector<Value*> loaded;
    for (int i = 0; i < words.count; ++i) {
      Value* v = words.count == 1 ? static_cast<Value*>(call) : b_.CreateExtractValue(call, i);
      loaded.push_back(b_.CreateTrunc(v, b_.getIntNTy(words.bits)));
    }
    return loaded;
  }

  void StoreVector(uint32_t slot, const std::vector<Value*>& elements, Value* predicate) {
    const Words words = WordsOf(element_bytes_ * vector_size(), element_bytes_);
    const std::vector<Value*> packed = ToWords(elements, words);
    if (predicate == nullptr) return StorePlain(slot, words, packed);
    const auto [address, offset] = AsmAddress(slot);
    std::vector<Value*> operands = {address, predicate};
    std::vector<llvm::Type*> types = {b_.getInt64Ty(), b_.getInt1Ty()};
    std::string constraints = "l,b";
    for (Value* v : packed) {
      operands.push_back(b_.CreateZExt(v, RegisterWord(words)));
      types.push_back(RegisterWord(words));
      constraints += std::string(",") + Constraint(words);
    }
    auto* type = llvm::FunctionType::get(b_.getVoidTy(), types, false);
    const std::string code = "@$1 st.global" + TypeSuffix(words) + " [$0" + offset + "], " +
                             Operands(words, 2) + ";";
    b_.CreateCall(type, llvm::InlineAsm::get(type, code, constraints, /*hasSideEffects=*/true),
                  operands);
  }

  void StorePlain(uint32_t slot, Words words, const std::vector<Value*>& packed) {
    Value* address = b_.CreateConstGEP1_64(b_.getInt8Ty(), BaseAddress(slot), ByteOffset(slot));
    Value* whole = packed[0];
    if (words.count > 1) {
      whole = llvm::PoisonValue::get(
          llvm::FixedVectorType::get(b_.getIntNTy(words.bits), words.count));
      for (int i = 0; i < words.count; ++i)
        whole = b_.CreateInsertElement(whole, packed[i], uint64_t(i));
    }
    b_.CreateAlignedStore(whole, address, llvm::Align(words.count * words.bits / 8));
  }

  // Element `i` of the words, in register form.
  Value* FromWords(const std::vector<Value*>& loaded, Words words, int i) {
    const int bits = 8 * element_bytes_;
    Value* word = loaded[i * bits / words.bits];
    const int shift = i * bits % words.bits;
    if (op_->dtype == DType::kBF16 && words.bits == 32) {
      // The upper half of an f32: no need to go through 16 bits.
      Value* high = shift == 0 ? b_.CreateShl(word, 16) : b_.CreateAnd(word, 0xffff0000u);
      return b_.CreateBitCast(high, b_.getFloatTy());
    }
    if (shift != 0) word = b_.CreateLShr(word, shift);
    return FromMemory(b_.CreateTrunc(word, b_.getIntNTy(bits)));
  }

  // Memory bits (an integer of the element's size) to register form, and back.
  Value* FromMemory(Value* bits) {
    switch (op_->dtype) {
      case DType::kBool:
        return b_.CreateICmpNE(bits, llvm::Constant::getNullValue(bits->getType()));
      case DType::kF16:
        return b_.CreateFPExt(b_.CreateBitCast(bits, b_.getHalfTy()), b_.getFloatTy());
      case DType::kBF16:
        return b_.CreateBitCast(b_.CreateShl(b_.CreateZExt(bits, b_.getInt32Ty()), 16),
                                b_.getFloatTy());
      case DType::kF32:
        return b_.CreateBitCast(bits, b_.getFloatTy());
      case DType::kF64:
        return b_.CreateBitCast(bits, b_.getDoubleTy());
      default:
        return bits;
    }
  }
  Value* ToMemory(Value* value) {
    switch (op_->dtype) {
      case DType::kBool:
        return b_.CreateZExt(value, b_.getInt8Ty());
      case DType::kF16:
        return b_.CreateBitCast(b_.CreateFPTrunc(value, b_.getHalfTy()), b_.getInt16Ty());
      case DType::kBF16: {  // exact: the lower bits are zero
        Value* bits = b_.CreateBitCast(value, b_.getInt32Ty());
        return b_.CreateTrunc(b_.CreateLShr(bits, 16), b_.getInt16Ty());
      }
      case DType::kF32:
        return b_.CreateBitCast(value, b_.getInt32Ty());
      case DType::kF64:
        return b_.CreateBitCast(value, b_.getInt64Ty());
      default:
        return value;
    }
  }

  // A word of two bf16 elements, which are f32 with zero lower halves. In 32-bit operations only,
  // so that it folds with the unpacking of a rounded pair.
  Value* PackBF16(Value* low, Value* high) {
    Value* low_bits = b_.CreateLShr(b_.CreateBitCast(low, b_.getInt32Ty()), 16);
    Value* high_bits = b_.CreateAnd(b_.CreateBitCast(high, b_.getInt32Ty()), 0xffff0000u);
    return b_.CreateOr(high_bits, low_bits);
  }

  Value* PackF16(Value* low, Value* high) {
    Value* pair = llvm::PoisonValue::get(llvm::FixedVectorType::get(b_.getHalfTy(), 2));
    pair = b_.CreateInsertElement(pair, b_.CreateFPTrunc(low, b_.getHalfTy()), uint64_t{0});
    pair = b_.CreateInsertElement(pair, b_.CreateFPTrunc(high, b_.getHalfTy()), uint64_t{1});
    return b_.CreateBitCast(pair, b_.getInt32Ty());
  }

  std::vector<Value*> ToWords(const std::vector<Value*>& elements, Words words) {
    if (IsHalf(op_->dtype) && words.bits == 32) {
      std::vector<Value*> packed;
      for (int w = 0; w < words.count; ++w) {
        Value* low = elements[2 * w];
        Value* high = elements[2 * w + 1];
        packed.push_back(op_->dtype == DType::kBF16 ? PackBF16(low, high) : PackF16(low, high));
      }
      return packed;
    }
    const int bits = 8 * element_bytes_;
    const int per_word = words.bits / bits;
    std::vector<Value*> packed;
    for (int w = 0; w < words.count; ++w) {
      Value* word = nullptr;
      for (int k = 0; k < per_word; ++k) {
        Value* part = b_.CreateZExt(ToMemory(elements[w * per_word + k]), b_.getIntNTy(words.bits));
        if (k > 0) part = b_.CreateShl(part, k * bits);
        word = word == nullptr ? part : b_.CreateOr(word, part);
      }
      packed.push_back(word);
    }
    return packed;
  }

  // True in one thread of those that hold the same elements; null when all differ.
  Value* IsOwner(AxisSet axes) {
    BitSet shared = 0;  // bits of the thread number that the elements do not depend on
    std::vector<AxisBit> bits = c_.layout.lanes;
    bits.insert(bits.end(), c_.layout.warps.begin(), c_.layout.warps.end());
    for (size_t i = 0; i < bits.size(); ++i)
      if (bits[i].idle() || (axes & AxisBitOf(bits[i].axis)) == 0) shared |= BitSet{1} << i;
    if (shared == 0) return nullptr;
    return b_.CreateICmpEQ(b_.CreateAnd(c_.thread, shared), b_.getInt32(0));
  }

  EmitContext& c_;
  llvm::IRBuilder<>& b_;
  double loaded_bytes_ = 0;
  // Of the access being emitted:
  const LoopOp* op_ = nullptr;
  const IndexTile* index_ = nullptr;
  int element_bytes_ = 0;
  std::vector<int> vector_bits_;        // register bits that number the elements of a vector
  std::map<Value*, Value*> bases_;      // index -> byte address
};

}  // namespace

std::unique_ptr<MemoryEmitter> MakeCudaMemoryEmitter(EmitContext& context) {
  return std::make_unique<CudaMemoryEmitter>(context);
}

}  // namespace stax
