#include "ir/interpreter.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/index_program.h"
#include "ir/interpreter_plan.h"
#include "ir/loop_nest_verify.h"
#include "ir/reducer.h"

namespace stax {
namespace {

// Larger buffers are refused: they would take hours here, and mostly come from a mistake.
constexpr int64_t kMaxBufferBytes = int64_t{1} << 32;

std::string TypeName(DType t) { return std::string(DTypeName(t)); }

class Machine {
 public:
  Machine(const LoopNest& nest, const std::map<std::string, int64_t>& sizes,
          std::map<std::string, Bytes>& memory, Precision precision)
      : nest_(nest), sizes_(sizes), memory_(memory), precision_(precision) {}

  absl::Status Run() {
    if (absl::Status s = BindSizes(); !s.ok()) return s;
    if (absl::Status s = BindDims(); !s.ok()) return s;
    if (absl::Status s = BindBuffers(); !s.ok()) return s;
    CompileIndices();
    stages_ = PlanStages(nest_);
    values_.resize(nest_.body.size());
    Execute();
    return error_;
  }

 private:
  struct Dim {
    int slot;
    int64_t extent;
  };
  struct BufferState {
    std::byte* bytes = nullptr;
    int64_t numel = 0;
    int element_bytes = 1;
    std::vector<bool> written;  // per element, for buffers that are written
  };

  absl::Status Error(const std::string& what) const {
    return absl::InvalidArgumentError(absl::StrCat("nest ", nest_.name, ": ", what));
  }

  // Position of variable `name` in vars_, with its first value.
  int AddVariable(const std::string& name, int64_t value) {
    const int slot = static_cast<int>(vars_.size());
    slots_[name] = slot;
    vars_.push_back(value);
    return slot;
  }

  absl::Status BindSizes() {
    for (const SizeSymbol& s : nest_.symbols) {
      auto it = sizes_.find(s.name);
      if (it == sizes_.end()) return Error(absl::StrCat("size ", s.name, " has no value"));
      if (it->second < s.lower || it->second > s.upper)
        return Error(absl::StrCat("size ", s.name, " is ", it->second, ", expected [", s.lower,
                                  ", ", s.upper, "]"));
      AddVariable(s.name, it->second);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<int64_t> Size(const std::string& what, const IndexExpr& size) const {
    absl::StatusOr<int64_t> value = size.Evaluate(sizes_);
    if (!value.ok()) return Error(absl::StrCat(what, ": ", std::string(value.status().message())));
    if (*value < 0) return Error(absl::StrCat(what, " is negative: ", *value));
    return value;
  }

  absl::Status BindDims() {
    for (const LoopDim& d : nest_.dims) {
      absl::StatusOr<int64_t> extent = Size("extent of " + d.name, d.extent);
      if (!extent.ok()) return extent.status();
      (d.reduce ? reduce_dims_ : loop_dims_).push_back({AddVariable(d.name, 0), *extent});
    }
    return absl::OkStatus();
  }

  absl::Status BindBuffers() {
    for (const NestBuffer& b : nest_.buffers) {
      absl::StatusOr<int64_t> numel = Size("numel of " + b.name, b.numel);
      if (!numel.ok()) return numel.status();
      const int element_bytes = DTypeBytes(b.dtype);
      if (*numel > kMaxBufferBytes / element_bytes)
        return Error(absl::StrCat("buffer ", b.name, " of ", *numel, " elements is too large"));
      const size_t num_bytes = static_cast<size_t>(*numel) * element_bytes;
      BufferState state;
      if (b.written) {
        memory_[b.name].assign(num_bytes, std::byte{0});
        state.written.resize(*numel, false);
      }
      auto it = memory_.find(b.name);
      if (it == memory_.end()) return Error(absl::StrCat("buffer ", b.name, " is missing"));
      if (it->second.size() != num_bytes)
        return Error(absl::StrCat("buffer ", b.name, " has ", it->second.size(),
                                  " bytes, expected ", num_bytes, " (", *numel, " of ",
                                  TypeName(b.dtype), ")"));
      state.bytes = it->second.data();
      state.numel = *numel;
      state.element_bytes = element_bytes;
      buffers_.push_back(std::move(state));
    }
    return absl::OkStatus();
  }

  void CompileIndices() {
    indices_.resize(nest_.body.size());
    indirect_slots_.resize(nest_.body.size(), -1);
    for (ValueId id = 0; id < static_cast<int>(nest_.body.size()); ++id) {
      indices_[id] = IndexProgram(nest_.body[id].index, slots_);
      if (nest_.body[id].code == OpCode::kIndirect)
        indirect_slots_[id] = AddVariable(IndirectVar(id), 0);
    }
  }

  // Calls `body` with every point of `dims` in vars_, in row-major order, until it returns false.
  template <typename Body>
  bool ForEachPoint(const std::vector<Dim>& dims, const Body& body) {
    for (const Dim& d : dims) {
      if (d.extent == 0) return true;
      vars_[d.slot] = 0;
    }
    while (true) {
      if (!body()) return false;
      int k = static_cast<int>(dims.size()) - 1;
      for (; k >= 0; --k) {
        if (++vars_[dims[k].slot] < dims[k].extent) break;
        vars_[dims[k].slot] = 0;
      }
      if (k < 0) return true;
    }
  }

  void Execute() {
    ForEachPoint(loop_dims_, [this] {
      for (const InterpreterStage& stage : stages_)
        if (!ExecuteStage(stage)) return false;
      return true;
    });
  }

  bool ExecuteStage(const InterpreterStage& stage) {
    for (ValueId id : stage.outer)
      if (!ExecuteOp(id)) return false;
    if (stage.inner.empty() && stage.reduces.empty()) return true;
    std::vector<Reducer> reducers;
    for (ValueId id : stage.reduces) {
      const LoopOp& op = nest_.body[id];
      reducers.emplace_back(op.reduce, nest_.body[op.operands[0]].dtype, precision_);
    }
    const bool ok = ForEachPoint(reduce_dims_, [&] {
      for (ValueId id : stage.inner)
        if (!ExecuteOp(id)) return false;
      for (size_t k = 0; k < reducers.size(); ++k)
        reducers[k].Add(values_[nest_.body[stage.reduces[k]].operands[0]]);
      return true;
    });
    for (size_t k = 0; k < reducers.size(); ++k) values_[stage.reduces[k]] = reducers[k].Result();
    return ok;
  }

  bool Fail(ValueId id, absl::StatusCode code, const std::string& what) {
    error_ = absl::Status(code, absl::StrCat("nest ", nest_.name, ", %", id, ": ", what));
    return false;
  }

  // False when error_ is set.
  bool EvaluateIndex(ValueId id, int64_t* value) {
    IndexProgram::Fault fault = IndexProgram::Fault::kNone;
    *value = indices_[id].Evaluate(vars_.data(), &fault);
    if (fault == IndexProgram::Fault::kNone) return true;
    return Fail(id, absl::StatusCode::kInvalidArgument,
                absl::StrCat("index ", nest_.body[id].index.ToString(),
                             fault == IndexProgram::Fault::kOverflow
                                 ? " overflows"
                                 : " divides by a number that is not positive"));
  }

  // The element's position in its buffer, checked.
  bool Locate(ValueId id, int64_t* element) {
    if (!EvaluateIndex(id, element)) return false;
    const LoopOp& op = nest_.body[id];
    const BufferState& buffer = buffers_[op.buffer];
    if (*element >= 0 && *element < buffer.numel) return true;
    return Fail(id, absl::StatusCode::kOutOfRange,
                absl::StrCat(std::string(OpName(op.code)), " ", nest_.buffers[op.buffer].name, "[",
                             op.index.ToString(), "]: element ", *element, " is outside [0, ",
                             buffer.numel, ")"));
  }

  bool ExecuteLoad(ValueId id, const LoopOp& op) {
    values_[id] = Number();
    if (!op.operands.empty() && values_[op.operands[0]].i == 0) return true;
    int64_t element = 0;
    if (!Locate(id, &element)) return false;
    const BufferState& buffer = buffers_[op.buffer];
    values_[id] = ToNumber(LoadScalar(op.dtype, buffer.bytes + element * buffer.element_bytes));
    return true;
  }

  bool ExecuteStore(ValueId id, const LoopOp& op) {
    int64_t element = 0;
    if (!Locate(id, &element)) return false;
    BufferState& buffer = buffers_[op.buffer];
    if (buffer.written[element])
      return Fail(id, absl::StatusCode::kFailedPrecondition,
                  absl::StrCat("element ", element, " of ", nest_.buffers[op.buffer].name,
                               " is written twice"));
    buffer.written[element] = true;
    StoreScalar(ToScalar(op.dtype, values_[op.operands[0]]),
                buffer.bytes + element * buffer.element_bytes);
    return true;
  }

  // False when error_ is set. Reductions are no concern of this.
  bool ExecuteOp(ValueId id) {
    const LoopOp& op = nest_.body[id];
    const auto operand = [&](size_t k) -> const Number& { return values_[op.operands[k]]; };
    int64_t index = 0;
    switch (op.code) {
      case OpCode::kConst:
        values_[id] = ToNumber(op.literal);
        return true;
      case OpCode::kIndex:
        if (!EvaluateIndex(id, &index)) return false;
        values_[id] = EvalCast(DType::kI64, op.dtype, {0.0, index}, precision_);
        return true;
      case OpCode::kLoad:
        return ExecuteLoad(id, op);
      case OpCode::kStore:
        return ExecuteStore(id, op);
      case OpCode::kCast:
        values_[id] = EvalCast(nest_.body[op.operands[0]].dtype, op.dtype, operand(0), precision_);
        return true;
      case OpCode::kSelect:
        values_[id] = operand(0).i != 0 ? operand(1) : operand(2);
        return true;
      case OpCode::kIndirect:
        if (!EvaluateIndex(id, &index)) return false;
        index = ClampIndirect(nest_.body[op.operands[0]].dtype, operand(0).i, index);
        vars_[indirect_slots_[id]] = index;
        values_[id] = {0.0, index};
        return true;
      default: {
        const Number second = op.operands.size() == 2 ? operand(1) : Number();
        values_[id] =
            EvalScalarOp(op.code, nest_.body[op.operands[0]].dtype, operand(0), second, precision_);
        return true;
      }
    }
  }

  const LoopNest& nest_;
  const std::map<std::string, int64_t>& sizes_;
  std::map<std::string, Bytes>& memory_;
  const Precision precision_;

  std::map<std::string, int> slots_;  // of variables in vars_
  std::vector<int64_t> vars_;         // sizes, dims, indirect indices
  std::vector<Dim> loop_dims_, reduce_dims_;
  std::vector<BufferState> buffers_;
  std::vector<IndexProgram> indices_;  // by op
  std::vector<int> indirect_slots_;    // by op
  std::vector<InterpreterStage> stages_;
  std::vector<Number> values_;  // by op
  absl::Status error_;
};

}  // namespace

absl::Status Interpret(const LoopNest& nest, const std::map<std::string, int64_t>& sizes,
                       std::map<std::string, Bytes>& memory, Precision precision) {
  if (absl::Status s = VerifyStructure(nest); !s.ok()) return s;
  return Machine(nest, sizes, memory, precision).Run();
}

}  // namespace stax
