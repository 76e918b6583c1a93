// The part of ReduceEmitter that exchanges partial results between warps (CUDA only).
#include <algorithm>

#include "compiler/codegen/combine_tree.h"
#include "compiler/codegen/line_info.h"
#include "compiler/codegen/reduce_emitter.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace stax {

using llvm::Value;

namespace {

constexpr AxisSet kR = AxisBitOf(kAxisR);
constexpr unsigned kSharedSpace = 3;

// Bytes of a register value in shared memory.
int SharedBytes(llvm::Type* type) { return std::max<int>(1, type->getPrimitiveSizeInBits() / 8); }

}  // namespace

// The bits of the thread number at the positions in `lanes` and `warps`, packed together.
Value* ReduceEmitter::PackThread(BitSet lanes, BitSet warps) {
  BitSet bits = lanes | warps << c_.layout.lanes.size();
  Value* packed = b_.getInt32(0);
  for (int to = 0; bits != 0;) {
    int low = 0, count = 0;
    while ((bits >> low & 1) == 0) ++low;
    while (bits >> (low + count) & 1) ++count;
    Value* run = b_.CreateAnd(b_.CreateLShr(c_.thread, low), (1u << count) - 1);
    packed = b_.CreateOr(packed, b_.CreateShl(run, to));
    bits &= ~(((BitSet{1} << count) - 1) << low);
    to += count;
  }
  return packed;
}

// The partial results of the warps along r lie side by side, to be read as vectors, unless lanes
// run along a loop axis: then the lanes do, so that they hit different banks.
bool ReduceEmitter::WarpsContiguous(AxisSet axes) const { return c_.layout.LaneBits(axes) == 0; }

std::vector<ReduceEmitter::Exchange> ReduceEmitter::PlanExchange(
    const std::vector<ValueId>& reduces, std::vector<Partial>& partials, int64_t* bytes) {
  std::vector<Exchange> exchanges;
  *bytes = 0;
  for (size_t i = 0; i < reduces.size(); ++i) {
    for (TileValue* values : {&partials[i].values, &partials[i].companions}) {
      if (values->empty()) continue;
      Exchange e;
      e.reduce = reduces[i];
      e.values = values;
      e.element_bytes = SharedBytes(values->slots[0]->getType());
      e.byte_offset = (*bytes + 15) / 16 * 16;
      const int bits = CountBits(values->regs) + CountBits(c_.layout.LaneBits(values->axes)) +
                       CountBits(c_.layout.WarpBits(values->axes | kR));
      *bytes = e.byte_offset + (int64_t{e.element_bytes} << bits);
      exchanges.push_back(e);
    }
  }
  return exchanges;
}

Value* ReduceEmitter::ElementAddress(Value* memory, const Exchange& exchange, uint32_t packed_slot,
                                     Value* r_warp) {
  const AxisSet axes = exchange.values->axes;
  // With no axes there is one point: LaneBits(0) would mean the idle bits.
  const BitSet loop_lanes = axes == 0 ? 0 : c_.layout.LaneBits(axes);
  const BitSet loop_warps = axes == 0 ? 0 : c_.layout.WarpBits(axes);
  const int lane_bits = CountBits(loop_lanes);
  const int r_bits = CountBits(c_.layout.WarpBits(kR));
  const int slot_bits = CountBits(exchange.values->regs);
  Value* lane = PackThread(loop_lanes, 0);
  Value* warp = PackThread(0, loop_warps);
  Value* element;
  if (lane_bits == 0) {  // [loop warp][slot][r warp]
    element = b_.CreateAdd(b_.CreateShl(warp, slot_bits), b_.getInt32(packed_slot));
    element = b_.CreateAdd(b_.CreateShl(element, r_bits), r_warp);
  } else {  // [loop warp][r warp][slot][lane]
    element = b_.CreateAdd(b_.CreateShl(warp, r_bits), r_warp);
    element = b_.CreateAdd(b_.CreateShl(element, slot_bits), b_.getInt32(packed_slot));
    element = b_.CreateAdd(b_.CreateShl(element, lane_bits), lane);
  }
  Value* offset = b_.CreateAdd(b_.CreateMul(element, b_.getInt32(exchange.element_bytes)),
                               b_.getInt32(exchange.byte_offset));
  return b_.CreateGEP(b_.getInt8Ty(), memory, {offset});
}

// `count` partial results of one slot from the warp `r_warp` along r on.
std::vector<Value*> ReduceEmitter::LoadPartials(Value* memory, const Exchange& exchange,
                                                uint32_t packed_slot, Value* r_warp, int count) {
  llvm::Type* type = exchange.values->slots[0]->getType();
  llvm::Type* stored = type->isIntegerTy(1) ? b_.getInt8Ty() : type;
  llvm::Type* load_type = count == 1 ? stored : llvm::FixedVectorType::get(stored, count);
  Value* loaded =
      b_.CreateAlignedLoad(load_type, ElementAddress(memory, exchange, packed_slot, r_warp),
                           llvm::Align(count * exchange.element_bytes));
  std::vector<Value*> partials;
  for (int i = 0; i < count; ++i) {
    Value* v = count == 1 ? loaded : b_.CreateExtractElement(loaded, static_cast<uint64_t>(i));
    partials.push_back(type == stored ? v : b_.CreateTrunc(v, type));
  }
  return partials;
}

// The partial results of all warps along r for one slot, combined. A few are read by every lane;
// many are shared out among the lanes, which then combine by shuffles.
ReduceEmitter::Pair ReduceEmitter::ReadExchange(ValueId reduce, bool online, Value* memory,
                                                const Exchange& values, const Exchange* companions,
                                                uint32_t packed_slot) {
  const AxisSet axes = values.values->axes;
  const int count = 1 << CountBits(c_.layout.WarpBits(kR));
  const bool contiguous = axes == 0 || WarpsContiguous(axes);
  const bool by_lanes = contiguous && count > (companions != nullptr ? 4 : 8);
  const int bytes =
      std::max(values.element_bytes, companions != nullptr ? companions->element_bytes : 0);
  const int per_load = !contiguous || by_lanes ? 1 : std::min(count, 16 / bytes);
  const int shared_out = by_lanes ? std::min(count, 1 << c_.layout.lanes.size()) : 1;
  auto combine = [&](const Pair& a, const Pair& b) { return Combine(reduce, online, a, b); };
  Value* lane = b_.CreateAnd(c_.thread, shared_out - 1);
  Pair total;
  for (int r = 0; r < count; r += per_load * shared_out) {
    Value* r_warp = b_.CreateAdd(lane, b_.getInt32(r));
    const std::vector<Value*> v = LoadPartials(memory, values, packed_slot, r_warp, per_load);
    std::vector<Value*> w(per_load, nullptr);
    if (companions != nullptr) w = LoadPartials(memory, *companions, packed_slot, r_warp, per_load);
    std::vector<Pair> pairs;
    for (int i = 0; i < per_load; ++i) pairs.push_back({v[i], w[i]});
    const Pair pair = CombineTree(std::move(pairs), combine);
    total = total.value == nullptr ? pair : combine(total, pair);
  }
  for (int bit = 0; 1 << bit < shared_out; ++bit) {
    Pair other{ShuffleXor(total.value, bit), nullptr};
    if (total.companion != nullptr) other.companion = ShuffleXor(total.companion, bit);
    total = combine(total, other);
  }
  return total;
}

void ReduceEmitter::BeginPasses() { num_exchanges_ = 0; }

void ReduceEmitter::EndPasses() {
  if (c_.tile.cluster_bits > 0 && num_exchanges_ == 0) WaitForCluster();
}

// The blocks of a cluster announce themselves when they start; by now all have.
void ReduceEmitter::WaitForCluster() {
  b_.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier_cluster_wait_aligned, {});
}

// All threads that exchange have written before any of them reads.
void ReduceEmitter::Barrier() {
  if (c_.tile.cluster_bits == 0) {
    b_.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all, {b_.getInt32(0)});
    return;
  }
  b_.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier_cluster_arrive_aligned, {});
  b_.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier_cluster_wait_aligned, {});
}

// Of the threads that hold the same partial result, one writes it: to the memory of its block, or
// of all blocks of the cluster, so that everybody then reads its own.
void ReduceEmitter::WriteExchange(Value* memory, const Exchange& exchange) {
  const LineScope line = LineScope::Op(c_, exchange.reduce);
  const AxisSet axes = exchange.values->axes;
  const BitSet all = (BitSet{1} << (c_.layout.lanes.size() + c_.layout.warps.size())) - 1;
  const BitSet loop_lanes = axes == 0 ? 0 : c_.layout.LaneBits(axes);
  const BitSet distinct = loop_lanes | c_.layout.WarpBits(axes | kR) << c_.layout.lanes.size();
  llvm::Function* function = b_.GetInsertBlock()->getParent();
  auto* write = llvm::BasicBlock::Create(b_.getContext(), "write", function);
  auto* written = llvm::BasicBlock::Create(b_.getContext(), "written", function);
  Value* others = b_.CreateAnd(c_.thread, all & ~distinct);
  b_.CreateCondBr(b_.CreateICmpEQ(others, b_.getInt32(0)), write, written);
  b_.SetInsertPoint(write);
  Value* r_warp = PackThread(0, c_.layout.WarpBits(kR));
  for (int block = 0; block < 1 << c_.tile.cluster_bits; ++block) {
    Value* target = memory;
    if (c_.tile.cluster_bits > 0) {
      target = b_.CreateIntrinsic(llvm::Intrinsic::nvvm_mapa_shared_cluster,
                                  {memory, b_.getInt32(block)});
    }
    for (uint32_t slot = 0; slot < exchange.values->slots.size(); ++slot) {
      Value* v = exchange.values->slots[slot];
      if (v->getType()->isIntegerTy(1)) v = b_.CreateZExt(v, b_.getInt8Ty());
      b_.CreateAlignedStore(v, ElementAddress(target, exchange, slot, r_warp),
                            llvm::Align(exchange.element_bytes));
    }
  }
  b_.CreateBr(written);
  b_.SetInsertPoint(written);
}

void ReduceEmitter::ReduceWarps(const std::vector<ValueId>& reduces,
                                std::vector<Partial>& partials) {
  int64_t bytes = 0;
  const std::vector<Exchange> exchanges = PlanExchange(reduces, partials, &bytes);
  const LineScope first = LineScope::Op(c_, reduces.front());
  if (c_.tile.cluster_bits > 0 && num_exchanges_ == 0) WaitForCluster();
  const int area = num_exchanges_++ % 2;
  if (areas_[area] == nullptr) {  // sized by FinishSharedMemory
    areas_[area] = new llvm::GlobalVariable(
        c_.module, llvm::ArrayType::get(b_.getInt8Ty(), 0), /*isConstant=*/false,
        llvm::GlobalValue::InternalLinkage, nullptr, "exchange", nullptr,
        llvm::GlobalValue::NotThreadLocal, kSharedSpace);
  }
  area_bytes_[area] = std::max(area_bytes_[area], bytes);
  Value* memory = areas_[area];
  for (const Exchange& exchange : exchanges) WriteExchange(memory, exchange);
  Barrier();

  size_t next = 0;
  for (size_t i = 0; i < reduces.size(); ++i) {
    const LineScope line = LineScope::Op(c_, reduces[i]);
    const Exchange& values = exchanges[next++];
    const bool with = !partials[i].companions.empty();
    const Exchange* companions = with ? &exchanges[next++] : nullptr;
    for (uint32_t slot = 0; slot < partials[i].values.slots.size(); ++slot) {
      const Pair pair =
          ReadExchange(reduces[i], partials[i].online, memory, values, companions, slot);
      partials[i].values.slots[slot] = pair.value;
      if (with) partials[i].companions.slots[slot] = pair.companion;
    }
  }
}

int64_t ReduceEmitter::FinishSharedMemory() {
  int64_t total = 0;
  for (int i = 0; i < 2; ++i) {
    if (areas_[i] == nullptr) continue;
    auto* sized = new llvm::GlobalVariable(
        c_.module, llvm::ArrayType::get(b_.getInt8Ty(), area_bytes_[i]), /*isConstant=*/false,
        llvm::GlobalValue::InternalLinkage,
        llvm::PoisonValue::get(llvm::ArrayType::get(b_.getInt8Ty(), area_bytes_[i])),
        "exchange" + std::to_string(i), nullptr, llvm::GlobalValue::NotThreadLocal, kSharedSpace);
    sized->setAlignment(llvm::Align(16));
    areas_[i]->replaceAllUsesWith(sized);
    areas_[i]->eraseFromParent();
    areas_[i] = nullptr;
    total += (area_bytes_[i] + 15) / 16 * 16;
  }
  return total;
}

}  // namespace stax
