// What a kernel with reductions reads in more than one pass over its rows, and so keeps in
// registers when it is persistent: softmax its input, layer normalization's backward two of them.
#ifndef STAX_COMPILER_SCHEDULE_KEPT_ROW_H_
#define STAX_COMPILER_SCHEDULE_KEPT_ROW_H_

#include <cstdint>

#include "ir/loop_nest.h"

namespace stax {

struct KeptRow {
  int loads = 0;      // that are needed in more than one pass
  int64_t bytes = 0;  // of these an element: halves are kept packed
};

KeptRow FindKeptRow(const LoopNest& nest);

}  // namespace stax

#endif  // STAX_COMPILER_SCHEDULE_KEPT_ROW_H_
