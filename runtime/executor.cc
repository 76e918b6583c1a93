#include "runtime/executor.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ir/artifact/program_verify.h"
#include "ir/index_expr.h"
#include "ir/loop_nest.h"
#include "runtime/graph_policy.h"
#include "runtime/memory_plan.h"
#include "runtime/nest_line.h"
#include "runtime/shapes.h"

namespace stax {
namespace {

// codegen.h: 16-byte accesses are made where a buffer's start allows them.
constexpr uintptr_t kGpuAlignment = 16;

// Memory of the device, freed with its owner.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  explicit DeviceMemory(Device* device) : device_(device) {}
  DeviceMemory(DeviceMemory&& other) noexcept { *this = std::move(other); }
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~DeviceMemory() {
    if (data_ != nullptr) device_->Free(data_);
  }

  absl::Status Grow(int64_t bytes) {
    if (data_ != nullptr && bytes <= bytes_) return absl::OkStatus();
    // The old block may still be in use by launches in flight.
    if (data_ != nullptr) {
      if (absl::Status status = device_->Synchronize(); !status.ok()) return status;
      device_->Free(std::exchange(data_, nullptr));
      bytes_ = 0;
    }
    absl::StatusOr<void*> data = device_->Allocate(bytes);
    if (!data.ok()) return data.status();
    data_ = *data;
    bytes_ = bytes;
    return absl::OkStatus();
  }
  void* data() const { return data_; }
  int64_t bytes() const { return bytes_; }

 private:
  Device* device_ = nullptr;
  void* data_ = nullptr;
  int64_t bytes_ = 0;
};

struct KernelState {
  std::unique_ptr<LoadedKernel> code;
  IndexExpr grid;
  std::vector<std::string> symbols;   // in the nest's order
  std::vector<NestBuffer> arguments;  // what the code takes
};

// Everything that depends on the sizes but not on the pointers.
struct Plan {
  struct LaunchPlan {
    int64_t grid = 0;
    std::vector<int64_t> sizes;
  };
  std::vector<LaunchPlan> launches;
  std::vector<int64_t> bytes;    // of each buffer
  std::vector<int64_t> offsets;  // of each temporary in the arena, -1 for others
  int64_t arena_bytes = 0;
};

std::string ShapeText(absl::Span<const int64_t> dims) {
  return absl::StrCat("[", absl::StrJoin(dims, ", "), "]");
}

absl::Status CheckDense(absl::string_view what, const TensorRef& tensor) {
  if (tensor.strides.empty()) return absl::OkStatus();
  if (tensor.strides.size() != tensor.dims.size())
    return absl::InvalidArgumentError(absl::StrCat(what, " has ", tensor.dims.size(), " dims but ",
                                                   tensor.strides.size(), " strides"));
  if (std::count(tensor.dims.begin(), tensor.dims.end(), 0) > 0) return absl::OkStatus();
  int64_t expected = 1;
  for (int d = static_cast<int>(tensor.dims.size()) - 1; d >= 0; --d) {
    if (tensor.dims[d] != 1 && tensor.strides[d] != expected) {
      return absl::InvalidArgumentError(absl::StrCat(
          what, " of shape ", ShapeText(tensor.dims), " has strides ", ShapeText(tensor.strides),
          "; expected a dense row-major tensor (stride ", expected, " in dimension ", d, ")"));
    }
    expected *= tensor.dims[d];
  }
  return absl::OkStatus();
}

}  // namespace

struct Executor::State {
  Program program;
  Device* device = nullptr;
  std::vector<BufferShape> shapes;  // one a buffer
  std::map<std::string, SizeSymbolProto> symbols;
  std::vector<KernelState> kernels;
  std::vector<DeviceMemory> constants;         // one a buffer, empty for others
  std::map<std::vector<int64_t>, Plan> plans;  // by the values of the symbols, in name order
  DeviceMemory arena;
  std::optional<GraphPolicy> graphs;  // when asked for; after the kernels that it records
  std::vector<void*> pointers;        // scratch of Run: address of each buffer, then each output

  absl::Status Load();
  absl::Status LoadConstants();
  absl::StatusOr<Plan> MakePlan(const SizeMap& sizes) const;
  absl::Status CheckArguments(const Launch& launch, const SizeMap& sizes,
                              const std::vector<int64_t>& bytes) const;
  absl::StatusOr<const Plan*> PlanFor(const SizeMap& sizes);
  absl::Status CheckTensor(absl::string_view what, int buffer, const TensorRef& tensor) const;
  absl::Status CheckApart(const Plan& plan, absl::Span<const TensorRef> inputs,
                          absl::Span<const TensorRef> outputs) const;
  absl::Status CheckSpecialised(absl::Span<const TensorRef> inputs) const;
  void BindPointers(const Plan& plan, absl::Span<const TensorRef> inputs,
                    absl::Span<const TensorRef> outputs);
  absl::Status Submit(const Plan& plan, absl::Span<const TensorRef> outputs, StreamHandle stream);
  absl::Status LaunchAll(const Plan& plan, StreamHandle stream);
  absl::Status CopyOutputs(const Plan& plan, absl::Span<const TensorRef> outputs,
                           StreamHandle stream);
};

absl::Status Executor::State::Load() {
  if (absl::Status status = VerifyProgram(program); !status.ok()) return status;
  for (const SizeSymbolProto& symbol : program.symbols()) symbols[symbol.name()] = symbol;
  for (const Buffer& buffer : program.buffers()) {
    absl::StatusOr<BufferShape> shape = ParseBufferShape(buffer);
    if (!shape.ok()) return shape.status();
    shapes.push_back(*std::move(shape));
  }
  for (const Kernel& kernel : program.kernels()) {
    absl::StatusOr<LoopNest> nest = ParseLoopNest(kernel.loop_nest());
    if (!nest.ok()) return nest.status();
    absl::StatusOr<IndexExpr> grid = IndexExpr::Parse(kernel.variant().grid_x());
    if (!grid.ok()) return grid.status();
    absl::StatusOr<std::unique_ptr<LoadedKernel>> code = device->Load(kernel.variant());
    if (!code.ok()) return code.status();
    KernelState state{*std::move(code), *grid, {}, nest->buffers};
    for (const SizeSymbol& symbol : nest->symbols) state.symbols.push_back(symbol.name);
    kernels.push_back(std::move(state));
  }
  return LoadConstants();
}

absl::Status Executor::State::LoadConstants() {
  constants.resize(program.buffers_size());
  for (int b = 0; b < program.buffers_size(); ++b) {
    const Buffer& buffer = program.buffers(b);
    if (buffer.kind() != Buffer::CONSTANT) continue;
    absl::StatusOr<std::vector<int64_t>> dims = shapes[b].Evaluate({});
    if (!dims.ok()) return dims.status();
    absl::StatusOr<int64_t> bytes = ByteSize(shapes[b].dtype, *dims);
    if (!bytes.ok()) return bytes.status();
    if (*bytes != static_cast<int64_t>(buffer.data().size()))
      return absl::InvalidArgumentError(absl::StrCat("constant '", buffer.name(), "' has ",
                                                     buffer.data().size(), " bytes instead of ",
                                                     *bytes));
    constants[b] = DeviceMemory(device);
    if (absl::Status status = constants[b].Grow(*bytes); !status.ok()) return status;
    absl::Status status = device->CopyIn(constants[b].data(), buffer.data().data(), *bytes);
    if (!status.ok()) return status;
  }
  // A copy from pageable memory may be under way after it returns, and the caller's stream does not
  // wait for the default one.
  return device->Synchronize();
}

// The code uses as much of each buffer as its nest declares.
absl::Status Executor::State::CheckArguments(const Launch& launch, const SizeMap& sizes,
                                             const std::vector<int64_t>& bytes) const {
  const std::vector<NestBuffer>& arguments = kernels[launch.kernel()].arguments;
  for (size_t i = 0; i < arguments.size(); ++i) {
    absl::StatusOr<int64_t> elements = arguments[i].numel.Evaluate(sizes);
    if (!elements.ok()) return elements.status();
    const int b = launch.buffers(static_cast<int>(i));
    const int64_t available = bytes[b] / DTypeBytes(arguments[i].dtype);
    if (*elements > available)
      return absl::InvalidArgumentError(
          absl::StrCat("kernel '", program.kernels(launch.kernel()).name(), "' takes ", *elements,
                       " elements of buffer '", program.buffers(b).name(), "', which has ",
                       available, " for these sizes"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Plan> Executor::State::MakePlan(const SizeMap& sizes) const {
  Plan plan;
  for (const BufferShape& shape : shapes) {
    absl::StatusOr<std::vector<int64_t>> dims = shape.Evaluate(sizes);
    if (!dims.ok()) return dims.status();
    absl::StatusOr<int64_t> bytes = ByteSize(shape.dtype, *dims);
    if (!bytes.ok()) return bytes.status();
    plan.bytes.push_back(*bytes);
  }
  std::vector<Lifetime> lifetimes;
  int64_t temporary_bytes = 0;                // of all together
  std::vector<int> owner(shapes.size(), -1);  // position in lifetimes
  for (int l = 0; l < program.launches_size(); ++l) {
    const Launch& launch = program.launches(l);
    const KernelState& kernel = kernels[launch.kernel()];
    if (absl::Status s = CheckArguments(launch, sizes, plan.bytes); !s.ok()) return s;
    absl::StatusOr<int64_t> grid = kernel.grid.Evaluate(sizes);
    if (!grid.ok()) return grid.status();
    Plan::LaunchPlan launch_plan{*grid, {}};
    for (const std::string& name : kernel.symbols) {
      auto value = sizes.find(name);
      if (value == sizes.end())
        return absl::InvalidArgumentError(absl::StrCat("no input determines the size ", name));
      launch_plan.sizes.push_back(value->second);
    }
    plan.launches.push_back(std::move(launch_plan));
    for (int b : launch.buffers()) {
      if (program.buffers(b).kind() != Buffer::TEMPORARY) continue;
      if (owner[b] < 0) {
        // With what alignment may add to each.
        if (__builtin_add_overflow(temporary_bytes, kPlanAlignment, &temporary_bytes) ||
            __builtin_add_overflow(temporary_bytes, plan.bytes[b], &temporary_bytes))
          return absl::OutOfRangeError("the temporaries of the program are too large");
        owner[b] = static_cast<int>(lifetimes.size());
        lifetimes.push_back({plan.bytes[b], l, l});
      }
      lifetimes[owner[b]].last = l;
    }
  }
  MemoryPlan memory = PlanMemory(lifetimes);
  plan.arena_bytes = memory.arena_bytes;
  for (int id : owner) plan.offsets.push_back(id < 0 ? -1 : memory.offsets[id]);
  return plan;
}

absl::StatusOr<const Plan*> Executor::State::PlanFor(const SizeMap& sizes) {
  std::vector<int64_t> key;
  key.reserve(sizes.size());
  for (const auto& [name, value] : sizes) key.push_back(value);
  auto found = plans.find(key);
  if (found == plans.end()) {
    absl::StatusOr<Plan> plan = MakePlan(sizes);
    if (!plan.ok()) return plan.status();
    found = plans.emplace(std::move(key), *std::move(plan)).first;
  }
  // Also for sizes seen before: growing for others may have failed, and left no arena.
  if (absl::Status status = arena.Grow(found->second.arena_bytes); !status.ok()) return status;
  return &found->second;
}

absl::Status Executor::State::CheckTensor(absl::string_view what, int buffer,
                                          const TensorRef& tensor) const {
  const BufferShape& shape = shapes[buffer];
  if (tensor.dtype != shape.dtype)
    return absl::InvalidArgumentError(absl::StrCat(what, " has element type ",
                                                   std::string(DTypeName(tensor.dtype)),
                                                   "; expected ", shape.ToString()));
  absl::StatusOr<int64_t> bytes = ByteSize(tensor.dtype, tensor.dims);
  if (!bytes.ok())
    return absl::Status(bytes.status().code(), absl::StrCat(what, ": ", bytes.status().message()));
  if (absl::Status status = CheckDense(what, tensor); !status.ok()) return status;
  if (*bytes == 0) return absl::OkStatus();
  if (tensor.data == nullptr)
    return absl::InvalidArgumentError(absl::StrCat(what, " has no data (a null pointer)"));
  if (device->info().kind == "cuda" &&
      reinterpret_cast<uintptr_t>(tensor.data) % kGpuAlignment != 0)
    return absl::InvalidArgumentError(
        absl::StrCat(what, " does not start at a multiple of ", kGpuAlignment, " bytes"));
  return absl::OkStatus();
}

// Kernels promise the code generator that no two of their buffers overlap.
absl::Status Executor::State::CheckApart(const Plan& plan, absl::Span<const TensorRef> inputs,
                                         absl::Span<const TensorRef> outputs) const {
  struct Range {
    uintptr_t begin, end;
  };
  absl::InlinedVector<Range, 16> ranges;  // the inputs, then the outputs
  auto add = [&](const TensorRef& tensor, int buffer) {
    auto begin = reinterpret_cast<uintptr_t>(tensor.data);
    ranges.push_back({begin, begin + plan.bytes[buffer]});
  };
  auto name = [&](size_t i) {
    return i < inputs.size()
               ? absl::StrCat("input '", program.buffers(program.inputs(i)).name(), "'")
               : absl::StrCat("output '", program.outputs(i - inputs.size()).name(), "'");
  };
  for (size_t i = 0; i < inputs.size(); ++i) add(inputs[i], program.inputs(i));
  for (size_t o = 0; o < outputs.size(); ++o) {
    add(outputs[o], program.outputs(o).buffer());
    const Range& mine = ranges.back();
    for (size_t i = 0; i + 1 < ranges.size(); ++i) {
      if (mine.begin < ranges[i].end && ranges[i].begin < mine.end)
        return absl::InvalidArgumentError(
            absl::StrCat(name(ranges.size() - 1), " overlaps ", name(i), " in memory"));
    }
  }
  return absl::OkStatus();
}

absl::Status Executor::State::CheckSpecialised(absl::Span<const TensorRef> inputs) const {
  for (int i = 0; i < program.inputs_size(); ++i) {
    const Buffer& buffer = program.buffers(program.inputs(i));
    if (!buffer.is_specialised()) continue;
    // The caller's stream may still be writing it.
    if (absl::Status status = device->Synchronize(); !status.ok()) return status;
    absl::StatusOr<int64_t> bytes = ByteSize(inputs[i].dtype, inputs[i].dims);
    if (!bytes.ok()) return bytes.status();
    const std::string& wanted = buffer.required_value();
    std::string actual(wanted.size(), '\0');
    const bool same_size = *bytes == static_cast<int64_t>(wanted.size());
    if (same_size) {
      absl::Status status = device->CopyOut(actual.data(), inputs[i].data, actual.size());
      if (!status.ok()) return status;
    }
    if (!same_size || actual != wanted)
      return absl::InvalidArgumentError(
          absl::StrCat("input '", buffer.name(),
                       "' sets shapes, and the program was compiled for another value of it; "
                       "compile the model again with this value"));
  }
  return absl::OkStatus();
}

void Executor::State::BindPointers(const Plan& plan, absl::Span<const TensorRef> inputs,
                                   absl::Span<const TensorRef> outputs) {
  pointers.assign(program.buffers_size(), nullptr);
  for (int b = 0; b < program.buffers_size(); ++b) {
    if (plan.offsets[b] >= 0) {
      pointers[b] = static_cast<char*>(arena.data()) + plan.offsets[b];
    } else {
      pointers[b] = constants[b].data();
    }
  }
  for (int i = 0; i < program.inputs_size(); ++i) pointers[program.inputs(i)] = inputs[i].data;
  for (int o = 0; o < program.outputs_size(); ++o) {
    int b = program.outputs(o).buffer();
    if (program.buffers(b).kind() == Buffer::OUTPUT && pointers[b] == nullptr)
      pointers[b] = outputs[o].data;
  }
}

// All that a run puts on the stream.
absl::Status Executor::State::Submit(const Plan& plan, absl::Span<const TensorRef> outputs,
                                     StreamHandle stream) {
  auto launch = [&](StreamHandle to) {
    absl::Status status = LaunchAll(plan, to);
    return status.ok() ? CopyOutputs(plan, outputs, to) : status;
  };
  if (!graphs.has_value()) return launch(stream);
  for (const TensorRef& output : outputs) pointers.push_back(output.data);
  return graphs->Run(pointers, launch, stream);
}

absl::Status Executor::State::LaunchAll(const Plan& plan, StreamHandle stream) {
  absl::InlinedVector<void*, 16> arguments;
  for (int l = 0; l < program.launches_size(); ++l) {
    const Plan::LaunchPlan& launch_plan = plan.launches[l];
    if (launch_plan.grid <= 0) continue;  // an empty tensor
    arguments.clear();
    for (int b : program.launches(l).buffers()) arguments.push_back(pointers[b]);
    const int k = program.launches(l).kernel();
    absl::Status status =
        kernels[k].code->Launch(arguments, launch_plan.sizes, launch_plan.grid, stream);
    if (!status.ok()) return QuoteNestLine(std::move(status), program.kernels(k).loop_nest());
  }
  return absl::OkStatus();
}

// Outputs that are inputs, constants, or one buffer under several names.
absl::Status Executor::State::CopyOutputs(const Plan& plan, absl::Span<const TensorRef> outputs,
                                          StreamHandle stream) {
  for (int o = 0; o < program.outputs_size(); ++o) {
    int b = program.outputs(o).buffer();
    if (pointers[b] == outputs[o].data || plan.bytes[b] == 0) continue;
    absl::Status status = device->Copy(outputs[o].data, pointers[b], plan.bytes[b], stream);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

Executor::Executor(std::unique_ptr<State> state) : state_(std::move(state)) {}
Executor::~Executor() = default;

const Program& Executor::program() const { return state_->program; }

void Executor::UseGraphs() { state_->graphs.emplace(state_->program, state_->device); }

int64_t Executor::graph_replays() const {
  return state_->graphs.has_value() ? state_->graphs->replays() : 0;
}

std::string Executor::WhyNoGraphs() const {
  return state_->graphs.has_value() ? state_->graphs->why_direct() : "not asked for";
}

int64_t Executor::temporary_bytes() const { return state_->arena.bytes(); }

absl::StatusOr<std::unique_ptr<Executor>> Executor::Create(Program program, Device* device) {
  auto state = std::make_unique<State>();
  state->program = std::move(program);
  state->device = device;
  state->arena = DeviceMemory(device);
  if (absl::Status status = state->Load(); !status.ok()) return status;
  return std::unique_ptr<Executor>(new Executor(std::move(state)));
}

absl::StatusOr<std::map<std::string, int64_t>> Executor::BindSizes(
    absl::Span<const TensorRef> inputs) const {
  const Program& program = state_->program;
  if (static_cast<int>(inputs.size()) != program.inputs_size())
    return absl::InvalidArgumentError(absl::StrCat("the program takes ", program.inputs_size(),
                                                   " inputs; ", inputs.size(), " were given"));
  SizeMap sizes;
  for (bool final : {false, true}) {
    for (int i = 0; i < program.inputs_size(); ++i) {
      absl::Status status = BindShape(state_->shapes[program.inputs(i)], inputs[i].dims,
                                      state_->symbols, final, sizes);
      if (!status.ok()) return status;
    }
  }
  return sizes;
}

absl::StatusOr<std::vector<TensorRef>> Executor::OutputShapes(
    const std::map<std::string, int64_t>& sizes) const {
  std::vector<TensorRef> outputs;
  for (const Output& output : state_->program.outputs()) {
    const BufferShape& shape = state_->shapes[output.buffer()];
    absl::StatusOr<std::vector<int64_t>> dims = shape.Evaluate(sizes);
    if (!dims.ok()) return dims.status();
    outputs.push_back({nullptr, shape.dtype, *std::move(dims), {}});
  }
  return outputs;
}

absl::Status Executor::Run(absl::Span<const TensorRef> inputs, absl::Span<const TensorRef> outputs,
                           StreamHandle stream) {
  State& state = *state_;
  absl::StatusOr<SizeMap> sizes = BindSizes(inputs);
  if (!sizes.ok()) return sizes.status();
  for (int i = 0; i < state.program.inputs_size(); ++i) {
    int b = state.program.inputs(i);
    absl::Status status =
        state.CheckTensor(absl::StrCat("input '", state.shapes[b].name, "'"), b, inputs[i]);
    if (!status.ok()) return status;
  }
  absl::StatusOr<std::vector<TensorRef>> shapes = OutputShapes(*sizes);
  if (!shapes.ok()) return shapes.status();
  if (outputs.size() != shapes->size())
    return absl::InvalidArgumentError(absl::StrCat("the program gives ", shapes->size(),
                                                   " outputs; ", outputs.size(), " were given"));
  for (size_t o = 0; o < outputs.size(); ++o) {
    std::string what = absl::StrCat("output '", state.program.outputs(o).name(), "'");
    if (outputs[o].dims != (*shapes)[o].dims)
      return absl::InvalidArgumentError(absl::StrCat(what, " has shape ",
                                                     ShapeText(outputs[o].dims), "; expected ",
                                                     ShapeText((*shapes)[o].dims)));
    absl::Status status = state.CheckTensor(what, state.program.outputs(o).buffer(), outputs[o]);
    if (!status.ok()) return status;
  }
  if (absl::Status status = state.CheckSpecialised(inputs); !status.ok()) return status;
  absl::StatusOr<const Plan*> plan = state.PlanFor(*sizes);
  if (!plan.ok()) return plan.status();
  if (absl::Status status = state.CheckApart(**plan, inputs, outputs); !status.ok()) return status;
  state.BindPointers(**plan, inputs, outputs);
  return state.Submit(**plan, outputs, stream);
}

}  // namespace stax
