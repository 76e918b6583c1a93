#include "compiler/codegen/memory_words.h"

namespace stax {

using llvm::Value;

Words WordsOf(int bytes, int element_bytes) {
  if (element_bytes == 8) return {bytes / 8, 64};
  if (bytes >= 4) return {bytes / 4, 32};
  return {1, 8 * bytes};
}

// Element `i` of the words, in register form.
Value* WordPacker::Unpack(const std::vector<Value*>& loaded, Words words, int i) {
  const int bits = 8 * element_bytes_;
  Value* word = loaded[i * bits / words.bits];
  const int shift = i * bits % words.bits;
  if (dtype_ == DType::kBF16 && words.bits == 32) {
    // The upper half of an f32: no need to go through 16 bits.
    Value* high = shift == 0 ? b_.CreateShl(word, 16) : b_.CreateAnd(word, 0xffff0000u);
    return b_.CreateBitCast(high, b_.getFloatTy());
  }
  if (shift != 0) word = b_.CreateLShr(word, shift);
  return FromMemory(b_.CreateTrunc(word, b_.getIntNTy(bits)));
}

// Memory bits (an integer of the element's size) to register form, and back.
Value* WordPacker::FromMemory(Value* bits) {
  switch (dtype_) {
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
Value* WordPacker::ToMemory(Value* value) {
  switch (dtype_) {
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
Value* WordPacker::PackBF16(Value* low, Value* high) {
  Value* low_bits = b_.CreateLShr(b_.CreateBitCast(low, b_.getInt32Ty()), 16);
  Value* high_bits = b_.CreateAnd(b_.CreateBitCast(high, b_.getInt32Ty()), 0xffff0000u);
  return b_.CreateOr(high_bits, low_bits);
}

Value* WordPacker::PackF16(Value* low, Value* high) {
  Value* pair = llvm::PoisonValue::get(llvm::FixedVectorType::get(b_.getHalfTy(), 2));
  pair = b_.CreateInsertElement(pair, b_.CreateFPTrunc(low, b_.getHalfTy()), uint64_t{0});
  pair = b_.CreateInsertElement(pair, b_.CreateFPTrunc(high, b_.getHalfTy()), uint64_t{1});
  return b_.CreateBitCast(pair, b_.getInt32Ty());
}

std::vector<Value*> WordPacker::Pack(const std::vector<Value*>& elements, Words words) {
  if (IsHalf(dtype_) && words.bits == 32) {
    std::vector<Value*> packed;
    for (int w = 0; w < words.count; ++w) {
      Value* low = elements[2 * w];
      Value* high = elements[2 * w + 1];
      packed.push_back(dtype_ == DType::kBF16 ? PackBF16(low, high) : PackF16(low, high));
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

}  // namespace stax
