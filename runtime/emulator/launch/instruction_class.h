// The classes by which executed instructions are counted: those of the profilers' metrics
// inst_integer, inst_fp_32, inst_bit_convert, inst_control, inst_inter_thread_communication ...
// (CUDA Profiler User's Guide), with tensor, special functions, atomics and synchronization apart.
#ifndef STAX_RUNTIME_EMULATOR_LAUNCH_INSTRUCTION_CLASS_H_
#define STAX_RUNTIME_EMULATOR_LAUNCH_INSTRUCTION_CLASS_H_

#include <cstdint>

#include "runtime/emulator/ptx/module.h"

namespace stax::emulator {

enum class InstructionClass : uint8_t {
  kInteger,  // arithmetic, bits, comparisons
  kFp16,     // f16 and bf16, packed ones too
  kFp32,
  kFp64,
  kSpecial,    // ex2, lg2, rcp, rsqrt, sqrt, sin, cos, tanh, in any rounding
  kTensor,     // mma and wmma.mma
  kConvert,    // cvt
  kMove,       // between registers, of addresses and between spaces
  kLoadStore,  // copies and prefetches too
  kAtomic,
  kInterThread,      // shfl, vote, match, redux ...
  kSynchronization,  // barriers, fences, waiting for copies
  kControl,          // branches, calls, exit
};
inline constexpr int kInstructionClasses = static_cast<int>(InstructionClass::kControl) + 1;

// "integer", "fp16", "load_store" ...
const char* InstructionClassName(InstructionClass instruction_class);
InstructionClass InstructionClassOf(const ptx::Instruction& instruction);

}  // namespace stax::emulator

#endif  // STAX_RUNTIME_EMULATOR_LAUNCH_INSTRUCTION_CLASS_H_
