#include "compiler/pipeline.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "compiler/codegen/codegen.h"
#include "compiler/kernel_proto.h"
#include "compiler/lowering/lowering.h"
#include "compiler/schedule/schedule.h"
#include "ir/artifact/artifact_io.h"
#include "ir/artifact/content_hash.h"
#include "ir/artifact/formula.h"

namespace stax {
namespace {

// Times passes and hands their dumps to the observer.
class PassRunner {
 public:
  explicit PassRunner(const CompileOptions& options) : options_(options) {}

  // `run` is the pass; `dump` prints what it made, and is called only if somebody looks.
  template <typename Run, typename Dump>
  auto operator()(const std::string& name, Run run, Dump dump) -> decltype(run()) {
    absl::Time start = absl::Now();
    auto result = run();
    absl::Duration time = absl::Now() - start;
    if (options_.observer && result.ok()) options_.observer(name, time, dump(*result));
    return result;
  }

 private:
  const CompileOptions& options_;
};

std::string DumpNests(const LoopProgram& program) {
  std::vector<std::string> texts;
  for (const LoopNest& nest : program.nests) texts.push_back(ToText(nest));
  return absl::StrJoin(texts, "\n");
}

std::string DumpKernels(const std::vector<KernelSpec>& kernels) {
  std::vector<std::string> texts;
  for (const KernelSpec& kernel : kernels) texts.push_back(ToText(kernel));
  return absl::StrJoin(texts, "\n");
}

Buffer::Kind KindToProto(PlanBuffer::Kind kind) {
  switch (kind) {
    case PlanBuffer::Kind::kInput:
      return Buffer::INPUT;
    case PlanBuffer::Kind::kOutput:
      return Buffer::OUTPUT;
    case PlanBuffer::Kind::kConstant:
      return Buffer::CONSTANT;
    case PlanBuffer::Kind::kTemporary:
      return Buffer::TEMPORARY;
  }
  return Buffer::KIND_UNSPECIFIED;
}

Buffer BufferToProto(const PlanBuffer& buffer) {
  Buffer proto;
  // Inputs are known to callers by the model's name, which may be any text.
  proto.set_name(buffer.kind == PlanBuffer::Kind::kInput ? buffer.tensor : buffer.name);
  proto.set_kind(KindToProto(buffer.kind));
  proto.set_dtype(std::string(DTypeName(buffer.dtype)));
  for (const IndexExpr& dim : buffer.dims) proto.add_dims(dim.ToString());
  *proto.mutable_size_bytes() = ToValue(NumElements(buffer.dims) * DTypeBytes(buffer.dtype));
  if (buffer.data != nullptr) {
    std::string bytes(reinterpret_cast<const char*>(buffer.data->data()), buffer.data->size());
    if (buffer.kind == PlanBuffer::Kind::kConstant) {
      proto.set_data(std::move(bytes));
    } else {
      proto.set_required_value(std::move(bytes));
      proto.set_is_specialised(true);
    }
  }
  return proto;
}

// The wrapper plan without kernels: symbols, buffers, inputs and outputs. Returns the positions of
// the buffers by name.
std::map<std::string, int> AddPlan(const LoopProgram& plan, Program& program) {
  program.set_name(plan.name);
  for (const SizeSymbol& symbol : plan.symbols) {
    SizeSymbolProto* proto = program.add_symbols();
    proto->set_name(symbol.name);
    proto->set_lower(symbol.lower);
    proto->set_upper(symbol.upper);
    proto->set_hint(symbol.hint);
  }
  std::map<std::string, int> positions;
  for (const PlanBuffer& buffer : plan.buffers) {
    positions[buffer.name] = program.buffers_size();
    *program.add_buffers() = BufferToProto(buffer);
  }
  for (const std::string& name : plan.inputs) program.add_inputs(positions.at(name));
  for (const PlanOutput& output : plan.outputs) {
    Output* proto = program.add_outputs();
    proto->set_name(output.name);
    proto->set_buffer(positions.at(output.buffer));
  }
  return positions;
}

void AddLaunch(const KernelSpec& spec, const std::map<std::string, int>& positions,
               Program& program) {
  Launch* launch = program.add_launches();
  launch->set_kernel(program.kernels_size() - 1);
  for (const NestBuffer& buffer : spec.nest.buffers) launch->add_buffers(positions.at(buffer.name));
}

// The first candidate that the target can hold, without spilling registers if there is one (where
// ptxas tells).
absl::StatusOr<Variant> CompileFirstCandidate(const KernelSpec& spec,
                                              const CompileOptions& options) {
  CodegenOptions codegen;
  codegen.keep_llvm_ir = options.keep_llvm_ir;
  codegen.run_ptxas = options.run_ptxas;
  absl::StatusOr<Variant> best = absl::InternalError(absl::StrCat(spec.name, " has no candidates"));
  for (const Config& config : spec.candidates) {
    absl::StatusOr<Variant> variant = CompileVariant(spec, config, options.target, codegen);
    if (!variant.ok() && variant.status().code() != absl::StatusCode::kResourceExhausted)
      return variant;
    if (variant.ok() && variant->spill_bytes() <= 0) return variant;
    if (!best.ok()) best = std::move(variant);
  }
  return best;
}

std::string DumpVariant(const Variant& variant) {
  return absl::StrCat(variant.llvm_ir(), variant.ptx());
}

}  // namespace

absl::StatusOr<Program> CompileGraph(const Graph& graph, const CompileOptions& options) {
  PassRunner pass(options);
  absl::StatusOr<LoopProgram> plan =
      pass("lower", [&] { return LowerGraph(graph, options.target); }, DumpNests);
  if (!plan.ok()) return plan.status();
  absl::StatusOr<std::vector<KernelSpec>> kernels =
      pass("schedule", [&] { return Schedule(*plan, options.target); }, DumpKernels);
  if (!kernels.ok()) return kernels.status();

  Program program;
  program.set_schema_version(kSchemaVersion);
  program.mutable_target()->set_kind(options.target.is_cuda() ? "cuda" : "cpu");
  program.mutable_target()->set_arch(options.target.arch);
  std::map<std::string, int> positions = AddPlan(*plan, program);
  for (const KernelSpec& spec : *kernels) {
    absl::StatusOr<Variant> variant = pass(
        absl::StrCat("codegen ", spec.name), [&] { return CompileFirstCandidate(spec, options); },
        DumpVariant);
    if (!variant.ok()) return variant.status();
    Kernel* kernel = program.add_kernels();
    *kernel = KernelToProto(spec);
    variant->set_kernel_hash(kernel->hash());
    *kernel->mutable_variant() = *std::move(variant);
    AddLaunch(spec, positions, program);
  }
  program.mutable_identity()->set_compiler_version(kCompilerVersion);
  program.mutable_identity()->set_content_hash(ContentHash(SerializeDeterministically(program)));
  return program;
}

}  // namespace stax
