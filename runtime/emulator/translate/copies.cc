// Asynchronous copies. They are done at once, one of the orders that the hardware may choose; who
// may access the bytes before they are waited for is the memory's affair (memory/async_copies.h).
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "runtime/emulator/isa/atomic.h"
#include "runtime/emulator/translate/warp_emitter.h"

namespace stax::emulator {

using llvm::Value;

// The addresses of one more operand, in their own scratch memory.
absl::StatusOr<Value*> WarpEmitter::MoreAddresses(const Operand& operand, const Instruction& i,
                                                  int scratch) {
  absl::StatusOr<Value*> addresses = Addresses(operand, i);
  if (!addresses.ok()) return addresses;
  Value* copy = Scratch(scratch, kWarpLanes * 8);
  builder_.CreateAlignedStore(builder_.CreateAlignedLoad(LaneType(64), *addresses, llvm::Align(64)),
                              copy, llvm::Align(64));
  return copy;
}

absl::Status WarpEmitter::CopyAsync(const Instruction& i) {
  if (!i.Has("async") || i.Has("tensor")) return Unsupported(i);
  if (i.Has("prefetch")) return absl::OkStatus();
  if (i.Has("commit_group") || i.Has("wait_group") || i.Has("wait_all")) return CopyGroup(i);
  if (i.Has("mbarrier")) return CopyArrive(i);
  return i.Has("bulk") ? CopyBulk(i) : CopySmall(i);
}

// cp.async[.bulk].commit_group, cp.async[.bulk].wait_group[.read] N, cp.async.wait_all. What .read
// leaves open is when global memory has been written, which is not watched.
absl::Status WarpEmitter::CopyGroup(const Instruction& i) {
  auto site = std::make_unique<CopyGroupSite>();
  site->kind = i.Has("bulk") ? CopyKind::kBulk : CopyKind::kSmall;
  site->commits = !i.Has("wait_group");
  site->waits = !i.Has("commit_group");
  if (i.Has("wait_group")) {
    if (i.operands.size() != 1 || i.operands[0].kind != Operand::Kind::kInteger)
      return Unsupported(i);
    site->pending = static_cast<uint32_t>(i.operands[0].integer);
  }
  CallRuntime(reinterpret_cast<const void*>(runtime_.copy_group), builder_.getVoidTy(),
              {context_, Pointer(site.get()), active_bits_});
  kernel_.copy_groups.push_back(std::move(site));
  return absl::OkStatus();
}

// cp.async.mbarrier.arrive[.noinc].shared.b64 [barrier]
absl::Status WarpEmitter::CopyArrive(const Instruction& i) {
  if (i.operands.size() != 1) return Unsupported(i);
  // The copies are done, so one more that is expected and its arrival make no difference.
  const bool increments = !i.Has("noinc");
  return EmitMbarrier(i,
                      increments ? MbarrierOp::kArriveCopies : MbarrierOp::kArriveCopiesNoIncrement,
                      i.operands[0], Splat(increments ? 0 : 1, 64), nullptr, nullptr);
}

// cp.async.cg.shared.global [to], [from], bytes [, source bytes]: the rest is filled with zeros.
absl::Status WarpEmitter::CopySmall(const Instruction& i) {
  if (i.operands.size() < 3 || i.operands[2].kind != Operand::Kind::kInteger) return Unsupported(i);
  const auto bytes = static_cast<int>(i.operands[2].integer);
  if (bytes != 4 && bytes != 8 && bytes != 16) return Unsupported(i, "it copies 4, 8 or 16 bytes");
  Value* source_bytes = Splat(static_cast<uint64_t>(bytes), 32);
  if (i.operands.size() > 3) {
    const Operand& fourth = i.operands[3];
    const bool is_predicate = fourth.reg >= 0 && RegisterBits(fourth.reg) == 1;
    absl::StatusOr<Value*> got = Get(fourth, is_predicate ? 1 : 32);
    if (!got.ok()) return got.status();
    // A predicate says that the source is ignored.
    if (fourth.kind == Operand::Kind::kInteger && (fourth.integer < 0 || fourth.integer > bytes))
      return absl::InvalidArgumentError(absl::StrCat("line ", i.line, ": ", i.Name(), ": reads ",
                                                     fourth.integer, " bytes; it copies ", bytes));
    if (is_predicate) {
      source_bytes = builder_.CreateSelect(*got, Splat(0, 32), source_bytes);
    } else {
      Value* more = builder_.CreateICmpUGT(*got, source_bytes);
      ReportMisuse(Misuse::kSourceBytes, builder_.CreateAnd(ToBits(more), active_bits_),
                   static_cast<uint32_t>(bytes));
      source_bytes = builder_.CreateSelect(more, source_bytes, *got);
    }
  }
  Value* sizes = Scratch(2, kWarpLanes * 4);
  builder_.CreateAlignedStore(source_bytes, sizes, llvm::Align(64));
  auto site = std::make_unique<CopySite>();
  site->from = MakeSite(i, AccessKind::kLoad, ptx::Space::kGlobal, bytes, 1);
  site->to = MakeSite(i, AccessKind::kStore, ptx::Space::kShared, bytes, 1);
  kernel_.sites.back()->access.asynchronous = true;
  absl::StatusOr<Value*> to = MoreAddresses(i.operands[0], i, 1);
  if (!to.ok()) return to.status();
  absl::StatusOr<Value*> from = Addresses(i.operands[1], i);
  if (!from.ok()) return from.status();
  CallRuntime(reinterpret_cast<const void*>(runtime_.copy), builder_.getVoidTy(),
              {context_, Pointer(site.get()), active_bits_, *to, *from, sizes});
  kernel_.copies.push_back(std::move(site));
  return absl::OkStatus();
}

// cp.async.bulk.TO.FROM.COMPLETION[.multicast::cluster] with the operands [to], [from], bytes, and
// perhaps [barrier] and the mask of blocks.
// cp.reduce.async.bulk.TO.FROM.COMPLETION.OP.TYPE has the same.
absl::Status WarpEmitter::CopyBulk(const Instruction& i) {
  const bool reduces = i.Has("reduce");
  const bool has_barrier = i.Has("mbarrier::complete_tx::bytes");
  const bool has_blocks = i.Has("multicast::cluster");
  const size_t spaces = reduces ? 3 : 2;  // where they begin in the modifiers
  const size_t needed = 3 + (has_barrier ? 1 : 0) + (has_blocks ? 1 : 0);
  if (i.modifiers.size() < spaces + 2 || i.operands.size() < needed) return Unsupported(i);
  if (has_blocks && !has_barrier) return Unsupported(i);
  auto space_of = [](const std::string& name) {
    return name == "global" ? ptx::Space::kGlobal : ptx::Space::kShared;
  };
  const ptx::Space to_space = space_of(i.modifiers[spaces]);
  const ptx::Space from_space = space_of(i.modifiers[spaces + 1]);
  auto site = std::make_unique<CopySite>();
  constexpr int kUnit = 16;  // alignment of both addresses and of the size
  if (reduces) {
    absl::Status status = ReductionSites(i, to_space, from_space, *site);
    if (!status.ok()) return status;
  } else {
    site->to = MakeSite(i, AccessKind::kStore, to_space, kUnit, 1);
    site->from = MakeSite(i, AccessKind::kLoad, from_space, kUnit, 1);
  }
  absl::StatusOr<Value*> bytes = SourceAddress(i.operands[2], 4, 2);
  if (!bytes.ok()) return bytes.status();
  absl::StatusOr<Value*> to = MoreAddresses(i.operands[0], i, 1);
  if (!to.ok()) return to.status();
  absl::StatusOr<Value*> barrier = llvm::ConstantPointerNull::get(builder_.getPtrTy());
  if (has_barrier) {
    site->barrier = MakeSite(i, AccessKind::kAtomic, ptx::Space::kShared, 8, 1);
    barrier = MoreAddresses(i.operands[3], i, 3);
    if (!barrier.ok()) return barrier.status();
  }
  absl::StatusOr<Value*> blocks = llvm::ConstantPointerNull::get(builder_.getPtrTy());
  if (has_blocks) blocks = SourceAddress(i.operands[4], 2, 4);
  if (!blocks.ok()) return blocks.status();
  absl::StatusOr<Value*> from = Addresses(i.operands[1], i);
  if (!from.ok()) return from.status();
  CallRuntime(reinterpret_cast<const void*>(runtime_.bulk_copy), builder_.getVoidTy(),
              {context_, Pointer(site.get()), active_bits_, *to, *from, *bytes, *barrier, *blocks});
  kernel_.copies.push_back(std::move(site));
  return absl::OkStatus();
}

// Each element is an atomic of the lane.
absl::Status WarpEmitter::ReductionSites(const Instruction& i, ptx::Space to, ptx::Space from,
                                         CopySite& site) {
  const size_t last = i.modifiers.size() - 1;
  const size_t name = i.Has("noftz") ? last - 2 : last - 1;
  const std::optional<isa::AtomicOperation> found = isa::FindAtomicOperation(
      i.modifiers[name], i.modifiers[last], /*flush_subnormals=*/to != ptx::Space::kShared);
  if (!found.has_value() || found->sources != 1) return Unsupported(i);
  site.from = MakeSite(i, AccessKind::kLoad, from, found->bytes, 1);
  site.to = MakeSite(i, AccessKind::kAtomic, to, found->bytes, 1);
  kernel_.sites.back()->atomic = found->function;
  return absl::OkStatus();
}

}  // namespace stax::emulator
