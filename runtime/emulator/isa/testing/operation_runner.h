// Runs one instruction of the table on single values, for tests.
//
//   const OperationRunner add("add.sat.s32");
//   EXPECT_EQ(add(0x7fffffff, 1), 0x7fffffff);
//
// Each call uses another lane, fills the others with other values, and fails the test when a lane
// outside the mask is written.
#ifndef STAX_RUNTIME_EMULATOR_ISA_TESTING_OPERATION_RUNNER_H_
#define STAX_RUNTIME_EMULATOR_ISA_TESTING_OPERATION_RUNNER_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "runtime/emulator/isa/warp_operation.h"

namespace stax::isa {

class OperationRunner {
 public:
  // Fails the test when there is no such instruction.
  explicit OperationRunner(absl::string_view name);

  // Bits of the sources and of the result, in the low bits.
  uint64_t operator()(uint64_t a, uint64_t b = 0, uint64_t c = 0, uint64_t e = 0) const;

  const WarpOperation& operation() const { return operation_; }

 private:
  std::string name_;
  WarpOperation operation_;
  mutable int lane_ = 0;
};

// Numbers that are drawn the same way in every run (SplitMix64).
class RandomBits {
 public:
  explicit RandomBits(uint64_t seed) : state_(seed) {}
  uint64_t Next();

 private:
  uint64_t state_;
};

}  // namespace stax::isa

#endif  // STAX_RUNTIME_EMULATOR_ISA_TESTING_OPERATION_RUNNER_H_
