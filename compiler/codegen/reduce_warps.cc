// The part of ReduceEmitter that exchanges partial results between warps (CUDA only).
#include <algorithm>

#include "compiler/codegen/reduce_emitter.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace stax {

using llvm::Value;

namespace {

constexpr AxisSet kR = AxisBitOf(kAxisR);
constexpr unsigned kSharedSpace = 3;

// Bytes of a register value in shared memory.
int SharedBytes(llvm::Type* type) {
  return std::max<int>(1, type->getPrimitiveSizeInBits() / 8);
}

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

std::vector<ReduceEmitter::Exchange> ReduceEmitter::PlanExchange(std::vector<Partial>& partials,
                                                                 int64_t* bytes) {
  std::vector<Exchange> exchanges;
  *bytes = 0;
  for (Partial& partial : partials) {
    for (TileValue* values : {&partial.values, &partial.positions}) {
      if (values->empty()) continue;
      Exchange e;
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

// The partial results of all warps along r for one slot.
std::vector<Value*> ReduceEmitter::ReadExchange(Value* memory, const Exchange& exchange,
                                                uint32_t packed_slot) {
  llvm::Type* type = exchange.values->slots[0]->getType();
  llvm::Type* stored = type->isIntegerTy(1) ? b_.getInt8Ty() : type;
  const int count = 1 << CountBits(c_.layout.WarpBits(kR));
  std::vector<Value*> read;
  const AxisSet axes = exchange.values->axes;
  const bool contiguous = axes == 0 || WarpsContiguous(axes);
  const int per_load = contiguous ? std::min(count, 16 / exchange.element_bytes) : 1;
  for (int r = 0; r < count; r += per_load) {
    Value* address = ElementAddress(memory, exchange, packed_slot, b_.getInt32(r));
    llvm::Type* load_type =
        per_load == 1 ? stored : llvm::FixedVectorType::get(stored, per_load);
    Value* loaded = b_.CreateAlignedLoad(load_type, address,
                                         llvm::Align(per_load * exchange.element_bytes));
    for (int i = 0; i < per_load; ++i) {
      Value* v = per_load == 1 ? loaded : b_.CreateExtractElement(loaded, uint64_t(i));
      read.push_back(type == stored ? v : b_.CreateTrunc(v, type));
    }
  }
  return read;
}

void ReduceEmitter::ReduceWarps(const std::vector<ValueId>& reduces,
                                std::vector<Partial>& partials) {
  int64_t bytes = 0;
  const std::vector<Exchange> exchanges = PlanExchange(partials, &bytes);
  const int area = num_exchanges_++ % 2;
  if (areas_[area] == nullptr) {  // sized by FinishSharedMemory
    areas_[area] = new llvm::GlobalVariable(
        c_.module, llvm::ArrayType::get(b_.getInt8Ty(), 0), /*isConstant=*/false,
        llvm::GlobalValue::InternalLinkage, nullptr, "exchange", nullptr,
        llvm::GlobalValue::NotThreadLocal, kSharedSpace);
  }
  area_bytes_[area] = std::max(area_bytes_[area], bytes);
  Value* memory = areas_[area];

  // Of the threads that hold the same partial result, one writes it.
  llvm::Function* function = b_.GetInsertBlock()->getParent();
  Value* r_warp = PackThread(0, c_.layout.WarpBits(kR));
  for (const Exchange& e : exchanges) {
    const AxisSet axes = e.values->axes;
    const BitSet all = (BitSet{1} << (c_.layout.lanes.size() + c_.layout.warps.size())) - 1;
    const BitSet loop_lanes = axes == 0 ? 0 : c_.layout.LaneBits(axes);
    const BitSet distinct =
        loop_lanes | c_.layout.WarpBits(axes | kR) << c_.layout.lanes.size();
    auto* write = llvm::BasicBlock::Create(b_.getContext(), "write", function);
    auto* written = llvm::BasicBlock::Create(b_.getContext(), "written", function);
    Value* others = b_.CreateAnd(c_.thread, all & ~distinct);
    b_.CreateCondBr(b_.CreateICmpEQ(others, b_.getInt32(0)), write, written);
    b_.SetInsertPoint(write);
    for (uint32_t slot = 0; slot < e.values->slots.size(); ++slot) {
      Value* v = e.values->slots[slot];
      if (v->getType()->isIntegerTy(1)) v = b_.CreateZExt(v, b_.getInt8Ty());
      b_.CreateAlignedStore(v, ElementAddress(memory, e, slot, r_warp),
                            llvm::Align(e.element_bytes));
    }
    b_.CreateBr(written);
    b_.SetInsertPoint(written);
  }
  b_.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all, {b_.getInt32(0)});

  size_t next = 0;
  for (size_t i = 0; i < reduces.size(); ++i) {
    const Exchange& values = exchanges[next++];
    const bool arg = !partials[i].positions.empty();
    const Exchange* positions = arg ? &exchanges[next++] : nullptr;
    for (uint32_t slot = 0; slot < partials[i].values.slots.size(); ++slot) {
      const std::vector<Value*> read = ReadExchange(memory, values, slot);
      std::vector<Value*> at;
      if (arg) at = ReadExchange(memory, *positions, slot);
      std::vector<Pair> pairs;
      for (size_t r = 0; r < read.size(); ++r) pairs.push_back({read[r], arg ? at[r] : nullptr});
      while (pairs.size() > 1) {
        std::vector<Pair> half;
        for (size_t k = 0; k < pairs.size(); k += 2)
          half.push_back(Combine(reduces[i], pairs[k], pairs[k + 1]));
        pairs = std::move(half);
      }
      partials[i].values.slots[slot] = pairs[0].value;
      if (arg) partials[i].positions.slots[slot] = pairs[0].position;
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
