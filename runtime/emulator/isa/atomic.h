// What atom and red make of the value in memory. That nothing comes in between is the caller's
// affair, and so are the vector forms: they are several of these.
//
//   AtomicOperation add = *FindAtomicOperation("add", "f16x2");
//   new_bits = add.function(old_bits, operand, 0);
#ifndef STAX_RUNTIME_EMULATOR_ISA_ATOMIC_H_
#define STAX_RUNTIME_EMULATOR_ISA_ATOMIC_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace stax::isa {

// Bits in the low bytes. Of cas, `operand` is the new value and `compare` the one to find: in PTX,
// atom.cas d, [a], compare, operand. The others do not look at `compare`.
using AtomicFunction = uint64_t (*)(uint64_t old, uint64_t operand, uint64_t compare);

struct AtomicOperation {
  AtomicFunction function = nullptr;
  int bytes = 0;    // of the value in memory
  int sources = 1;  // 2 for cas
};

// `type` without the dot: "u32", "bf16x2". With `flush_subnormals` add of f32 takes subnormal
// operands and results for zeros, as it does on global memory and does not on shared memory; other
// operations are the same either way (halves are .noftz). nullopt: the ISA has no such operation.
std::optional<AtomicOperation> FindAtomicOperation(absl::string_view op, absl::string_view type,
                                                   bool flush_subnormals = false);

}  // namespace stax::isa

#endif  // STAX_RUNTIME_EMULATOR_ISA_ATOMIC_H_
