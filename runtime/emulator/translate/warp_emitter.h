// Emits the instructions of one block of code: the registers' values and the families of
// instructions. Part of translate.cc.
#ifndef STAX_RUNTIME_EMULATOR_TRANSLATE_WARP_EMITTER_H_
#define STAX_RUNTIME_EMULATOR_TRANSLATE_WARP_EMITTER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "runtime/emulator/isa/warp_operation.h"
#include "runtime/emulator/translate/control_flow.h"
#include "runtime/emulator/translate/translate.h"

namespace stax::emulator {

// A type as an instruction's last modifiers name it.
struct ScalarType {
  enum class Kind : uint8_t { kPred, kBits, kUnsigned, kSigned, kFloat };
  Kind kind = Kind::kBits;
  int bits = 32;
};
// False for packed and other types.
bool ParseScalarType(const std::string& name, ScalarType& type);

class WarpEmitter {
 public:
  WarpEmitter(const RuntimeFunctions& runtime, const ControlFlow& flow, TranslatedKernel& kernel,
              llvm::Module& module);

  // The whole function. InvalidArgument for an instruction that is not supported.
  absl::Status Emit();

 private:
  using Value = llvm::Value;
  using Instruction = ptx::Instruction;
  using Operand = ptx::Operand;

  // --- The function (warp_emitter.cc)
  void EmitPrologue();
  void FindUses();
  void FindMeetings();  // meeting.cc
  absl::Status EmitBlock(int block);
  absl::Status Dispatch(const Instruction& instruction);
  static absl::Status Unsupported(const Instruction& instruction, const std::string& why = "");
  void Count(int counter, Value* lanes);
  void ReportMisuse(Misuse kind, Value* lanes, uint32_t limit);
  // Calls a function of the host.
  Value* CallRuntime(const void* function, llvm::Type* result, llvm::ArrayRef<Value*> arguments);

  // --- Registers (registers.cc). Values have 32 lanes.
  llvm::Type* LaneType(int bits) const;  // <32 x iN>; 1 for predicates
  int RegisterBits(int reg) const;       // 1 for predicates
  Value* Read(int reg);
  // In the lanes of the mask and the guard.
  void Write(int reg, Value* value);
  // Of integer type with the width of the operand; `bits` is the width that is wanted.
  absl::StatusOr<Value*> Get(const Operand& operand, int bits);
  absl::StatusOr<Value*> GetFloat(const Operand& operand, const ScalarType& type);
  void Set(const Operand& operand, Value* value, bool is_signed = false);
  Value* Home(int reg);  // address in memory
  void Flush(int reg);   // writes it there
  void FlushLive(int block);
  void Forget() { values_.clear(); }
  Value* Splat(uint64_t value, int bits);
  Value* ToBits(Value* predicate);  // <32 x i1> to i32
  Value* FromBits(Value* mask);     // i32 to <32 x i1>
  Value* Pointer(const void* address);
  Value* Member(size_t offset);      // of the WarpContext
  Value* LoadMember(size_t offset);  // a uint32_t
  void StoreMember(size_t offset, Value* value);
  llvm::AllocaInst* Scratch(int index, int bytes);
  Value* Special(const std::string& name);  // <32 x i32>, null: unknown
  Value* ReservedShared(const std::string& which);
  // Of a function of isa/: sources are arrays.
  absl::StatusOr<Value*> SourceAddress(const Operand& operand, int bytes, int scratch);

  // --- Families; each returns Unsupported for modifiers it does not know.
  absl::Status Move(const Instruction& instruction);  // arithmetic.cc
  bool EmitSimple(const Instruction& instruction, absl::Status& status);
  absl::StatusOr<Value*> EmitFloat(const Instruction& instruction, const ScalarType& type);
  absl::StatusOr<Value*> EmitInteger(const Instruction& instruction, const ScalarType& type);
  absl::StatusOr<Value*> EmitMultiply(const Instruction& instruction, const ScalarType& type);
  Value* Shift(Value* value, Value* count, bool left, bool is_signed);
  absl::Status SetPredicate(const Instruction& instruction);
  absl::Status FinishCompare(const Instruction& instruction, Value* holds, Value* fails);
  absl::Status Select(const Instruction& instruction);
  bool Convert(const Instruction& instruction, absl::Status& status);
  absl::Status CallOperation(const Instruction& instruction, const isa::WarpOperation& operation);
  absl::Status CallCompare(const Instruction& instruction, const isa::CompareOperation& operation);
  absl::Status CallCarry(const Instruction& instruction, const isa::CarryOperation& operation);

  absl::Status Load(const Instruction& instruction);  // memory.cc
  absl::Status Store(const Instruction& instruction);
  absl::Status Atomic(const Instruction& instruction);
  absl::Status Fence(const Instruction& instruction);
  absl::Status ConvertAddress(const Instruction& instruction);
  absl::StatusOr<Value*> Addresses(const Operand& operand, const Instruction& instruction);
  ptx::Space SpaceFor(const Operand& operand, ptx::Space space) const;
  int64_t ParameterOffset(const Operand& operand) const;
  bool IsGoodParameter(const Operand& operand, int bytes) const;
  const MemorySite* MakeSite(const Instruction& instruction, AccessKind kind, ptx::Space space,
                             int element_bytes, int elements);

  absl::Status CopyAsync(const Instruction& instruction);  // copies.cc
  absl::Status CopyGroup(const Instruction& instruction);
  absl::Status CopyArrive(const Instruction& instruction);
  absl::Status CopySmall(const Instruction& instruction);
  absl::Status CopyBulk(const Instruction& instruction);
  absl::Status ReductionSites(const Instruction& instruction, ptx::Space to, ptx::Space from,
                              CopySite& site);
  absl::StatusOr<Value*> MoreAddresses(const Operand& operand, const Instruction& instruction,
                                       int scratch);

  absl::Status MemoryBarrier(const Instruction& instruction);  // asynchronous.cc
  absl::Status EmitMbarrier(const Instruction& instruction, MbarrierOp op, const Operand& address,
                            Value* operand, const Operand* state, const Operand* done);
  absl::Status MapAddress(const Instruction& instruction);
  absl::Status IsSpace(const Instruction& instruction);
  absl::Status ActiveMask(const Instruction& instruction);

  absl::Status Branch(const Instruction& instruction, int block);  // control.cc
  void BranchTo(int target, int block);
  absl::Status BranchTable(const Instruction& instruction, int block);
  absl::Status Exit(const Instruction& instruction, int block);
  absl::Status Barrier(const Instruction& instruction, int block);
  static absl::Status CheckBarrier(const Instruction& instruction, const Operand& id,
                                   const Operand* count);

  absl::Status WaitForLanes(const Instruction& instruction, int block);  // meeting.cc
  absl::Status LeaveOperands(const Instruction& instruction);
  absl::Status EmitMeeting(const Instruction& instruction, int block);

  absl::Status Shuffle(const Instruction& instruction);  // warp_wide.cc
  absl::Status Vote(const Instruction& instruction);
  absl::Status Exchange(const Instruction& instruction);
  absl::Status Elect(const Instruction& instruction);
  absl::Status MatrixProduct(const Instruction& instruction);
  absl::Status MatrixTiles(const Instruction& instruction);
  absl::Status WmmaMemory(const Instruction& instruction);
  void SetWithPredicate(const Operand& to, Value* value, Value* predicate);
  absl::StatusOr<Value*> RegisterArray(const Operand& operand, int registers, int bytes,
                                       int scratch, bool written);
  void ForgetRegisters(const Operand& operand);

  void Return(RunResult result, int block);
  void Goto(int from, int to);
  int NextBlock(int block) const;

  const RuntimeFunctions& runtime_;
  const ControlFlow& flow_;
  TranslatedKernel& kernel_;
  llvm::Module& module_;
  llvm::IRBuilder<> builder_;
  llvm::Function* function_ = nullptr;
  Value* registers_ = nullptr;
  Value* context_ = nullptr;
  Value* lanes_argument_ = nullptr;
  llvm::BasicBlock* entry_ = nullptr;
  std::vector<llvm::BasicBlock*> blocks_;
  std::vector<llvm::BasicBlock*> meetings_;  // by block: its entry behind the wait; may be null
  std::map<std::pair<size_t, int>, int> exchange_;  // registers by operand and width
  std::vector<int64_t> homes_;                      // offsets of registers
  std::vector<llvm::AllocaInst*> scratch_;
  // What becomes of a register: only some of its bits are used, by `and` with a constant; it is
  // only stored in the thread's own memory; anything.
  enum class Use : uint8_t { kNone, kMasked, kCopied, kAny };
  std::vector<Use> uses_;

  // Of the block that is emitted.
  struct Held {
    Value* value;
    bool dirty;
  };
  std::map<int, Held> values_;
  // Of the instruction that is emitted.
  int position_ = 0;
  Value* active_bits_ = nullptr;  // i32: the lanes of the group that the guard lets through
  Value* active_ = nullptr;       // the same as <32 x i1>
  bool guarded_ = false;
  bool in_places_ = false;  // the lanes that have met are in several places
};

}  // namespace stax::emulator

#endif  // STAX_RUNTIME_EMULATOR_TRANSLATE_WARP_EMITTER_H_
