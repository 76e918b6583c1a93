// Lowering: Graph -> LoopProgram.
//
// Input: a verified Graph. Output: loop nests in execution order, each computing one materialised
// tensor (a reduction, a graph output, or a pointwise tensor worth keeping), with everything else
// inlined into its readers: views become index arithmetic, pointwise producers are recomputed or
// kept by cost. Reductions with too few outputs are split in two (S9.4). No fusion of nests here:
// that is schedule's work, which sees nests in their natural dim order, size-1 dims dropped.
//
// Running sums and the like (kCumulative) of n positions take about n^1.5 steps
// (cumulative_nests.h). Errors: Internal if Verify of a nest fails.
#ifndef STAX_COMPILER_LOWERING_LOWERING_H_
#define STAX_COMPILER_LOWERING_LOWERING_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/target.h"
#include "ir/graph.h"
#include "ir/loop_nest.h"

namespace stax {

struct PlanBuffer {
  enum class Kind { kInput, kOutput, kConstant, kTemporary };
  std::string name;    // unique; nests refer to it: letters, digits, '_' and '.'
  std::string tensor;  // kInput: the model's name for it, which may be any text
  Kind kind = Kind::kTemporary;
  DType dtype = DType::kF32;
  Dims dims;                                           // row-major contiguous
  std::shared_ptr<const std::vector<std::byte>> data;  // kConstant; kInput: value specialised on
};

struct PlanOutput {
  std::string name;
  std::string buffer;  // kOutput, or a kInput / kConstant / another output's buffer: then copied
};

struct LoopProgram {
  std::string name;
  std::vector<SizeSymbol> symbols;
  std::vector<PlanBuffer> buffers;
  std::vector<std::string> inputs;  // in the model's order
  std::vector<PlanOutput> outputs;  // in the model's order
  std::vector<LoopNest> nests;
  std::vector<std::vector<std::string>> origins;  // a nest: model nodes it computes
};

absl::StatusOr<LoopProgram> LowerGraph(const Graph& graph, const TargetSpec& target);

}  // namespace stax

#endif  // STAX_COMPILER_LOWERING_LOWERING_H_
