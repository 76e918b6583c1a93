// TileProposals: collects the candidates of a kernel and describes the space they are in.
#ifndef STAX_COMPILER_SCHEDULE_TILE_PROPOSALS_H_
#define STAX_COMPILER_SCHEDULE_TILE_PROPOSALS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/kernel_spec.h"
#include "compiler/schedule/kept_row.h"
#include "compiler/target.h"

namespace stax {

// What the heuristics know of a kernel. Sizes at the hints; 1 for axes that are not there.
struct TileShape {
  int64_t y = 1, x = 1, r = 1;
  int64_t y_upper = 1, x_upper = 1, r_upper = 1;
  bool has_y = false, has_r = false;
  bool inner = false;       // reduces along contiguous memory
  bool transposes = false;  // some access is contiguous along y only
  bool x_loads = false;     // some load is contiguous along x
  int64_t vector = 4;       // elements of the main streams in 16 bytes
  int64_t multiprocessors = 1, lanes = 1;
  int64_t body_weight = 1;
  int64_t shared_rows = 0;  // loads along r that are the same for all rows: scales, biases
  int64_t live_values = 1;  // a slot: what is loaded in an iteration and accumulated over them
  KeptRow kept;
};

int64_t PowerOfTwoAtMost(int64_t n);

// What a candidate asks for; it is brought into the space.
struct TileProposal {
  int64_t y = 1, x = 1, r = 1;
  int64_t warps = 1;
  // Of spread rows only, see TileProposals::spreads_rows.
  int64_t cluster = 1;
  int64_t min_blocks = 1;
};

struct Configurations {
  std::vector<ConfigParameter> space;
  std::vector<std::string> constraints;  // formulas over the parameters, >= 0
  std::vector<Config> candidates;        // best guess first, each in the space
};

class TileProposals {
 public:
  TileProposals(const TileShape& shape, KernelForm form, const TargetSpec& target);

  // Whether the rows are so long that their registers decide: then CLUSTER (where there are
  // clusters) and MIN_BLOCKS are parameters.
  bool spreads_rows() const { return spreads_rows_; }

  // Drops repetitions, and what exceeds the number of candidates.
  void Add(TileProposal proposal);
  void Add(int64_t y, int64_t x, int64_t r, int64_t warps = 1) { Add({y, x, r, warps}); }

  Configurations Finish();

 private:
  static int64_t Limit(int64_t extent, int64_t most);
  void Grow(TileProposal* p) const;
  void Shrink(TileProposal* p) const;
  void FitRow(TileProposal* p) const;
  void Fit(TileProposal* p) const;

  const TileShape shape_;
  const bool cuda_, clusters_;
  bool spreads_rows_ = false;
  int64_t r_block_;  // 0: free
  int64_t max_slots_, preferred_slots_, max_x_, max_y_, max_r_;
  std::vector<Config> result_;
};

}  // namespace stax

#endif  // STAX_COMPILER_SCHEDULE_TILE_PROPOSALS_H_
