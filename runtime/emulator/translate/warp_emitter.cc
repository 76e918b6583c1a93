#include "runtime/emulator/translate/warp_emitter.h"

#include <cstddef>
#include <optional>

#include "absl/strings/str_cat.h"
#include "runtime/emulator/isa/carry.h"
#include "runtime/emulator/isa/compare.h"
#include "runtime/emulator/isa/find_operation.h"

namespace stax::emulator {
namespace {

constexpr int64_t kHomeAlign = kRegisterAlign;  // of a vector register

}  // namespace

bool ParseScalarType(const std::string& name, ScalarType& type) {
  using Kind = ScalarType::Kind;
  static const auto* const types = new std::map<std::string, ScalarType>{
      {"pred", {Kind::kPred, 1}},     {"b8", {Kind::kBits, 8}},
      {"b16", {Kind::kBits, 16}},     {"b32", {Kind::kBits, 32}},
      {"b64", {Kind::kBits, 64}},     {"b128", {Kind::kBits, 128}},
      {"u8", {Kind::kUnsigned, 8}},   {"u16", {Kind::kUnsigned, 16}},
      {"u32", {Kind::kUnsigned, 32}}, {"u64", {Kind::kUnsigned, 64}},
      {"s8", {Kind::kSigned, 8}},     {"s16", {Kind::kSigned, 16}},
      {"s32", {Kind::kSigned, 32}},   {"s64", {Kind::kSigned, 64}},
      {"f16", {Kind::kFloat, 16}},    {"f32", {Kind::kFloat, 32}},
      {"f64", {Kind::kFloat, 64}},    {"bf16", {Kind::kFloat, 16}}};
  auto found = types->find(name);
  if (found == types->end()) return false;
  type = found->second;
  return true;
}

WarpEmitter::WarpEmitter(const RuntimeFunctions& runtime, const ControlFlow& flow,
                         TranslatedKernel& kernel, llvm::Module& module)
    : runtime_(runtime),
      flow_(flow),
      kernel_(kernel),
      module_(module),
      builder_(module.getContext()) {}

absl::Status WarpEmitter::Emit() {
  FindMeetings();
  EmitPrologue();
  FindUses();
  for (size_t block = 0; block < flow_.blocks.size(); ++block) {
    absl::Status status = EmitBlock(static_cast<int>(block));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

void WarpEmitter::EmitPrologue() {
  int64_t bytes = 0;
  for (size_t reg = 0; reg < kernel_.flat.registers.size(); ++reg) {
    const int bits = RegisterBits(static_cast<int>(reg));
    const int64_t size = bits == 1 ? 4 : int64_t{kWarpLanes} * bits / 8;
    if (bits > 1) bytes = (bytes + kHomeAlign - 1) / kHomeAlign * kHomeAlign;
    homes_.push_back(bytes);
    bytes += size;
  }
  kernel_.register_bytes = (bytes + kHomeAlign - 1) / kHomeAlign * kHomeAlign;
  llvm::Type* pointer = builder_.getPtrTy();
  llvm::Type* word = builder_.getInt32Ty();
  auto* type =
      llvm::FunctionType::get(builder_.getInt64Ty(), {pointer, pointer, word, word}, false);
  function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, kernel_.entry, module_);
  registers_ = function_->getArg(0);
  context_ = function_->getArg(1);
  lanes_argument_ = function_->getArg(3);
  entry_ = llvm::BasicBlock::Create(module_.getContext(), "entry", function_);
  for (size_t block = 0; block < flow_.blocks.size(); ++block)
    blocks_.push_back(
        llvm::BasicBlock::Create(module_.getContext(), absl::StrCat("block", block), function_));
  builder_.SetInsertPoint(entry_);
  auto* choice = builder_.CreateSwitch(function_->getArg(2), blocks_.back(),
                                       static_cast<unsigned>(blocks_.size()));
  for (size_t block = 0; block < blocks_.size(); ++block)
    choice->addCase(builder_.getInt32(static_cast<uint32_t>(block)), blocks_[block]);
  meetings_.assign(blocks_.size(), nullptr);
  for (size_t block = 0; block < blocks_.size(); ++block) {
    if (kernel_.meeting_of[block] < 0) continue;
    meetings_[block] =
        llvm::BasicBlock::Create(module_.getContext(), absl::StrCat("meeting", block), function_);
    choice->addCase(builder_.getInt32(static_cast<uint32_t>(block + blocks_.size())),
                    meetings_[block]);
  }
}

void WarpEmitter::FindUses() {
  uses_.assign(kernel_.flat.registers.size(), Use::kNone);
  std::vector<int> read;
  for (const Instruction& i : kernel_.flat.instructions) {
    read.clear();
    RegistersRead(i, read);
    const bool masks = i.opcode == "and" && i.operands.size() == 3 && i.guard < 0 &&
                       i.operands[2].kind == Operand::Kind::kInteger;
    const bool stores = i.opcode == "st" && i.guard < 0 && !i.Has("global") && !i.Has("shared");
    for (int reg : read) {
      const bool is_address = stores && reg == i.operands[0].reg;
      const Use use = masks ? Use::kMasked : stores && !is_address ? Use::kCopied : Use::kAny;
      uses_[reg] = uses_[reg] == Use::kNone || uses_[reg] == use ? use : Use::kAny;
    }
  }
}

void WarpEmitter::Count(int counter, Value* lanes) {
  Value* counts = builder_.CreateLoad(builder_.getPtrTy(), Member(offsetof(WarpContext, counts)));
  auto add = [&](int index, Value* amount) {
    Value* at = builder_.CreateConstInBoundsGEP1_64(builder_.getInt64Ty(), counts,
                                                    static_cast<uint64_t>(index));
    Value* old = builder_.CreateLoad(builder_.getInt64Ty(), at);
    builder_.CreateStore(builder_.CreateAdd(old, amount), at);
  };
  Value* any = builder_.CreateICmpNE(lanes, builder_.getInt32(0));
  add(2 * counter, builder_.CreateZExt(any, builder_.getInt64Ty()));
  Value* number = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, lanes);
  add(2 * counter + 1, builder_.CreateZExt(number, builder_.getInt64Ty()));
}

llvm::Value* WarpEmitter::CallRuntime(const void* function, llvm::Type* result,
                                      llvm::ArrayRef<Value*> arguments) {
  std::vector<llvm::Type*> types;
  for (const Value* argument : arguments) types.push_back(argument->getType());
  return builder_.CreateCall(llvm::FunctionType::get(result, types, false), Pointer(function),
                             arguments);
}

void WarpEmitter::ReportMisuse(Misuse kind, Value* lanes, uint32_t limit) {
  CallRuntime(reinterpret_cast<const void*>(runtime_.misuse), builder_.getVoidTy(),
              {context_, builder_.getInt32(static_cast<uint32_t>(position_)), lanes,
               builder_.getInt32(static_cast<uint32_t>(kind)), builder_.getInt32(limit)});
}

int WarpEmitter::NextBlock(int block) const { return flow_.block_of[flow_.blocks[block].end]; }

absl::Status WarpEmitter::EmitBlock(int block) {
  const BasicBlock& code = flow_.blocks[block];
  builder_.SetInsertPoint(blocks_[block]);
  Forget();
  if (code.begin == code.end) {  // the end of the kernel
    Return(RunResult::kExit, block);
    return absl::OkStatus();
  }
  guarded_ = false;
  position_ = code.begin;
  // Lanes may have to wait here, which is no run of the block.
  const Instruction& first = kernel_.flat.instructions[code.begin];
  if (IsConvergent(first) && !IsBarrier(first)) {
    absl::Status status = WaitForLanes(first, block);
    if (status.ok() && meetings_[block] != nullptr) status = EmitMeeting(first, block);
    if (!status.ok()) return status;
  }
  const int counter = kernel_.counters++;
  Count(counter, lanes_argument_);
  for (int i = code.begin; i < code.end; ++i) {
    position_ = i;
    const Instruction& instruction = kernel_.flat.instructions[i];
    const bool counts = kernel_.flat.added_branches.count(i) == 0;
    if (counts) kernel_.counter_of[i] = counter;
    guarded_ = instruction.guard >= 0;
    active_bits_ = lanes_argument_;
    active_ = nullptr;
    if (guarded_) {
      active_ = Read(instruction.guard);
      if (instruction.guard_negated) active_ = builder_.CreateNot(active_);
      active_bits_ = builder_.CreateAnd(ToBits(active_), lanes_argument_);
      if (counts) {
        kernel_.counter_of[i] = kernel_.counters++;
        Count(kernel_.counter_of[i], active_bits_);
      }
    }
    if (i == code.begin && meetings_[block] != nullptr) continue;  // emitted above
    absl::Status status;
    const std::string& opcode = instruction.opcode;
    if (opcode == "bra" || (opcode == "ret" && !instruction.operands.empty())) {
      status = Branch(instruction, block);
    } else if (opcode == "brx") {
      status = BranchTable(instruction, block);
    } else if (opcode == "exit" || opcode == "trap" || opcode == "ret") {
      status = Exit(instruction, block);
    } else if (IsBarrier(instruction)) {
      status = Barrier(instruction, block);
    } else {
      status = Dispatch(instruction);
    }
    if (!status.ok()) return status;
  }
  if (builder_.GetInsertBlock()->getTerminator() == nullptr) {
    FlushLive(block);
    Goto(block, NextBlock(block));
  }
  return absl::OkStatus();
}

absl::Status WarpEmitter::Unsupported(const Instruction& instruction, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat("line ", instruction.line, ": ",
                                                 instruction.Name(), " is not supported",
                                                 why.empty() ? "" : ": ", why));
}

absl::Status WarpEmitter::Dispatch(const Instruction& instruction) {
  using Method = absl::Status (WarpEmitter::*)(const Instruction&);
  static const auto* const methods =
      new std::map<std::string, Method>{{"mov", &WarpEmitter::Move},
                                        {"selp", &WarpEmitter::Select},
                                        {"setp", &WarpEmitter::SetPredicate},
                                        {"ld", &WarpEmitter::Load},
                                        {"ldu", &WarpEmitter::Load},
                                        {"st", &WarpEmitter::Store},
                                        {"atom", &WarpEmitter::Atomic},
                                        {"red", &WarpEmitter::Atomic},
                                        {"fence", &WarpEmitter::Fence},
                                        {"membar", &WarpEmitter::Fence},
                                        {"cvta", &WarpEmitter::ConvertAddress},
                                        {"shfl", &WarpEmitter::Shuffle},
                                        {"vote", &WarpEmitter::Vote},
                                        {"match", &WarpEmitter::Exchange},
                                        {"redux", &WarpEmitter::Exchange},
                                        {"elect", &WarpEmitter::Elect},
                                        {"mma", &WarpEmitter::MatrixProduct},
                                        {"wmma", &WarpEmitter::WmmaMemory},
                                        {"ldmatrix", &WarpEmitter::MatrixTiles},
                                        {"stmatrix", &WarpEmitter::MatrixTiles},
                                        {"movmatrix", &WarpEmitter::MatrixTiles},
                                        {"cp", &WarpEmitter::CopyAsync},
                                        {"mbarrier", &WarpEmitter::MemoryBarrier},
                                        {"mapa", &WarpEmitter::MapAddress},
                                        {"isspacep", &WarpEmitter::IsSpace},
                                        {"activemask", &WarpEmitter::ActiveMask},
                                        {"getctarank", &WarpEmitter::MapAddress}};
  auto method = methods->find(instruction.opcode);
  if (method != methods->end()) return (this->*method->second)(instruction);
  // Hints and what has no effect here.
  if (instruction.opcode == "call" || instruction.opcode == "prefetch" ||
      instruction.opcode == "prefetchu" || instruction.opcode == "nanosleep" ||
      instruction.opcode == "pmevent" || instruction.opcode == "discard" ||
      instruction.opcode == "applypriority" || instruction.opcode == "griddepcontrol" ||
      instruction.opcode == "setmaxnreg")
    return absl::OkStatus();
  if ((instruction.opcode == "bar" || instruction.opcode == "barrier") && instruction.Has("warp")) {
    CallRuntime(
        reinterpret_cast<const void*>(runtime_.warp_barrier), builder_.getVoidTy(),
        {context_, in_places_ ? LoadMember(offsetof(WarpContext, met_first)) : active_bits_});
    return absl::OkStatus();
  }
  absl::Status status;
  if (EmitSimple(instruction, status)) return status;
  if (instruction.opcode == "cvt" && Convert(instruction, status)) return status;
  const std::string name = instruction.Name();
  if (std::optional<isa::WarpOperation> operation = isa::FindWarpOperation(name))
    return CallOperation(instruction, *operation);
  if (std::optional<isa::CompareOperation> operation = isa::FindCompareOperation(name))
    return CallCompare(instruction, *operation);
  if (std::optional<isa::CarryOperation> operation = isa::FindCarryOperation(name))
    return CallCarry(instruction, *operation);
  return Unsupported(instruction);
}

}  // namespace stax::emulator
