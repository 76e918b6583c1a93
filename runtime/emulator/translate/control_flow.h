// Basic blocks of a flat kernel, the order in which groups of lanes run them, and which registers
// live across them.
#ifndef STAX_RUNTIME_EMULATOR_TRANSLATE_CONTROL_FLOW_H_
#define STAX_RUNTIME_EMULATOR_TRANSLATE_CONTROL_FLOW_H_

#include <vector>

#include "runtime/emulator/translate/flat_kernel.h"

namespace stax::emulator {

struct BasicBlock {
  int begin = 0;  // instructions [begin, end)
  int end = 0;
  std::vector<int> successors;
  // Registers that some successor reads before it writes them, in order.
  std::vector<int> live_out;
};

struct ControlFlow {
  // Of two groups of lanes the one at the block with the smaller number runs first: blocks are
  // numbered so that a join comes after the paths that lead to it, and what follows a loop after
  // the loop. The last block, without instructions, is where the kernel ends. `entry` is 0.
  std::vector<BasicBlock> blocks;
  std::vector<int> block_of;  // the block that begins at an instruction; -1: none does

  // True for a jump that may go round a loop.
  static bool IsBackward(int from, int to) { return to <= from; }
};

ControlFlow FindControlFlow(const FlatKernel& kernel);

// The registers that an instruction reads and those that it writes.
void RegistersRead(const ptx::Instruction& instruction, std::vector<int>& registers);
void RegistersWritten(const ptx::Instruction& instruction, std::vector<int>& registers);

}  // namespace stax::emulator

#endif  // STAX_RUNTIME_EMULATOR_TRANSLATE_CONTROL_FLOW_H_
