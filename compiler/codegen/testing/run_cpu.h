// Runs CPU variants in tests: loads the object through LLVM's JIT linker, so that codegen is tested
// without the runtime.
#ifndef STAX_COMPILER_CODEGEN_TESTING_RUN_CPU_H_
#define STAX_COMPILER_CODEGEN_TESTING_RUN_CPU_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "ir/artifact/program.pb.h"
#include "ir/interpreter.h"
#include "ir/loop_nest.h"

namespace stax {

// Whether this machine can execute code for `arch`, "x86-64-v3" or "x86-64-v4".
bool HostRuns(const std::string& arch);

// Runs all instances of `variant` on the memory of Interpret: read buffers are taken from it,
// written ones are made. The buffers that the kernel sees are copies that end right before an
// unreadable page, so that an access beyond the end of a buffer ends the program; an access before
// the start is noticed for written buffers by guard bytes (Internal).
absl::Status RunOnCpu(const Variant& variant, const LoopNest& nest,
                      const std::map<std::string, int64_t>& sizes,
                      std::map<std::string, Bytes>& memory);

}  // namespace stax

#endif  // STAX_COMPILER_CODEGEN_TESTING_RUN_CPU_H_
