#include "compiler/lowering/lowering.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "compiler/lowering/cumulative_nests.h"
#include "compiler/lowering/describe_reduction.h"
#include "compiler/lowering/emitter.h"
#include "compiler/lowering/materialise.h"
#include "compiler/lowering/reduction_nests.h"
#include "compiler/lowering/rewrite_body.h"

namespace stax {
namespace {

// The result type of an op in text, for names of nests: "add", "sum", "concat".
std::string NameOf(const GraphOp& op) {
  const auto text = [](std::string_view name) { return std::string(name); };
  if (op.kind == GraphOpKind::kElementwise) return text(OpName(op.code));
  if (op.kind == GraphOpKind::kReduce) return text(ReduceName(op.reduce));
  if (op.kind == GraphOpKind::kCumulative) return absl::StrCat("cum", text(ReduceName(op.reduce)));
  return text(GraphOpName(op.kind));
}

class Lowerer {
 public:
  Lowerer(const Graph& graph, const TargetSpec& target)
      : graph_(graph),
        defs_(DefiningOps(graph)),
        live_(LiveTensors(graph, defs_)),
        storage_(graph.tensors.size()),
        context_{graph_, defs_, storage_, target, [this](DType dtype, const Dims& dims) {
                   return AddBuffer(PlanBuffer::Kind::kTemporary, "", dtype, dims);
                 }} {
    program_.name = graph.name;
    program_.symbols = graph.symbols;
  }

  absl::StatusOr<LoopProgram> Run() {
    AddInputs();
    AddConstants();
    AddOutputs();
    AddTemporaries();
    for (const GraphOp& op : graph_.ops)
      if (made_here_[op.result]) AddNests(op);
    for (const LoopNest& nest : program_.nests)
      if (absl::Status s = Verify(nest); !s.ok()) return s;
    return std::move(program_);
  }

 private:
  // A name that nests can use and no other buffer has, as close to `wanted` as can be.
  std::string UniqueName(const std::string& wanted) {
    std::string name = wanted.empty() ? absl::StrCat("buf", num_temporaries_++) : wanted;
    for (char& c : name)
      if (!absl::ascii_isalnum(c) && c != '_' && c != '.') c = '_';
    if (absl::ascii_isdigit(name[0]) || name[0] == '.') name = absl::StrCat("_", name);
    std::string unique = name;
    for (int k = 2; !names_.insert(unique).second; ++k) unique = absl::StrCat(name, "_", k);
    return unique;
  }

  StoredTensor AddBuffer(PlanBuffer::Kind kind, const std::string& name, DType dtype,
                         const Dims& dims) {
    PlanBuffer buffer;
    buffer.kind = kind;
    buffer.name = UniqueName(name);
    buffer.dtype = dtype;
    buffer.dims = dims;
    program_.buffers.push_back(std::move(buffer));
    return {program_.buffers.back().name};
  }

  StoredTensor AddBufferFor(TensorId t, PlanBuffer::Kind kind, const std::string& name) {
    return AddBuffer(kind, name, graph_.tensors[t].dtype, graph_.tensors[t].dims);
  }

  void AddInputs() {
    for (TensorId t : graph_.inputs) {
      const std::string& name = graph_.tensors[t].name;
      storage_[t] = AddBufferFor(t, PlanBuffer::Kind::kInput, name);
      program_.buffers.back().tensor = name;
      program_.inputs.push_back(storage_[t]->buffer);
      for (const SpecialisedInput& s : graph_.specialised)
        if (s.tensor == t) program_.buffers.back().data = s.data;
    }
  }

  // Constants get buffers unless they are one value, which is part of the code; outputs need one.
  void AddConstants() {
    const std::set<TensorId> outputs(graph_.outputs.begin(), graph_.outputs.end());
    for (const GraphOp& op : graph_.ops) {
      const TensorId t = op.result;
      if (op.kind != GraphOpKind::kConstant || !live_[t]) continue;
      if (outputs.count(t) == 0 && SplatValue(graph_.tensors[t], op).has_value()) continue;
      storage_[t] = AddBufferFor(t, PlanBuffer::Kind::kConstant, graph_.tensors[t].name);
      program_.buffers.back().data = op.data;
    }
  }

  // Outputs are stored where they are defined. One that reshapes a computed tensor is that tensor's
  // buffer; one that is a buffer already is copied from it.
  void AddOutputs() {
    made_here_.assign(graph_.tensors.size(), false);
    const std::set<TensorId> outputs(graph_.outputs.begin(), graph_.outputs.end());
    std::map<TensorId, std::string> buffers;  // of outputs so far
    for (size_t k = 0; k < graph_.outputs.size(); ++k) {
      const TensorId t = graph_.outputs[k];
      TensorId root = t;
      const auto can_pass = [&](TensorId x) {
        const TensorId source = defs_[x]->operands.empty() ? -1 : defs_[x]->operands[0];
        return defs_[x]->kind == GraphOpKind::kReshape && !storage_[source].has_value() &&
               outputs.count(source) == 0;
      };
      if (storage_[t].has_value()) buffers.emplace(t, storage_[t]->buffer);
      if (buffers.count(t) == 0) {
        while (can_pass(root)) root = defs_[root]->operands[0];
        storage_[root] = AddBufferFor(t, PlanBuffer::Kind::kOutput, graph_.output_names[k]);
        made_here_[root] = true;
        buffers[t] = storage_[root]->buffer;
      }
      program_.outputs.push_back({graph_.output_names[k], buffers[t]});
    }
  }

  void AddTemporaries() {
    std::vector<bool> forced = made_here_;
    for (const GraphOp& op : graph_.ops)
      if (live_[op.result] && IsReduction(graph_, op)) forced[op.result] = true;
    const std::vector<bool> stored = ChooseStored(graph_, defs_, live_, forced);
    for (const GraphOp& op : graph_.ops) {
      const TensorId t = op.result;
      if (!stored[t] || storage_[t].has_value()) continue;
      storage_[t] = AddBufferFor(t, PlanBuffer::Kind::kTemporary, "");
      made_here_[t] = true;
    }
  }

  void AddNests(const GraphOp& op) {
    std::vector<LoopNest> nests;
    if (IsReduction(graph_, op) && op.kind == GraphOpKind::kCumulative) {
      nests = CumulativeNests(op, *storage_[op.result], context_);
    } else if (IsReduction(graph_, op)) {
      nests = ReductionNests(DescribeReduction(graph_, op, *storage_[op.result]), context_);
    } else {
      nests.push_back(PointwiseNest(op.result));
    }
    for (LoopNest& nest : nests) {
      if (nest.LoopNumel() == IndexExpr(0)) continue;  // nothing is written
      nest.name = absl::StrCat(NameOf(op), "_", program_.nests.size());
      program_.nests.push_back(RemoveDeadOps(nest));
      program_.origins.push_back(Origins(op));
    }
  }

  LoopNest PointwiseNest(TensorId t) {
    const GraphTensor& tensor = graph_.tensors[t];
    LoopNest nest;
    nest.symbols = graph_.symbols;
    const Index index = AddDims(tensor.dims, std::vector<bool>(tensor.dims.size()), &nest);
    Emitter emitter(graph_, defs_, storage_, &nest);
    emitter.Store(*storage_[t], tensor.dtype, tensor.dims, index, emitter.EmitDefinition(t, index));
    return nest;
  }

  // Model nodes of the op and of everything inlined into it, in the graph's order.
  std::vector<std::string> Origins(const GraphOp& op) const {
    std::set<const GraphOp*> seen = {&op};
    std::vector<const GraphOp*> work = {&op};
    while (!work.empty()) {
      const GraphOp* next = work.back();
      work.pop_back();
      for (TensorId t : next->operands)
        if (!storage_[t].has_value() && seen.insert(defs_[t]).second) work.push_back(defs_[t]);
    }
    std::vector<const GraphOp*> ops(seen.begin(), seen.end());  // addresses in graph_.ops
    std::sort(ops.begin(), ops.end());
    std::vector<std::string> origins;
    for (const GraphOp* o : ops) {
      const bool known = std::find(origins.begin(), origins.end(), o->origin) != origins.end();
      if (!o->origin.empty() && !known) origins.push_back(o->origin);
    }
    return origins;
  }

  const Graph& graph_;
  const std::vector<const GraphOp*> defs_;
  const std::vector<bool> live_;
  Storage storage_;
  std::vector<bool> made_here_;  // tensors that nests store
  NestContext context_;
  std::set<std::string> names_;
  int num_temporaries_ = 0;
  LoopProgram program_;
};

}  // namespace

absl::StatusOr<LoopProgram> LowerGraph(const Graph& graph, const TargetSpec& target) {
  return Lowerer(graph, target).Run();
}

}  // namespace stax
