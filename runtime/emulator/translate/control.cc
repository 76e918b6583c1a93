// Branches, exits and barriers.
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "runtime/emulator/translate/warp_emitter.h"

namespace stax::emulator {

using llvm::Value;

void WarpEmitter::Return(RunResult result, int block) {
  builder_.CreateRet(builder_.getInt64(static_cast<uint64_t>(block) << kRunBlockShift |
                                       static_cast<uint64_t>(result)));
}

// All lanes of the group go on at a block. Where other lanes of the warp are on their way, the
// launcher decides who runs next.
void WarpEmitter::Goto(int from, int to) {
  llvm::LLVMContext& context = module_.getContext();
  llvm::BasicBlock* go_on = llvm::BasicBlock::Create(context, "together", function_);
  llvm::BasicBlock* give_way = llvm::BasicBlock::Create(context, "diverged", function_);
  Value* others = LoadMember(offsetof(WarpContext, others));
  builder_.CreateCondBr(builder_.CreateICmpEQ(others, builder_.getInt32(0)), go_on, give_way);
  builder_.SetInsertPoint(give_way);
  Return(RunResult::kGoto, to);
  builder_.SetInsertPoint(go_on);
  if (!ControlFlow::IsBackward(from, to)) {
    builder_.CreateBr(blocks_[to]);
    return;
  }
  Value* left = builder_.CreateSub(LoadMember(offsetof(WarpContext, budget)), builder_.getInt32(1));
  StoreMember(offsetof(WarpContext, budget), left);
  llvm::BasicBlock* tired = llvm::BasicBlock::Create(context, "tired", function_);
  builder_.CreateCondBr(builder_.CreateICmpSGT(left, builder_.getInt32(0)), blocks_[to], tired);
  builder_.SetInsertPoint(tired);
  Return(RunResult::kYield, to);
}

absl::Status WarpEmitter::Branch(const Instruction& i, int block) {
  if (i.operands.empty() || i.operands[0].kind != Operand::Kind::kLabel) return Unsupported(i);
  FlushLive(block);
  BranchTo(flow_.block_of[i.operands[0].integer], block);
  return absl::OkStatus();
}

// The lanes that the guard lets through go to a block, the rest to the next one.
void WarpEmitter::BranchTo(int target, int block) {
  if (!guarded_) {
    Goto(block, target);
    return;
  }
  llvm::LLVMContext& context = module_.getContext();
  auto make = [&](const char* name) { return llvm::BasicBlock::Create(context, name, function_); };
  llvm::BasicBlock* all = make("all");
  llvm::BasicBlock* not_all = make("not_all");
  llvm::BasicBlock* none = make("none");
  llvm::BasicBlock* some = make("some");
  builder_.CreateCondBr(builder_.CreateICmpEQ(active_bits_, lanes_argument_), all, not_all);
  builder_.SetInsertPoint(all);
  Goto(block, target);
  builder_.SetInsertPoint(not_all);
  builder_.CreateCondBr(builder_.CreateICmpEQ(active_bits_, builder_.getInt32(0)), none, some);
  builder_.SetInsertPoint(none);
  Goto(block, NextBlock(block));
  builder_.SetInsertPoint(some);
  StoreMember(offsetof(WarpContext, taken), active_bits_);
  StoreMember(offsetof(WarpContext, other_block), builder_.getInt32(NextBlock(block)));
  Return(RunResult::kDiverge, target);
}

// brx.idx index, {labels}: an index beyond the table, which is reported, takes the last label.
absl::Status WarpEmitter::BranchTable(const Instruction& i, int block) {
  if (i.operands.size() != 2 || i.operands[1].elements.empty()) return Unsupported(i);
  absl::StatusOr<Value*> index = Get(i.operands[0], 32);
  if (!index.ok()) return index.status();
  const std::vector<Operand>& labels = i.operands[1].elements;
  auto block_of = [&](size_t label) {
    return Splat(static_cast<uint64_t>(flow_.block_of[labels[label].integer]), 32);
  };
  Value* beyond = builder_.CreateICmpUGE(*index, Splat(labels.size(), 32));
  ReportMisuse(Misuse::kBranchIndex, builder_.CreateAnd(ToBits(beyond), active_bits_),
               static_cast<uint32_t>(labels.size()));
  Value* targets = block_of(labels.size() - 1);
  for (size_t label = 0; label + 1 < labels.size(); ++label) {
    Value* here = builder_.CreateICmpEQ(*index, Splat(label, 32));
    targets = builder_.CreateSelect(here, block_of(label), targets);
  }
  if (guarded_) {
    Value* next = Splat(static_cast<uint64_t>(NextBlock(block)), 32);
    targets = builder_.CreateSelect(active_, targets, next);
  }
  FlushLive(block);
  builder_.CreateAlignedStore(targets, Member(offsetof(WarpContext, targets)), llvm::Align(4));
  Return(RunResult::kScatter, block);
  return absl::OkStatus();
}

absl::Status WarpEmitter::Exit(const Instruction& i, int block) {
  FlushLive(block);
  if (i.opcode != "trap") {
    BranchTo(static_cast<int>(blocks_.size()) - 1, block);
    return absl::OkStatus();
  }
  llvm::BasicBlock* trap = llvm::BasicBlock::Create(module_.getContext(), "trap", function_);
  llvm::BasicBlock* go_on = llvm::BasicBlock::Create(module_.getContext(), "go_on", function_);
  builder_.CreateCondBr(builder_.CreateICmpNE(active_bits_, builder_.getInt32(0)), trap, go_on);
  builder_.SetInsertPoint(trap);
  StoreMember(offsetof(WarpContext, taken), active_bits_);
  StoreMember(offsetof(WarpContext, barrier_instruction), builder_.getInt32(position_));
  Return(RunResult::kTrap, block);
  builder_.SetInsertPoint(go_on);
  if (guarded_) {
    Goto(block, NextBlock(block));
  } else {
    Return(RunResult::kExit, block);  // no lane comes here, and there may be no block that follows
  }
  return absl::OkStatus();
}

// What ptxas refuses. `count` may be null.
absl::Status WarpEmitter::CheckBarrier(const Instruction& i, const Operand& id,
                                       const Operand* count) {
  constexpr int64_t kBarriers = 16;  // of a block
  auto wrong = [&](const std::string& why) {
    return absl::InvalidArgumentError(absl::StrCat("line ", i.line, ": ", i.Name(), ": ", why));
  };
  if (id.kind == Operand::Kind::kInteger && (id.integer < 0 || id.integer >= kBarriers))
    return wrong(
        absl::StrCat("barrier ", id.integer, "; a block has the barriers 0 to ", kBarriers - 1));
  const bool is_number = count != nullptr && count->kind == Operand::Kind::kInteger;
  if (i.Has("arrive") && (count == nullptr || (is_number && count->integer == 0)))
    return wrong("it needs the number of threads that the barrier waits for");
  if (is_number && count->integer % kWarpLanes != 0)
    return wrong(
        absl::StrCat(count->integer, " threads; a barrier counts a multiple of ", kWarpLanes));
  return absl::OkStatus();
}

// bar.sync a [, b]; bar.arrive a, b; bar.red.op.type d, a [, b], c; barrier.cluster.arrive and wait
absl::Status WarpEmitter::Barrier(const Instruction& i, int block) {
  Value* id = Splat(0, 32);
  Value* count = Splat(0, 32);
  if (!i.Has("cluster")) {
    const bool reduces = i.Has("red");
    const size_t first = reduces ? 1 : 0;
    const size_t last = i.operands.size() - (reduces ? 1 : 0);  // before the predicate
    if (i.operands.size() < first + 1 || last < first + 1) return Unsupported(i);
    const Operand* counted = first + 1 < last ? &i.operands[first + 1] : nullptr;
    absl::Status status = CheckBarrier(i, i.operands[first], counted);
    if (!status.ok()) return status;
    absl::StatusOr<Value*> got = Get(i.operands[first], 32);
    if (!got.ok()) return got.status();
    id = *got;
    if (counted != nullptr) {
      got = Get(*counted, 32);
      if (!got.ok()) return got.status();
      count = *got;
    }
    if (reduces) {
      got = Get(i.operands.back(), 1);
      if (!got.ok()) return got.status();
      StoreMember(offsetof(WarpContext, barrier_predicate), ToBits(*got));
      const int reg = i.operands[0].reg;
      if (reg >= 0) {
        Flush(reg);
        kernel_.barrier_results[position_] = {homes_[reg], RegisterBits(reg)};
      }
    }
  }
  FlushLive(block);
  builder_.CreateAlignedStore(id, Member(offsetof(WarpContext, barrier_id)), llvm::Align(4));
  builder_.CreateAlignedStore(count, Member(offsetof(WarpContext, barrier_count)), llvm::Align(4));
  StoreMember(offsetof(WarpContext, taken), active_bits_);
  StoreMember(offsetof(WarpContext, barrier_instruction), builder_.getInt32(position_));
  Return(RunResult::kBarrier, NextBlock(block));
  return absl::OkStatus();
}

}  // namespace stax::emulator
