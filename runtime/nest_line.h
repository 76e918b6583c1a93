// Which op of a kernel's loop nest a failed launch is about. A device knows the line of the nest's
// text (from .loc of the PTX), who launches has the text:
//
//   return AtNestLine(status, 15);                               // the device
//   return QuoteNestLine(kernel.Launch(...), nest.loop_nest());  // "...; the op: store y[i0], %7"
#ifndef STAX_RUNTIME_NEST_LINE_H_
#define STAX_RUNTIME_NEST_LINE_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace stax {

// The error with `line` (from 1) noted in it.
absl::Status AtNestLine(absl::Status error, int line);

// `status` with the noted line of `nest` added to its message; as it is when none is noted, or the
// text has no such line.
absl::Status QuoteNestLine(absl::Status status, absl::string_view nest);

}  // namespace stax

#endif  // STAX_RUNTIME_NEST_LINE_H_
