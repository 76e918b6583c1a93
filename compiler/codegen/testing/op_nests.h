// Nests for tests of ops and reductions, one per element type.
#ifndef STAX_COMPILER_CODEGEN_TESTING_OP_NESTS_H_
#define STAX_COMPILER_CODEGEN_TESTING_OP_NESTS_H_

#include <string>
#include <vector>

#include "ir/dtype.h"
#include "ir/loop_nest.h"
#include "ir/loop_op.h"

namespace stax {

std::vector<DType> AllTypes();

// The scalar ops that `type` allows: those of EmitMath (whose results have errors), or the others
// (whose results are exact).
std::vector<OpCode> OpsOnType(DType type, bool math);

// o_<op> = op(a[, b]) for each of `ops`, in one kernel: compiling is what takes the time. 333
// elements, no multiple of any vector width.
LoopNest OpsNest(const std::vector<OpCode>& ops, DType type);

// o_<to> = a of `type`, cast to each type.
LoopNest CastsNest(DType type);

// Rows of `length`, reduced along the contiguous dim (inner) or across it. `kind`: "sum", "argmax"
LoopNest ReduceNest(const std::string& kind, DType type, int rows, int length, bool inner);

}  // namespace stax

#endif  // STAX_COMPILER_CODEGEN_TESTING_OP_NESTS_H_
