// KernelSpec: one kernel before code generation. A fused loop nest, how its iteration space is cut
// into tiles, and the configurations worth trying. Everything here is independent of a Config;
// codegen turns (KernelSpec, Config, Target) into a Variant.
#ifndef STAX_COMPILER_KERNEL_SPEC_H_
#define STAX_COMPILER_KERNEL_SPEC_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/index_expr.h"
#include "ir/loop_nest.h"

namespace stax {

// S9.4: prefixes of kernel names.
enum class KernelForm {
  kPointwise,   // poi: no reduction
  kLooped,      // red: a loop over blocks of the reduction dims; several passes if needed
  kPersistent,  // per: a program instance holds whole rows, RBLOCK >= the reduction's length
};

// One axis of the tile. The dims it runs over are flattened row-major into one index range of
// Product(extents) points. At most one "r" (all reduction dims) and one or two loop axes: "x"
// (always there, may have no dims: one point) and "y". Consecutive lanes run along the contiguous
// axis; the grid is ceil(y / YBLOCK) * ceil(x / XBLOCK) instances, x fastest.
struct TileAxis {
  std::string name;
  std::vector<int> dims;  // positions in nest.dims, outermost first
};

// Parameter name -> value. Parameters used now, all powers of two:
//   XBLOCK, YBLOCK (with a "y" axis), RBLOCK (kLooped: elements an iteration;
//   kPersistent: at least the length, no free choice), WARPS (cuda only: warps a block).
using Config = std::map<std::string, int64_t>;

struct ConfigParameter {
  std::string name;
  std::vector<int64_t> values;  // ascending
};

struct KernelSpec {
  std::string name;  // "per_fused_softmax_0": prefix, what, number in the program
  KernelForm form = KernelForm::kPointwise;
  LoopNest nest;               // dims merged, body fused
  std::vector<TileAxis> tile;  // order: y, x, r
  std::vector<ConfigParameter> space;
  std::vector<std::string> constraints;      // formulas over parameters, >= 0
  std::vector<Config> candidates;            // 1 to 6, best guess first
  IndexExpr read_bytes, write_bytes, flops;  // compulsory traffic and work, in the symbols
  std::vector<std::string> origins;          // nodes of the model it computes
  std::string explanation;                   // for --explain: what was fused, tiled and why
};

}  // namespace stax

#endif  // STAX_COMPILER_KERNEL_SPEC_H_
