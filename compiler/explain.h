// --explain: a Program in words.
#ifndef STAX_COMPILER_EXPLAIN_H_
#define STAX_COMPILER_EXPLAIN_H_

#include <string>

#include "ir/artifact/program.pb.h"

namespace stax {

// For each kernel: what was fused and from where, its tile and configuration, what it must move and
// compute, and what the code uses (registers, shared memory); then the program's totals.
std::string Explain(const Program& program);

}  // namespace stax

#endif  // STAX_COMPILER_EXPLAIN_H_
