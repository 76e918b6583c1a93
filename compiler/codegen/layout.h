// Layout: which tile element each register slot, lane and warp holds.
//
// A tile has axes y, x and r with power-of-two extents, so a tile element is a string of bits: the
// bits of its y, x and r coordinates. A layout is a linear map over bits: every bit of the register
// slot number, of the lane number and of the warp number goes to one coordinate bit, or to none
// (then the elements that differ in it only hold the same: a broadcast, or idle lanes). Every
// coordinate bit is the image of exactly one bit, so each element is somewhere. For an x of 1024
// and 8 warps of 32 lanes:
//
//   regs x0 x1 | lanes x2 x3 x4 x5 x6 | warps x7 x8 x9      // each thread: 4 neighbours
//
// Vector widths, coalescing and the plan of a reduction follow from it by looking at bits, without
// running anything. On the CPU the lanes are the elements of a SIMD register and there are no
// warps.
#ifndef STAX_COMPILER_CODEGEN_LAYOUT_H_
#define STAX_COMPILER_CODEGEN_LAYOUT_H_

#include <cstdint>
#include <string>
#include <vector>

namespace stax {

enum Axis : int { kAxisY = 0, kAxisX = 1, kAxisR = 2 };
inline constexpr int kNumAxes = 3;
inline constexpr const char* kAxisNames[kNumAxes] = {"y", "x", "r"};

// Set of axes, one bit each.
using AxisSet = uint32_t;
inline constexpr AxisSet AxisBitOf(int axis) { return AxisSet{1} << axis; }

// Set of register (or lane, or warp) bits, by position.
using BitSet = uint32_t;

struct AxisBit {
  int axis = -1;  // -1: none
  int bit = 0;    // of the coordinate along `axis`

  bool idle() const { return axis < 0; }
  bool operator==(const AxisBit& o) const { return axis == o.axis && bit == o.bit; }
};

struct Layout {
  std::vector<AxisBit> regs, lanes, warps;  // least significant first

  int num_slots() const { return 1 << regs.size(); }

  // Bits of the register slot number that go to one of `axes`; likewise for lanes and warps.
  // `axes` 0 gives the idle bits.
  BitSet RegBits(AxisSet axes) const { return Select(regs, axes); }
  BitSet LaneBits(AxisSet axes) const { return Select(lanes, axes); }
  BitSet WarpBits(AxisSet axes) const { return Select(warps, axes); }

  // The part of the coordinate along `axis` that comes from the register slot (the lane).
  int64_t RegOffset(int axis, uint32_t slot) const { return Offset(regs, axis, slot); }
  int64_t LaneOffset(int axis, uint32_t lane) const { return Offset(lanes, axis, lane); }
  // Largest part that lanes and warps contribute together.
  int64_t MaxThreadOffset(int axis) const;

  // "regs x0 x1 | lanes x2 r0 - | warps"; "-" is an idle bit.
  std::string ToString() const;

 private:
  static BitSet Select(const std::vector<AxisBit>& bits, AxisSet axes);
  static int64_t Offset(const std::vector<AxisBit>& bits, int axis, uint32_t number);
};

struct LayoutRequest {
  int axis_bits[kNumAxes] = {0, 0, 0};  // log2 of the tile's extents
  int lane_bits = 0;
  int warp_bits = 0;
  // Lanes are elements of a SIMD register, filled before the register slots.
  bool simd = false;
  // Axes along which memory is contiguous, the one with most bytes first, and log2 of the elements
  // of a 16-byte access there. With two, each gets its own vectors and a share of the lanes.
  struct Side {
    int axis = kAxisX;
    int vector_bits = 0;
  };
  std::vector<Side> sides;
};

// Rules, in order:
//   1. Lanes and warps are filled before registers: a vector never costs parallelism.
//   2. CUDA: the contiguous axes' lowest bits go to registers (vectors), the next to the lanes. Two
//      sides share the lanes 3 to 2, so that each warp access covers whole 32-byte sectors.
//   3. What lanes the contiguous axes can't fill go to x, y, r.
//   4. Warps take x and y before r: a reduction across warps needs shared memory and a barrier.
//   5. The remaining coordinate bits are registers; remaining lane and warp bits are idle.
Layout ChooseLayout(const LayoutRequest& request);

// The bits of `slot` at the positions in `bits`, packed together; and the inverse.
uint32_t PackBits(uint32_t slot, BitSet bits);
uint32_t SpreadBits(uint32_t packed, BitSet bits);
int CountBits(BitSet bits);

}  // namespace stax

#endif  // STAX_COMPILER_CODEGEN_LAYOUT_H_
