// Functions that do one PTX instruction for a warp, and how they are called.
//
// A register of a warp is an array of 32 elements, one a lane, 2, 4 or 8 bytes each. A function
// reads the lanes of the mask from its sources and writes those lanes of its result, no others.
// The result may be one of the sources. Types narrower than 16 bits live in the low bits of a
// 2-byte element; results are extended to the element by their type's sign.
//
//   uint32_t a[32], b[32], d[32];
//   WarpOperation add = *FindWarpOperation("add.sat.s32");
//   add.function(/*lanes=*/0x0000ffff, a, b, nullptr, d);
#ifndef STAX_RUNTIME_EMULATOR_ISA_WARP_OPERATION_H_
#define STAX_RUNTIME_EMULATOR_ISA_WARP_OPERATION_H_

#include <cstdint>

namespace stax::isa {

inline constexpr int kWarpLanes = 32;
inline constexpr uint32_t kAllLanes = 0xffffffff;

// Sources that the instruction does not have may be null.
using WarpFunction = void (*)(uint32_t lanes, const void* a, const void* b, const void* c, void* d);
// For the few instructions with a fourth source `e` (bfi, lop3): it follows the third.
using WarpFunction4 = void (*)(uint32_t lanes, const void* a, const void* b, const void* c,
                               const void* e, void* d);

struct WarpOperation {
  WarpFunction function = nullptr;    // null when there are four sources
  WarpFunction4 function4 = nullptr;  // null unless there are four sources
  int sources = 0;
  int source_bytes[4] = {};  // of one element
  int result_bytes = 0;      // of one element
  // How a wider register takes the result: sign-extended or zero-extended.
  bool result_signed = false;
};

// The lanes of the mask for which the comparison holds. `b` may be null for tests of one value.
using CompareFunction = uint32_t (*)(uint32_t lanes, const void* a, const void* b);

// What setp does with its third source, a predicate, after comparing.
enum class PredicateOp { kNone, kAnd, kOr, kXor };

struct CompareOperation {
  CompareFunction function = nullptr;
  CompareFunction high = nullptr;  // for x2 types: compares the upper halves, gives predicate q
  int sources = 0;                 // 2, or 1 for testp
  int source_bytes = 0;
  PredicateOp combine = PredicateOp::kNone;
};

// add.cc and its kind. `carry` has the carry flags of all lanes, a bit a lane; the result is the
// flags afterwards. Those of lanes outside the mask, and all of an instruction that does not set
// them, are as before. A borrow is a carry too: subc is a - (b + carry).
using CarryFunction = uint32_t (*)(uint32_t lanes, uint32_t carry, const void* a, const void* b,
                                   const void* c, void* d);

struct CarryOperation {
  CarryFunction function = nullptr;
  int sources = 0;
  int bytes = 0;  // of one element of each source and of the result
};

}  // namespace stax::isa

#endif  // STAX_RUNTIME_EMULATOR_ISA_WARP_OPERATION_H_
