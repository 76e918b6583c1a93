#include "compiler/codegen/layout.h"

#include <algorithm>

namespace stax {
namespace {

// Hands out the coordinate bits of each axis, lowest first.
class BitSource {
 public:
  explicit BitSource(const int (&axis_bits)[kNumAxes]) {
    std::copy(std::begin(axis_bits), std::end(axis_bits), left_);
  }

  int left(int axis) const { return left_[axis]; }
  int total_left() const { return left_[kAxisY] + left_[kAxisX] + left_[kAxisR]; }

  // Moves up to `count` bits of `axis` to the end of `to`; returns how many.
  int Take(int axis, int count, std::vector<AxisBit>& to) {
    const int taken = std::max(0, std::min(count, left_[axis]));
    for (int i = 0; i < taken; ++i) to.push_back({axis, next_[axis]++});
    left_[axis] -= taken;
    return taken;
  }

 private:
  int left_[kNumAxes];
  int next_[kNumAxes] = {0, 0, 0};
};

// Lanes along the contiguous sides, then along whatever is left. Of two sides the first gets the
// larger half: 8 x 4 lanes with 16-byte vectors are 128 and 64 bytes.
void FillLanes(const LayoutRequest& request, BitSource& source, std::vector<AxisBit>& lanes) {
  int wanted = request.lane_bits;
  const bool shared = request.sides.size() > 1 && !request.simd;
  if (shared) {
    const int second = std::min(wanted / 2, source.left(request.sides[1].axis));
    wanted -= source.Take(request.sides[0].axis, wanted - second, lanes);
    wanted -= source.Take(request.sides[1].axis, wanted, lanes);
  }
  if (!request.sides.empty()) wanted -= source.Take(request.sides[0].axis, wanted, lanes);
  for (int axis : {kAxisX, kAxisY, kAxisR}) wanted -= source.Take(axis, wanted, lanes);
  lanes.resize(request.lane_bits);  // idle
}

void FillWarps(const LayoutRequest& request, BitSource& source, std::vector<AxisBit>& warps) {
  int wanted = request.warp_bits;
  for (int axis : {kAxisX, kAxisY, kAxisR}) wanted -= source.Take(axis, wanted, warps);
  warps.resize(request.warp_bits);  // idle
}

}  // namespace

BitSet Layout::Select(const std::vector<AxisBit>& bits, AxisSet axes) {
  BitSet set = 0;
  for (size_t i = 0; i < bits.size(); ++i) {
    const bool in = bits[i].idle() ? axes == 0 : (axes & AxisBitOf(bits[i].axis)) != 0;
    if (in) set |= BitSet{1} << i;
  }
  return set;
}

int64_t Layout::Offset(const std::vector<AxisBit>& bits, int axis, uint32_t number) {
  int64_t offset = 0;
  for (size_t i = 0; i < bits.size(); ++i)
    if (bits[i].axis == axis && (number >> i & 1)) offset |= int64_t{1} << bits[i].bit;
  return offset;
}

int64_t Layout::MaxThreadOffset(int axis) const {
  return Offset(lanes, axis, ~0u) | Offset(warps, axis, ~0u);
}

std::string Layout::ToString() const {
  auto print = [](const std::vector<AxisBit>& bits) {
    std::string text;
    for (const AxisBit& b : bits)
      text += b.idle() ? std::string(" -") : " " + (kAxisNames[b.axis] + std::to_string(b.bit));
    return text;
  };
  return "regs" + print(regs) + " | lanes" + print(lanes) + " | warps" + print(warps);
}

Layout ChooseLayout(const LayoutRequest& request) {
  Layout layout;
  BitSource source(request.axis_bits);
  if (!request.simd) {
    int spare = source.total_left() - request.lane_bits - request.warp_bits;
    for (const LayoutRequest::Side& side : request.sides) {
      const int bits = std::min(side.vector_bits, spare);
      spare -= source.Take(side.axis, bits, layout.regs);
    }
  }
  FillLanes(request, source, layout.lanes);
  FillWarps(request, source, layout.warps);
  for (const LayoutRequest::Side& side : request.sides) source.Take(side.axis, 63, layout.regs);
  for (int axis : {kAxisX, kAxisY, kAxisR}) source.Take(axis, 63, layout.regs);
  return layout;
}

uint32_t PackBits(uint32_t slot, BitSet bits) {
  uint32_t packed = 0;
  for (int to = 0; bits != 0; bits &= bits - 1, ++to) {
    if (slot & bits & (0 - bits)) packed |= uint32_t{1} << to;
  }
  return packed;
}

uint32_t SpreadBits(uint32_t packed, BitSet bits) {
  uint32_t slot = 0;
  for (; bits != 0; bits &= bits - 1, packed >>= 1) {
    if (packed & 1) slot |= bits & (0 - bits);
  }
  return slot;
}

int CountBits(BitSet bits) {
  int count = 0;
  for (; bits != 0; bits &= bits - 1) ++count;
  return count;
}

}  // namespace stax
