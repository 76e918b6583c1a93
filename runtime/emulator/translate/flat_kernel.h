// One kernel with its calls inlined, as the translator takes it: no functions, scopes or labels are
// left, and every variable has its place.
#ifndef STAX_RUNTIME_EMULATOR_TRANSLATE_FLAT_KERNEL_H_
#define STAX_RUNTIME_EMULATOR_TRANSLATE_FLAT_KERNEL_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/emulator/ptx/module.h"

namespace stax::emulator {

// Where a variable lies: its space, and its address there. Global and constant variables have host
// addresses, the others offsets in their windows.
struct Place {
  ptx::Space space = ptx::Space::kGeneric;
  uint64_t address = 0;
};
using Places = std::map<std::string, Place>;

struct FlatKernel {
  std::string name;
  std::vector<ptx::Register> registers;
  // Branch targets are operands of kind kLabel whose `integer` is a position in here; variables
  // (kAddress and kSymbol with a name) have been renamed to the names in `places`. What is called
  // follows its `call`, which has no operands and no effect left; a function's `ret` has a target.
  std::vector<ptx::Instruction> instructions;
  // Positions of branches that no PTX has: around calls and around instructions that wait for lanes
  // of the warp, in place of their guards.
  std::set<int> added_branches;
  Places places;
  int64_t parameter_bytes = 0;
  std::vector<int64_t> parameter_offsets;
  std::vector<int64_t> parameter_sizes;
  // A thread's local variables and parameters of calls, each call's beside the others'.
  int64_t local_bytes = 0;
  int64_t stack_bytes = 0;   // the most that is in use at a time: calls one after the other share
  int64_t shared_bytes = 0;  // static; a dynamic array begins there
};

// True for instructions at which lanes wait for others: they begin a block of code.
bool IsConvergent(const ptx::Instruction& instruction);
// True for barriers of a block or cluster: they end a block of code as well.
bool IsBarrier(const ptx::Instruction& instruction);

// The name in `places` of a function's own global or constant variable.
std::string NameInModule(const ptx::Function& function, const ptx::Variable& variable);

// `globals`: places of the module's global and constant variables. InvalidArgument naming the line
// for a call that is recursive, too deep or not to a function of the module, and for an unknown
// name.
absl::StatusOr<FlatKernel> Flatten(const ptx::Module& module, const ptx::Function& entry,
                                   const Places& globals);

}  // namespace stax::emulator

#endif  // STAX_RUNTIME_EMULATOR_TRANSLATE_FLAT_KERNEL_H_
