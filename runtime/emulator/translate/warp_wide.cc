// Instructions in which the lanes of a warp work together: shuffles, votes, matches, reductions and
// products of matrices. WaitForLanes has seen to it that the lanes are there.
#include <cstddef>
#include <optional>

#include "absl/strings/str_cat.h"
#include "runtime/emulator/isa/instruction_name.h"
#include "runtime/emulator/isa/matrix_tiles.h"
#include "runtime/emulator/isa/mma.h"
#include "runtime/emulator/isa/warp_exchange.h"
#include "runtime/emulator/isa/wmma.h"
#include "runtime/emulator/translate/warp_emitter.h"

namespace stax::emulator {

using llvm::Value;

// shfl.sync.mode.b32 d[|p], a, b, c, members
absl::Status WarpEmitter::Shuffle(const Instruction& i) {
  const std::optional<isa::ShuffleMode> mode = isa::FindShuffle(i.Name());
  if (!mode.has_value() || i.operands.size() != 5) return Unsupported(i);
  Value* sources[3];
  for (int s = 0; s < 3; ++s) {
    absl::StatusOr<Value*> address = SourceAddress(i.operands[s + 1], 4, s);
    if (!address.ok()) return address.status();
    sources[s] = *address;
  }
  Value* result = Scratch(4, kWarpLanes * 4);
  Value* in_range =
      CallRuntime(reinterpret_cast<const void*>(runtime_.shuffle), builder_.getInt32Ty(),
                  {context_, builder_.getInt32(static_cast<uint32_t>(position_)), lanes_argument_,
                   builder_.getInt32(static_cast<uint32_t>(*mode)), sources[0], sources[1],
                   sources[2], result});
  Value* value = builder_.CreateAlignedLoad(LaneType(32), result, llvm::Align(64));
  SetWithPredicate(i.operands[0], value, FromBits(in_range));
  return absl::OkStatus();
}

// d[|p]
void WarpEmitter::SetWithPredicate(const Operand& to, Value* value, Value* predicate) {
  if (to.kind == Operand::Kind::kPair) {
    Set(to.elements[0], value);
    Set(to.elements[1], predicate);
  } else {
    Set(to, value);
  }
}

// vote.sync.mode d, p, members
absl::Status WarpEmitter::Vote(const Instruction& i) {
  const std::optional<isa::VoteMode> mode = isa::FindVote(i.Name());
  if (!mode.has_value() || i.operands.size() != 3) return Unsupported(i);
  absl::StatusOr<Value*> predicate = Get(i.operands[1], 1);
  if (!predicate.ok()) return predicate.status();
  Value* votes = builder_.CreateAnd(ToBits(*predicate), lanes_argument_);
  Value* none = builder_.CreateICmpEQ(votes, builder_.getInt32(0));
  Value* all = builder_.CreateICmpEQ(votes, lanes_argument_);
  Value* result = votes;
  if (*mode == isa::VoteMode::kAll) result = all;
  if (*mode == isa::VoteMode::kAny) result = builder_.CreateNot(none);
  if (*mode == isa::VoteMode::kUni) result = builder_.CreateOr(all, none);
  Set(i.operands[0], builder_.CreateVectorSplat(kWarpLanes, result));
  return absl::OkStatus();
}

// match.all.sync.type d|p, a, members; match.any.sync.type d, a, members; redux.sync.op.type d, a,
// members
absl::Status WarpEmitter::Exchange(const Instruction& i) {
  if (i.operands.size() != 3) return Unsupported(i);
  if (i.opcode == "match" && i.Has("all")) {
    const int bytes = i.Has("b64") ? 8 : 4;
    absl::StatusOr<Value*> source = SourceAddress(i.operands[1], bytes, 0);
    if (!source.ok()) return source.status();
    Value* result = Scratch(4, kWarpLanes * 4);
    Value* same = CallRuntime(
        reinterpret_cast<const void*>(&isa::MatchAll), builder_.getInt1Ty(),
        {lanes_argument_, builder_.getInt32(static_cast<uint32_t>(bytes)), *source, result});
    Value* value = builder_.CreateAlignedLoad(LaneType(32), result, llvm::Align(64));
    SetWithPredicate(i.operands[0], value, builder_.CreateVectorSplat(kWarpLanes, same));
    return absl::OkStatus();
  }
  const std::string name = i.Name();
  const std::optional<isa::WarpOperation> operation = isa::FindExchange(isa::InstructionName(name));
  if (!operation.has_value()) return Unsupported(i);
  Instruction without_members = i;
  without_members.operands.pop_back();
  return CallOperation(without_members, *operation);
}

// elect.sync d|p, members: the lowest lane is the leader.
absl::Status WarpEmitter::Elect(const Instruction& i) {
  if (i.operands.size() != 2) return Unsupported(i);
  Value* leader =
      builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, lanes_argument_, builder_.getFalse());
  Value* lanes = builder_.CreateVectorSplat(kWarpLanes, leader);
  Value* is_leader = builder_.CreateICmpEQ(lanes, Special("%laneid"));
  SetWithPredicate(i.operands[0], lanes, is_leader);
  return absl::OkStatus();
}

// An array of the addresses of a fragment's registers.
absl::StatusOr<Value*> WarpEmitter::RegisterArray(const Operand& operand, int registers, int bytes,
                                                  int scratch, bool written) {
  const bool is_vector = operand.kind == Operand::Kind::kVector;
  const int count = is_vector ? static_cast<int>(operand.elements.size()) : 1;
  const Instruction& i = kernel_.flat.instructions[position_];
  if (count != registers)
    return Unsupported(i, absl::StrCat("a matrix has ", count, " registers; expected ", registers));
  Value* array = Scratch(scratch, registers * 8);
  for (int r = 0; r < registers; ++r) {
    const Operand& element = is_vector ? operand.elements[r] : operand;
    Value* home = nullptr;
    if (written) {
      if (element.reg < 0 || RegisterBits(element.reg) != 8 * bytes)
        return Unsupported(i, "a matrix is not in registers of its width");
      Flush(element.reg);
      home = Home(element.reg);
    } else {
      absl::StatusOr<Value*> address = SourceAddress(element, bytes, scratch + 1 + r);
      if (!address.ok()) return address;
      home = *address;
    }
    builder_.CreateStore(home, builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), array,
                                                                   static_cast<uint64_t>(r) * 8));
  }
  return array;
}

void WarpEmitter::ForgetRegisters(const Operand& operand) {
  if (operand.reg >= 0) values_.erase(operand.reg);
  for (const Operand& element : operand.elements) ForgetRegisters(element);
}

absl::Status WarpEmitter::MatrixProduct(const Instruction& i) {
  auto operation = std::make_unique<isa::MmaOperation>();
  const std::string name = i.Name();
  if (const std::optional<isa::MmaOperation> mma = isa::FindMma(name)) {
    *operation = *mma;
  } else if (const std::optional<isa::WmmaOperation> wmma = isa::FindWmma(name)) {
    *operation = wmma->mma;
  } else {
    return Unsupported(i);
  }
  if (i.operands.size() != 4) return Unsupported(i);
  constexpr int kScratch = 8;  // first slot of the arrays; each is followed by its constants'
  constexpr int kSlots = 40;
  auto array = [&](int o, const isa::MmaFragment& f, bool written) {
    return RegisterArray(i.operands[o], f.registers, f.register_bytes, kScratch + o * kSlots,
                         written);
  };
  absl::StatusOr<Value*> a = array(1, operation->a, false);
  if (!a.ok()) return a.status();
  absl::StatusOr<Value*> b = array(2, operation->b, false);
  if (!b.ok()) return b.status();
  absl::StatusOr<Value*> c = array(3, operation->c, false);
  if (!c.ok()) return c.status();
  absl::StatusOr<Value*> d = array(0, operation->d, true);
  if (!d.ok()) return d.status();
  CallRuntime(reinterpret_cast<const void*>(runtime_.mma), builder_.getVoidTy(),
              {Pointer(operation.get()), *a, *b, *c, *d});
  kernel_.products.push_back(std::move(operation));
  ForgetRegisters(i.operands[0]);
  return absl::OkStatus();
}

// ldmatrix d, [p]; stmatrix [p], a; movmatrix d, a
absl::Status WarpEmitter::MatrixTiles(const Instruction& i) {
  const std::optional<isa::TileOperation> found = isa::FindTileOperation(i.Name());
  if (!found.has_value() || i.operands.size() != 2) return Unsupported(i);
  auto operation = std::make_unique<TileSite>();
  operation->tiles = *found;
  const bool stores = found->move == isa::TileMove::kStore;
  const Operand& registers = i.operands[stores ? 1 : 0];
  constexpr int kScratch = 8;
  absl::StatusOr<Value*> array = RegisterArray(registers, found->tiles, 4, kScratch, !stores);
  if (!array.ok()) return array.status();
  Value* other = nullptr;  // addresses, or movmatrix's source
  if (found->move == isa::TileMove::kTranspose) {
    absl::StatusOr<Value*> source = SourceAddress(i.operands[1], 4, 1);
    if (!source.ok()) return source.status();
    other = *source;
  } else {
    absl::StatusOr<Value*> addresses = Addresses(i.operands[stores ? 0 : 1], i);
    if (!addresses.ok()) return addresses.status();
    other = *addresses;
    operation->site = MakeSite(
        i, stores ? AccessKind::kStore : AccessKind::kLoad,
        i.Has("shared") || i.Has("shared::cta") ? ptx::Space::kShared : ptx::Space::kGeneric, 16,
        1);
  }
  CallRuntime(reinterpret_cast<const void*>(runtime_.tiles), builder_.getVoidTy(),
              {context_, Pointer(operation.get()), other, *array});
  kernel_.tiles.push_back(std::move(operation));
  if (!stores) ForgetRegisters(registers);
  return absl::OkStatus();
}

// wmma.load.m d, [p], stride; wmma.store.d [p], d, stride
absl::Status WarpEmitter::WmmaMemory(const Instruction& i) {
  const std::optional<isa::WmmaOperation> found = isa::FindWmma(i.Name());
  if (!found.has_value()) return Unsupported(i);
  if (found->move == isa::WmmaMove::kMma) return MatrixProduct(i);
  const bool stores = found->move == isa::WmmaMove::kStore;
  if (i.operands.size() < 2) return Unsupported(i);
  auto site = std::make_unique<WmmaSite>();
  site->operation = *found;
  const isa::MmaFragment& fragment = found->fragment;
  const Operand& registers = i.operands[stores ? 1 : 0];
  constexpr int kScratch = 8;
  absl::StatusOr<Value*> array =
      RegisterArray(registers, fragment.registers, fragment.register_bytes, kScratch, !stores);
  if (!array.ok()) return array.status();
  absl::StatusOr<Value*> addresses = Addresses(i.operands[stores ? 0 : 1], i);
  if (!addresses.ok()) return addresses.status();
  const Operand none;
  absl::StatusOr<Value*> stride =
      i.operands.size() > 2
          ? SourceAddress(i.operands[2], 4, 1)
          : absl::StatusOr<Value*>(llvm::ConstantPointerNull::get(builder_.getPtrTy()));
  if (!stride.ok()) return stride.status();
  ptx::Space space = ptx::Space::kGeneric;
  if (i.Has("shared") || i.Has("shared::cta")) space = ptx::Space::kShared;
  if (i.Has("global")) space = ptx::Space::kGlobal;
  const int bits = isa::BitsOf(fragment.element);
  if (bits < 8) return Unsupported(i, "elements of less than a byte");
  site->site = MakeSite(i, stores ? AccessKind::kStore : AccessKind::kLoad, space, bits / 8, 1);
  CallRuntime(reinterpret_cast<const void*>(runtime_.wmma), builder_.getVoidTy(),
              {context_, Pointer(site.get()), *addresses, *stride, *array});
  kernel_.fragments.push_back(std::move(site));
  if (!stores) ForgetRegisters(registers);
  return absl::OkStatus();
}

}  // namespace stax::emulator
