// Mbarriers, and what names blocks of a cluster. Asynchronous copies are in copies.cc.
#include <cstddef>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/emulator/translate/warp_emitter.h"

namespace stax::emulator {

using llvm::Value;

namespace {

ptx::Space SharedOrGeneric(const ptx::Instruction& i) {
  for (const std::string& name : i.modifiers) {
    if (name == "shared" || absl::StartsWith(name, "shared::")) return ptx::Space::kShared;
  }
  return ptx::Space::kGeneric;
}

}  // namespace

// One operation on the object at an address. `state` receives what the object was before;
// `done`, of waits, for which lanes the phase is over.
absl::Status WarpEmitter::EmitMbarrier(const Instruction& i, MbarrierOp op, const Operand& address,
                                       Value* operand, const Operand* state, const Operand* done) {
  auto site = std::make_unique<MbarrierSite>();
  site->op = op;
  const bool waits = op == MbarrierOp::kTestWait || op == MbarrierOp::kTestParity;
  const bool begins = op == MbarrierOp::kInit || op == MbarrierOp::kInvalidate;
  const AccessKind kind = waits    ? AccessKind::kLoad
                          : begins ? AccessKind::kStore
                                   : AccessKind::kAtomic;
  site->site = MakeSite(i, kind, SharedOrGeneric(i), 8, 1);
  kernel_.sites.back()->access.strong = !begins;
  Value* operands = Scratch(1, kWarpLanes * 8);
  builder_.CreateAlignedStore(operand, operands, llvm::Align(64));
  absl::StatusOr<Value*> addresses = Addresses(address, i);
  if (!addresses.ok()) return addresses.status();
  Value* states = Scratch(2, kWarpLanes * 8);
  Value* result =
      CallRuntime(reinterpret_cast<const void*>(runtime_.mbarrier), builder_.getInt32Ty(),
                  {context_, Pointer(site.get()), active_bits_, *addresses, operands, states});
  kernel_.barriers.push_back(std::move(site));
  if (done != nullptr) Set(*done, FromBits(result));
  if (state != nullptr)
    Set(*state, builder_.CreateAlignedLoad(LaneType(64), states, llvm::Align(64)));
  return absl::OkStatus();
}

absl::Status WarpEmitter::MemoryBarrier(const Instruction& i) {
  auto number = [&](size_t o, int bits) -> absl::StatusOr<Value*> {
    absl::StatusOr<Value*> value = Get(i.operands[o], bits);
    if (value.ok() && bits < 64) return builder_.CreateZExt(*value, LaneType(64));
    return value;
  };
  const size_t count = i.operands.size();
  const bool tx = i.Has("expect_tx");
  if (i.Has("pending_count") && count == 2) {
    absl::StatusOr<Value*> state = Get(i.operands[1], 64);
    if (!state.ok()) return state.status();
    constexpr uint64_t kCountMask = (1 << 20) - 1;  // launch/mbarrier.h
    Set(i.operands[0], builder_.CreateAnd(*state, Splat(kCountMask, 64)));
    return absl::OkStatus();
  }
  if (i.Has("test_wait") || i.Has("try_wait")) {
    if (count < 3) return Unsupported(i);
    const bool parity = i.Has("parity");
    absl::StatusOr<Value*> operand = number(2, parity ? 32 : 64);
    if (!operand.ok()) return operand.status();
    return EmitMbarrier(i, parity ? MbarrierOp::kTestParity : MbarrierOp::kTestWait, i.operands[1],
                        *operand, nullptr, i.operands.data());
  }
  if (i.Has("arrive") || i.Has("arrive_drop")) {
    if (count < 2 || (i.Has("arrive_drop") && tx)) return Unsupported(i);
    const bool has_count = count > 2;
    if (tx && !has_count) return Unsupported(i);
    absl::StatusOr<Value*> operand =
        has_count ? number(2, 32) : absl::StatusOr<Value*>(Splat(1, 64));
    if (!operand.ok()) return operand.status();
    const MbarrierOp op = tx                     ? MbarrierOp::kArriveExpectTx
                          : i.Has("arrive_drop") ? MbarrierOp::kArriveDrop
                                                 : MbarrierOp::kArrive;
    return EmitMbarrier(i, op, i.operands[1], *operand, i.operands.data(), nullptr);
  }
  if (i.Has("inval") && count == 1)
    return EmitMbarrier(i, MbarrierOp::kInvalidate, i.operands[0], Splat(0, 64), nullptr, nullptr);
  if (count != 2 || !(i.Has("init") || tx || i.Has("complete_tx"))) return Unsupported(i);
  absl::StatusOr<Value*> operand = number(1, 32);
  if (!operand.ok()) return operand.status();
  if (i.Has("init")) {
    constexpr uint32_t kMostArrivals = (1 << 20) - 1;
    Value* less = builder_.CreateSub(*operand, Splat(1, 64));  // 0 becomes the largest
    Value* wrong = builder_.CreateICmpUGE(less, Splat(kMostArrivals, 64));
    ReportMisuse(Misuse::kMbarrierCount, builder_.CreateAnd(ToBits(wrong), active_bits_),
                 kMostArrivals);
  }
  const MbarrierOp op = i.Has("init") ? MbarrierOp::kInit
                        : tx          ? MbarrierOp::kExpectTx
                                      : MbarrierOp::kCompleteTx;
  return EmitMbarrier(i, op, i.operands[0], *operand, nullptr, nullptr);
}

// mapa[.shared::cluster].type d, a, rank: the address of `a` in another block of the cluster.
// getctarank: the rank of the block that an address belongs to.
absl::Status WarpEmitter::MapAddress(const Instruction& i) {
  ScalarType type;
  if (i.modifiers.empty() || !ParseScalarType(i.modifiers.back(), type)) return Unsupported(i);
  const bool in_window = i.Has("shared::cluster");
  if (i.opcode == "getctarank") {
    if (i.operands.size() != 2) return Unsupported(i);
    absl::StatusOr<Value*> address = Get(i.operands[1], type.bits);
    if (!address.ok()) return address.status();
    Value* wide = builder_.CreateZExt(*address, LaneType(64));
    wide = builder_.CreateAnd(wide, Splat(kWindowOffsetMask, 64));
    Value* field = builder_.CreateLShr(wide, Splat(kSharedRankShift, 64));
    Value* own =
        builder_.CreateVectorSplat(kWarpLanes, LoadMember(offsetof(WarpContext, cluster_ctarank)));
    Value* other = builder_.CreateTrunc(builder_.CreateSub(field, Splat(1, 64)), LaneType(32));
    Set(i.operands[0],
        builder_.CreateSelect(builder_.CreateICmpEQ(field, Splat(0, 64)), own, other));
    return absl::OkStatus();
  }
  if (i.operands.size() != 3) return Unsupported(i);
  absl::StatusOr<Value*> address = Get(i.operands[1], type.bits);
  if (!address.ok()) return address.status();
  absl::StatusOr<Value*> rank = Get(i.operands[2], 32);
  if (!rank.ok()) return rank.status();
  Value* field = builder_.CreateAdd(*rank, Splat(1, 32));
  field = builder_.CreateZExtOrTrunc(field, LaneType(type.bits));
  field = builder_.CreateShl(field, Splat(kSharedRankShift, type.bits));
  Value* offset = builder_.CreateAnd(*address, Splat(kSharedOffsetMask, type.bits));
  Value* result = builder_.CreateOr(offset, field);
  if (!in_window) result = builder_.CreateOr(result, Splat(kSharedWindow, type.bits));
  Set(i.operands[0], result);
  return absl::OkStatus();
}

// isspacep.space p, a
absl::Status WarpEmitter::IsSpace(const Instruction& i) {
  if (i.operands.size() != 2 || i.modifiers.empty()) return Unsupported(i);
  absl::StatusOr<Value*> address = Get(i.operands[1], 64);
  if (!address.ok()) return address.status();
  const std::string& space = i.modifiers[0];
  uint64_t window = 0;
  if (absl::StartsWith(space, "shared")) window = kSharedWindow;
  if (space == "local") window = kLocalWindow;
  if (space == "const") window = kConstWindow;
  if (absl::StartsWith(space, "param")) window = kParamWindow;
  if (window == 0 && space != "global") return Unsupported(i);
  Value* prefix = builder_.CreateLShr(*address, Splat(kWindowShift, 64));
  Set(i.operands[0], builder_.CreateICmpEQ(prefix, Splat(window >> kWindowShift, 64)));
  return absl::OkStatus();
}

absl::Status WarpEmitter::ActiveMask(const Instruction& i) {
  if (i.operands.size() != 1) return Unsupported(i);
  Set(i.operands[0], builder_.CreateVectorSplat(kWarpLanes, active_bits_));
  return absl::OkStatus();
}

}  // namespace stax::emulator
