// Global memory on CUDA: vectors of up to 16 bytes, packed and unpacked in registers.
//
// Accesses under a mask are predicated instructions, so lanes outside touch no memory and there is
// no branch. LLVM has no such operation for NVPTX, hence inline assembly; loads of it have no side
// effects (their buffers are never written), so LLVM may move and merge them like others.
#include <algorithm>
#include <string>

#include "compiler/codegen/memory_emitter.h"
#include "compiler/codegen/memory_words.h"
#include "llvm/IR/InlineAsm.h"

namespace stax {
namespace {

using llvm::Value;

constexpr int kMaxVectorBytes = 16;

class CudaMemoryEmitter : public MemoryEmitter {
 public:
  explicit CudaMemoryEmitter(EmitContext& context) : c_(context), b_(context.builder) {}

  TileValue Load(const LoopOp& op, const IndexTile& index, const TileValue& mask) override {
    LoadPacked(op, index, mask);
    return Unpack(packed_[&op]);
  }

  void LoadPacked(const LoopOp& op, const IndexTile& index, const TileValue& mask) override {
    Packed packed;
    packed.shape.axes = index.axes | mask.axes;
    packed.shape.regs = index.regs | mask.regs;
    Begin(op, index, mask);
    packed.vector_bits = vector_bits_;
    ForEachVector(packed.shape.regs,
                  [&](uint32_t slot) { packed.vectors.push_back(LoadMasked(slot, mask)); });
    packed_[&op] = std::move(packed);
  }

  TileValue Reload(const LoopOp& op, bool opaque) override {
    const auto it = packed_.find(&op);
    if (it == packed_.end()) return {};
    op_ = &op;
    element_bytes_ = DTypeBytes(op.dtype);
    vector_bits_ = it->second.vector_bits;
    if (opaque) {
      ForEachVector(it->second.shape.regs & ~c_.part_bits, [&](uint32_t slot) {
        std::vector<Value*>& words = VectorAt(it->second, slot);
        if (words[0]->getType()->getIntegerBitWidth() >= 16) c_.MakeOpaque(words);
      });
    }
    return Unpack(it->second);
  }

  void ForgetPacked() override { packed_.clear(); }

  int packed_registers() const override {
    int registers = 0;
    for (const auto& [op, packed] : packed_)
      for (const std::vector<Value*>& words : packed.vectors)
        for (Value* word : words) registers += word->getType()->getIntegerBitWidth() > 32 ? 2 : 1;
    return registers;
  }

  void Store(const LoopOp& op, const IndexTile& index, const TileValue& value,
             const TileValue& mask) override {
    Begin(op, index, mask);
    Value* owner = IsOwner(index.axes);
    ForEachVector(index.regs | mask.regs, [&](uint32_t slot) {
      std::vector<Value*> elements;
      for (int i = 0; i < vector_size(); ++i) elements.push_back(value.At(slot | SlotOfElement(i)));
      StoreMasked(slot, elements, mask, owner);
    });
  }

  double TakeLoadedBytes() override {
    const double bytes = loaded_bytes_;
    loaded_bytes_ = 0;
    return bytes;
  }

 private:
  // A loaded tile in the form of memory: the words of each vector.
  struct Packed {
    TileValue shape;  // axes and regs
    std::vector<int> vector_bits;
    std::vector<std::vector<Value*>> vectors;  // in the order of ForEachVector
  };

  int vector_size() const { return 1 << vector_bits_.size(); }

  // The words of the vector that begins at `slot` of the part being emitted.
  std::vector<Value*>& VectorAt(Packed& packed, uint32_t slot) const {
    BitSet bits = packed.shape.regs;
    for (int bit : packed.vector_bits) bits &= ~(BitSet{1} << bit);
    return packed.vectors[PackBits(slot | c_.part_slot, bits)];
  }

  // In register form; of a part, if one is being emitted.
  TileValue Unpack(Packed& packed) {
    TileValue value = packed.shape;
    value.regs &= ~c_.part_bits;
    value.slots.resize(size_t{1} << CountBits(value.regs));
    const Words words = WordsOf(element_bytes_ * vector_size(), element_bytes_);
    WordPacker packer(b_, op_->dtype);
    ForEachVector(value.regs, [&](uint32_t slot) {
      const std::vector<Value*>& vector = VectorAt(packed, slot);
      for (int i = 0; i < vector_size(); ++i)
        value.slots[PackBits(slot | SlotOfElement(i), value.regs)] =
            packer.Unpack(vector, words, i);
    });
    return value;
  }

  void Begin(const LoopOp& op, const IndexTile& index, const TileValue& mask) {
    op_ = &op;
    index_ = &index;
    element_bytes_ = DTypeBytes(op.dtype);
    bases_.clear();
    ChooseVector(mask.regs);
  }

  // Register bits whose strides are 1, 2, 4 ... elements: the elements of one vector, as long as
  // its start is aligned and no mask cuts through it. Shifted rows have their first and last vector
  // cut; those go element by element.
  void ChooseVector(BitSet mask_regs) {
    vector_bits_.clear();
    if (c_.tile.row_shift.has_value()) mask_regs &= ~c_.layout.RegBits(AxisBitOf(kAxisR));
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

  // The masks of the elements of the vector at `slot`, and in *all their conjunction (null: no
  // mask). One if they are known to be equal.
  std::vector<Value*> MasksOf(uint32_t slot, const TileValue& mask, Value** all) {
    *all = nullptr;
    if (mask.empty()) return {};
    std::vector<Value*> masks;
    for (int i = 0; i < vector_size(); ++i) {
      Value* m = mask.At(slot | SlotOfElement(i));
      if (masks.empty() || m != masks.front()) masks.push_back(m);
    }
    if (masks.size() > 1) {
      masks.clear();
      for (int i = 0; i < vector_size(); ++i) masks.push_back(mask.At(slot | SlotOfElement(i)));
    }
    *all = masks[0];
    for (size_t i = 1; i < masks.size(); ++i) *all = b_.CreateAnd(*all, masks[i]);
    return masks;
  }

  // Calls `f` with the slot and predicate of every element of a cut vector: those inside, unless
  // the vector was whole and has been accessed as such.
  template <typename F>
  void ForEachCutElement(uint32_t slot, const std::vector<Value*>& masks, Value* whole,
                         const F& f) {
    const std::vector<int> vector_bits = std::move(vector_bits_);
    vector_bits_.clear();
    for (size_t i = 0; i < masks.size(); ++i) {
      uint32_t element = slot;
      for (size_t k = 0; k < vector_bits.size(); ++k)
        if (i >> k & 1) element |= uint32_t{1} << vector_bits[k];
      f(i, element, b_.CreateAnd(masks[i], b_.CreateNot(whole)));
    }
    vector_bits_ = vector_bits;
  }

  // The words of a vector. One that is cut comes element by element; what was not loaded is zero,
  // so the parts are or-ed together.
  std::vector<Value*> LoadMasked(uint32_t slot, const TileValue& mask) {
    Value* whole = nullptr;
    const std::vector<Value*> masks = MasksOf(slot, mask, &whole);
    std::vector<Value*> words = LoadVector(slot, whole);
    if (masks.size() <= 1 || whole == b_.getTrue()) return words;
    const double loaded_bytes = loaded_bytes_;
    const int word_bits = words[0]->getType()->getIntegerBitWidth();
    ForEachCutElement(slot, masks, whole, [&](size_t i, uint32_t element, Value* predicate) {
      const int bit = i * 8 * element_bytes_;
      Value* part = b_.CreateZExt(LoadVector(element, predicate)[0], b_.getIntNTy(word_bits));
      Value*& word = words[bit / word_bits];
      word = b_.CreateOr(word, b_.CreateShl(part, bit % word_bits));
    });
    loaded_bytes_ = loaded_bytes;
    return words;
  }

  void StoreMasked(uint32_t slot, const std::vector<Value*>& elements, const TileValue& mask,
                   Value* owner) {
    Value* whole = nullptr;
    const std::vector<Value*> masks = MasksOf(slot, mask, &whole);
    auto owned = [&](Value* m) {
      return m == nullptr ? owner : owner == nullptr ? m : b_.CreateAnd(m, owner);
    };
    StoreVector(slot, elements, owned(whole));
    if (masks.size() <= 1 || whole == b_.getTrue()) return;
    ForEachCutElement(slot, masks, whole, [&](size_t i, uint32_t element, Value* predicate) {
      StoreVector(element, {elements[i]}, owned(predicate));
    });
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
    if (predicate != b_.getFalse()) loaded_bytes_ += words.bytes();
    return loaded;
  }

  std::vector<Value*> LoadPlain(uint32_t slot, Words words) {
    Value* address = b_.CreateConstGEP1_64(b_.getInt8Ty(), BaseAddress(slot), ByteOffset(slot));
    llvm::Type* word = b_.getIntNTy(words.bits);
    llvm::Type* type = words.count == 1 ? word : llvm::FixedVectorType::get(word, words.count);
    llvm::LoadInst* load =
        b_.CreateAlignedLoad(type, address, llvm::Align(words.count * words.bits / 8));
    // What is loaded so must not change while the kernel runs, the wait at its start included.
    if (!c_.tile.programmatic_launch)
      load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                        llvm::MDNode::get(b_.getContext(), {}));
    if (words.count == 1) return {load};
    std::vector<Value*> loaded;
    for (int i = 0; i < words.count; ++i)
      loaded.push_back(b_.CreateExtractElement(load, static_cast<uint64_t>(i)));
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
      code +=
          "mov.b" + std::to_string(word->getIntegerBitWidth()) + " $" + std::to_string(i) + ", 0; ";
      constraints += std::string("=&") + Constraint(words) + ",";
    }
    const std::string n = std::to_string(words.count), p = std::to_string(words.count + 1);
    code += "@$" + p + " ld.global" + TypeSuffix(words) + " " + Operands(words, 0) + ", [$" + n +
            offset + "];";
    llvm::Type* result = word;
    if (words.count > 1)
      result = llvm::StructType::get(b_.getContext(), std::vector<llvm::Type*>(words.count, word));
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
    if (predicate == b_.getFalse()) return;
    const std::vector<Value*> packed = WordPacker(b_, op_->dtype).Pack(elements, words);
    if (predicate == nullptr || predicate == b_.getTrue()) return StorePlain(slot, words, packed);
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
    const std::string code =
        "@$1 st.global" + TypeSuffix(words) + " [$0" + offset + "], " + Operands(words, 2) + ";";
    b_.CreateCall(type, llvm::InlineAsm::get(type, code, constraints, /*hasSideEffects=*/true),
                  operands);
  }

  void StorePlain(uint32_t slot, Words words, const std::vector<Value*>& packed) {
    Value* address = b_.CreateConstGEP1_64(b_.getInt8Ty(), BaseAddress(slot), ByteOffset(slot));
    Value* whole = packed[0];
    if (words.count > 1) {
      whole =
          llvm::PoisonValue::get(llvm::FixedVectorType::get(b_.getIntNTy(words.bits), words.count));
      for (int i = 0; i < words.count; ++i)
        whole = b_.CreateInsertElement(whole, packed[i], static_cast<uint64_t>(i));
    }
    b_.CreateAlignedStore(whole, address, llvm::Align(words.count * words.bits / 8));
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
  std::map<const LoopOp*, Packed> packed_;
  // Of the access being emitted:
  const LoopOp* op_ = nullptr;
  const IndexTile* index_ = nullptr;
  int element_bytes_ = 0;
  std::vector<int> vector_bits_;    // register bits that number the elements of a vector
  std::map<Value*, Value*> bases_;  // index -> byte address
};

}  // namespace

std::unique_ptr<MemoryEmitter> MakeCudaMemoryEmitter(EmitContext& context) {
  return std::make_unique<CudaMemoryEmitter>(context);
}

}  // namespace stax
