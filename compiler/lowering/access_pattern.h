// What a nest's accesses look like: the facts that the heuristics of lowering and scheduling use.
#ifndef STAX_COMPILER_LOWERING_ACCESS_PATTERN_H_
#define STAX_COMPILER_LOWERING_ACCESS_PATTERN_H_

#include <cstdint>
#include <vector>

#include "ir/loop_nest.h"

namespace stax {

// Value of a size at the symbols' hints; saturates. Never below 0.
int64_t AtHint(const IndexExpr& size, const std::vector<SizeSymbol>& symbols);

struct Access {
  ValueId op = -1;
  bool store = false;
  int element_bytes = 0;
  // A nest dim each: 0 when the access does not depend on it, its stride in elements when that is a
  // constant, kOther for anything else (a symbolic stride, a gather, a division).
  static constexpr int64_t kOther = INT64_MIN;
  std::vector<int64_t> strides;
  // Elements touched, each once, at the hints: the product of the extents of the dims it depends
  // on, but not more than the buffer has.
  int64_t elements = 0;
};

// All loads and stores in body order.
std::vector<Access> Accesses(const LoopNest& nest);

// Positions in nest.dims that each value depends on, also through masks and indirect indices; a
// reduce no longer depends on the reduction dims. By op position, sorted.
std::vector<std::vector<int>> DependentDims(const LoopNest& nest);

// Whether every load and store that Verify() wants to see inside its buffer provably is. Changing
// variables can take a nest out of reach of the proof.
bool IndicesAreProvable(const LoopNest& nest);

// Whether the reduction runs along contiguous memory for most of the bytes loaded (S9.4: INNER).
bool ReducesContiguous(const LoopNest& nest);

}  // namespace stax

#endif  // STAX_COMPILER_LOWERING_ACCESS_PATTERN_H_
