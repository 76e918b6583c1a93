// mma.sync, and the products of wmma (runtime/emulator/isa/wmma.h): d = a * b + c of small matrices
// whose elements are spread over the lanes of a warp.
//
//   MmaOperation mma = *FindMma("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
//   const void* a[4]; ...                  // mma.a.registers registers of 32 elements
//   RunMma(mma, a, b, c, d);
//
// All lanes take part. A register has 4 bytes a lane, of f64 8 bytes; narrow elements are packed,
// the first lowest. The layout of the fragments is that of the ISA ("Warp-level matrix
// instructions"): FragmentPosition.
//
// Floating results are the exact products, added up in f64 beginning with c in the order of k, and
// rounded once to the type of d. The hardware adds several products at a time and cuts off low bits
// of the smaller ones, which is not modelled: results may differ by a few units of the last place
// of the largest term. f64 is a chain of fma in the order of k. Integers are exact; they wrap, or
// clamp with .satfinite.
#ifndef STAX_RUNTIME_EMULATOR_ISA_MMA_H_
#define STAX_RUNTIME_EMULATOR_ISA_MMA_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "runtime/emulator/isa/instruction_name.h"

namespace stax::isa {

enum class MmaElement { kF16, kBF16, kTF32, kF32, kF64, kE4M3, kE5M2, kS8, kU8, kS4, kU4, kS32 };

int BitsOf(MmaElement element);

// One matrix's part of a warp's registers.
struct MmaFragment {
  MmaElement element = MmaElement::kF32;
  int rows = 0, columns = 0;
  int registers = 0;
  int register_bytes = 0;       // 4 or 8
  int elements_a_register = 0;  // of one lane
  // The ISA leaves the layout of wmma's fragments open. Here a lane has consecutive elements of the
  // row-major matrix; where registers hold more than the matrix has, lanes repeat it.
  bool wmma = false;
};

enum class MmaMatrix { kA, kB, kAccumulator };

struct MmaOperation {
  MmaFragment a;  // [m, k]
  MmaFragment b;  // [k, n]
  MmaFragment c;  // [m, n]
  MmaFragment d;  // [m, n]
  bool satfinite = false;
};

// f16, bf16, tf32, f8, s8 and u8, s4 and u4, f64 in the shapes of sm_80 to sm_90a, .row.col. Not
// supported: .b1, sparse matrices, m8n8k4 of f16. nullopt: not one of these.
std::optional<MmaOperation> FindMma(absl::string_view text);

struct MatrixPosition {
  int row = 0, column = 0;
};

// How elements lie in registers; wmma as above, with as many registers as the elements need.
MmaFragment MakeFragment(MmaElement element, int rows, int columns);

// Takes the next modifier of a name if it is an element's type.
std::optional<MmaElement> TakeMmaElement(InstructionName& name);

// Where the element `index` of register `reg` of a lane is in the matrix.
MatrixPosition FragmentPosition(const MmaFragment& fragment, MmaMatrix matrix, int lane, int reg,
                                int index);

// Each array holds one pointer a register, to its 32 elements. Registers of d may be those of c.
void RunMma(const MmaOperation& operation, const void* const* a, const void* const* b,
            const void* const* c, void* const* d);

}  // namespace stax::isa

#endif  // STAX_RUNTIME_EMULATOR_ISA_MMA_H_
