// Instructions at which lanes of a warp wait for each other, in one place or in several: PTX lets
// lanes meet that execute the same operation with the same member mask, wherever each of them is.
//
// Where all named lanes come to one place together, the instruction is executed there. Otherwise
// each leaves its operands in registers kept for that, the exchange, and waits (kWait). When those
// that are named have come, the scheduler enters each place behind the wait, and the instruction
// takes all lanes' operands from the exchange.
#include <cstddef>

#include "runtime/emulator/translate/warp_emitter.h"

namespace stax::emulator {

using llvm::Value;

namespace {

// The operand that names the lanes of a .sync instruction; -1: all lanes (.aligned without one).
int MemberMask(const ptx::Instruction& i) {
  static const auto* const operands =
      new std::map<std::string, int>{{"shfl", 4},  {"vote", 2}, {"match", 2},  {"redux", 2},
                                     {"elect", 1}, {"bar", 0},  {"barrier", 0}};
  auto found = operands->find(i.opcode);
  return found == operands->end() ? -1 : found->second;
}

// Widths of the operands from the first one to the member mask.
std::vector<int> SourceBits(const ptx::Instruction& i) {
  if (i.opcode == "shfl") return {32, 32, 32};
  if (i.opcode == "vote") return {1};
  if (i.opcode == "match" || i.opcode == "redux") return {i.Has("b64") ? 64 : 32};
  return {};
}

ptx::Type TypeOf(int bits) {
  if (bits == 1) return ptx::Type::kPred;
  return bits == 64 ? ptx::Type::kB64 : ptx::Type::kB32;
}

}  // namespace

void WarpEmitter::FindMeetings() {
  std::map<std::string, std::vector<int>> places;
  for (size_t block = 0; block < flow_.blocks.size(); ++block) {
    const BasicBlock& code = flow_.blocks[block];
    if (code.begin == code.end) continue;
    const Instruction& first = kernel_.flat.instructions[code.begin];
    if (IsConvergent(first) && !IsBarrier(first) && MemberMask(first) >= 0)
      places[first.Name()].push_back(static_cast<int>(block));
  }
  kernel_.meeting_of.assign(flow_.blocks.size(), -1);
  int meetings = 0;
  for (const auto& [name, blocks] : places) {
    if (blocks.size() < 2) continue;
    for (int block : blocks) kernel_.meeting_of[block] = meetings;
    ++meetings;
    const std::vector<int> bits =
        SourceBits(kernel_.flat.instructions[flow_.blocks[blocks.front()].begin]);
    for (size_t source = 0; source < bits.size(); ++source) {
      auto [entry, added] =
          exchange_.try_emplace({source, bits[source]}, kernel_.flat.registers.size());
      if (added) kernel_.flat.registers.push_back({"exchange", TypeOf(bits[source])});
    }
  }
}

// Goes on when all lanes that the instruction names, and that have not exited, are here.
absl::Status WarpEmitter::WaitForLanes(const Instruction& i, int block) {
  const int operand = MemberMask(i);
  if (operand >= static_cast<int>(i.operands.size()))
    return Unsupported(i, "it names no lanes (.sync)");
  Value* live = builder_.CreateVectorSplat(kWarpLanes, LoadMember(offsetof(WarpContext, live)));
  Value* members = Splat(0xffffffff, 32);
  if (operand >= 0) {
    absl::StatusOr<Value*> got = Get(i.operands[operand], 32);
    if (!got.ok()) return got.status();
    members = *got;
  }
  // A lane that the instruction does not name must not be here; it would wait for ever.
  Value* self = builder_.CreateAnd(members, Special("%lanemask_eq"));
  Value* not_named =
      builder_.CreateAnd(ToBits(builder_.CreateICmpEQ(self, Splat(0, 32))), lanes_argument_);
  members = builder_.CreateOr(members, Special("%lanemask_eq"));
  Value* wanted = builder_.CreateAnd(members, live);
  Value* here = builder_.CreateVectorSplat(kWarpLanes, lanes_argument_);
  Value* differs = builder_.CreateAnd(ToBits(builder_.CreateICmpNE(wanted, here)), lanes_argument_);
  llvm::BasicBlock* wait = llvm::BasicBlock::Create(module_.getContext(), "wait", function_);
  llvm::BasicBlock* go_on = llvm::BasicBlock::Create(module_.getContext(), "go_on", function_);
  builder_.CreateCondBr(builder_.CreateICmpEQ(differs, builder_.getInt32(0)), go_on, wait);
  builder_.SetInsertPoint(wait);
  ReportMisuse(Misuse::kNotNamed, not_named, 0);
  if (kernel_.meeting_of[block] >= 0) {
    absl::Status status = LeaveOperands(i);
    if (!status.ok()) return status;
  }
  builder_.CreateAlignedStore(wanted, Member(offsetof(WarpContext, targets)), llvm::Align(4));
  Return(RunResult::kWait, block);
  builder_.SetInsertPoint(go_on);
  return absl::OkStatus();
}

absl::Status WarpEmitter::LeaveOperands(const Instruction& i) {
  const std::map<int, Held> values = values_;
  const std::vector<int> bits = SourceBits(i);
  for (size_t source = 0; source < bits.size(); ++source) {
    absl::StatusOr<Value*> value = Get(i.operands[source + 1], bits[source]);
    if (!value.ok()) return value.status();
    const int reg = exchange_.at({source, bits[source]});
    Write(reg, *value);
    Flush(reg);
  }
  values_ = values;  // what was read is known in this branch alone
  return absl::OkStatus();
}

// The first instruction of a block, in both ways; its results are what comes of either.
absl::Status WarpEmitter::EmitMeeting(const Instruction& i, int block) {
  llvm::BasicBlock* join = llvm::BasicBlock::Create(module_.getContext(), "met", function_);
  active_bits_ = lanes_argument_;
  absl::Status status = Dispatch(i);
  if (!status.ok()) return status;
  llvm::BasicBlock* together = builder_.GetInsertBlock();
  builder_.CreateBr(join);
  const std::map<int, Held> in_one_place = values_;

  builder_.SetInsertPoint(meetings_[block]);
  Forget();
  Value* own = lanes_argument_;
  lanes_argument_ = active_bits_ = LoadMember(offsetof(WarpContext, met));
  Instruction exchange = i;
  const std::vector<int> bits = SourceBits(i);
  for (size_t source = 0; source < bits.size(); ++source) {
    Operand& operand = exchange.operands[source + 1];
    operand = Operand();
    operand.kind = Operand::Kind::kRegister;
    operand.reg = exchange_.at({source, bits[source]});
  }
  in_places_ = true;
  status = Dispatch(exchange);
  in_places_ = false;
  lanes_argument_ = own;
  if (!status.ok()) return status;
  llvm::BasicBlock* apart = builder_.GetInsertBlock();
  builder_.CreateBr(join);
  const std::map<int, Held> in_places = values_;

  builder_.SetInsertPoint(join);
  Forget();
  for (const auto& [reg, held] : in_one_place) {
    if (!held.dirty) continue;
    llvm::PHINode* either = builder_.CreatePHI(held.value->getType(), 2);
    either->addIncoming(held.value, together);
    either->addIncoming(in_places.at(reg).value, apart);
    values_[reg] = {either, true};
  }
  return absl::OkStatus();
}

}  // namespace stax::emulator
