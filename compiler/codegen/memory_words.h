// Elements packed in registers as they lie in memory, on CUDA.
//
// A vector of elements is loaded and stored as words of 32 bits (64 for 8-byte elements, 8 or 16
// for a single small one): LLVM's NVPTX backend selects these well, and vectors of halves or bytes
// not.
#ifndef STAX_COMPILER_CODEGEN_MEMORY_WORDS_H_
#define STAX_COMPILER_CODEGEN_MEMORY_WORDS_H_

#include <vector>

#include "ir/dtype.h"
#include "llvm/IR/IRBuilder.h"

namespace stax {

// How a vector of elements travels: `count` words of `bits` each.
struct Words {
  int count;
  int bits;

  int bytes() const { return count * bits / 8; }
};

// Words for `bytes` bytes of elements of `element_bytes`.
Words WordsOf(int bytes, int element_bytes);

class WordPacker {
 public:
  WordPacker(llvm::IRBuilder<>& builder, DType dtype)
      : b_(builder), dtype_(dtype), element_bytes_(DTypeBytes(dtype)) {}

  // Element `i` of the words, in register form (ScalarEmitter).
  llvm::Value* Unpack(const std::vector<llvm::Value*>& loaded, Words words, int i);
  std::vector<llvm::Value*> Pack(const std::vector<llvm::Value*>& elements, Words words);

 private:
  llvm::Value* FromMemory(llvm::Value* bits);
  llvm::Value* ToMemory(llvm::Value* value);
  llvm::Value* PackBF16(llvm::Value* low, llvm::Value* high);
  llvm::Value* PackF16(llvm::Value* low, llvm::Value* high);

  llvm::IRBuilder<>& b_;
  DType dtype_;
  int element_bytes_;
};

}  // namespace stax

#endif  // STAX_COMPILER_CODEGEN_MEMORY_WORDS_H_
