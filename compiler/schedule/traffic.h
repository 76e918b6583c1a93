// What a nest must move and compute at least, as formulas in the size symbols.
#ifndef STAX_COMPILER_SCHEDULE_TRAFFIC_H_
#define STAX_COMPILER_SCHEDULE_TRAFFIC_H_

#include "ir/loop_nest.h"

namespace stax {

struct Traffic {
  // Each element that is read (or written) counted once, however often and wherever it is used:
  // per buffer the sum over different indices of the extents they run over, at most the buffer.
  IndexExpr read_bytes, write_bytes;
  // Floating-point operations of the body, each once for every point it depends on; a reduction
  // counts one a point. Casts, selects and comparisons are none.
  IndexExpr flops;
};

Traffic CountTraffic(const LoopNest& nest);

}  // namespace stax

#endif  // STAX_COMPILER_SCHEDULE_TRAFFIC_H_
