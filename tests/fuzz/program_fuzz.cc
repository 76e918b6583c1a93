// Fuzz target of .stax files: everything that a tool does with a program but run its code. The
// bytes are the payload, which gets a right envelope, so that the search is not about checksums.
// Whatever they are: a message and exit code 2, or a program that runs within its buffers.
//
// bazel test //tests/fuzz:program_fuzz_test runs it on mutations of two programs;
// bazel run --config=fuzz //tests/fuzz:program_fuzzer searches with libFuzzer (docs/testing.md).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "autotuner/tuner.h"
#include "ir/artifact/artifact_io.h"
#include "ir/artifact/testing/sample_programs.h"
#include "ir/check.h"
#include "ir/testing/mutate_proto.h"
#include "profiler/roofline/roofline.h"
#include "profiler/timing/kernel_buffers.h"
#include "runtime/executor.h"
#include "runtime/shapes.h"
#include "tests/fuzz/checking_device.h"
#include "tests/fuzz/envelope.h"
#include "tools/cat/print_artifact.h"
#include "tools/cli/command_line.h"

namespace stax {
namespace {

// Tensors of one run together.
constexpr size_t kMemoryBytes = 1 << 20;
// Random data for one kernel takes milliseconds: only this part of the inputs has it made.
constexpr size_t kBuffersEvery = 128;

void CheckIsBadRequest(const absl::Status& status) {
  STAX_CHECK(ExitCode(status) == kExitBadRequest && !status.message().empty(), status.ToString());
}

// A builder and a runner for which every configuration works.
class NoBuilder : public Builder {
 public:
  absl::StatusOr<Variant> Build(const Kernel& kernel, const TuningConfig& config) override {
    Variant variant = kernel.variant();
    *variant.mutable_config() = ToProto(config);
    return variant;
  }
};

class NoRunner : public Runner {
 public:
  absl::StatusOr<std::unique_ptr<KernelBench>> Prepare(
      const Kernel&, const std::map<std::string, int64_t>&) override {
    return std::make_unique<Bench>();
  }

 private:
  class Bench : public KernelBench {
   public:
    Measurement Measure(const Variant&) override {
      Measurement measurement;
      measurement.set_status("ok");
      measurement.set_median_ns(1);
      return measurement;
    }
    absl::Status Healthy() override { return absl::OkStatus(); }
  };
};

class NoStore : public Store {
 public:
  absl::StatusOr<std::optional<Measurement>> Find(const TuningIdentity&,
                                                  const TuningConfig&) override {
    return std::nullopt;
  }
  absl::Status Put(const TuningIdentity&, const Measurement&) override { return absl::OkStatus(); }
};

// Points of the kernel's configuration space; saturates.
double SpaceSize(const Kernel& kernel) {
  double size = 1;
  for (const Parameter& parameter : kernel.config_space().parameters())
    size *= parameter.values_size();
  return size;
}

void Tune(Program program, const SizeMap& sizes) {
  NoBuilder builder;
  NoRunner runner;
  NoStore store;
  TunerOptions options;
  options.strategy = "exhaustive";
  options.trials = 3;
  options.sizes = sizes;
  for (const Kernel& kernel : program.kernels()) {
    // Those that are neither small nor refused take their time, as they should.
    if (SpaceSize(kernel) > 1000 && SpaceSize(kernel) < 1e6) options.strategy = "candidates";
  }
  const absl::Status status =
      TuneProgram(options, {&builder, &runner, &store, "device", "driver", "timing"}, program);
  if (!status.ok()) return CheckIsBadRequest(status);
  for (const TuningRecord& record : program.tuning())
    STAX_CHECK(record.kernel() < program.kernels_size(), "record of no kernel");
  const absl::Status tuned =
      DecodeProgram(EncodeArtifact(ArtifactKind::kProgram, program)).status();
  STAX_CHECK(tuned.ok(), tuned.ToString());
}

void Profile(const Program& program, const SizeMap& sizes, bool with_buffers) {
  CheckingDevice device(program, kMemoryBytes);
  for (int k = 0; k < program.kernels_size(); ++k) {
    const Kernel& kernel = program.kernels(k);
    const auto prediction = PredictRoofline(kernel, sizes, SampleDevice());
    if (!prediction.ok()) CheckIsBadRequest(prediction.status());
    if (!with_buffers) continue;
    const auto buffers = KernelBuffers::Make(kernel, sizes, &device);
    if (!buffers.ok()) return CheckIsBadRequest(buffers.status());
    const absl::StatusOr<int64_t> grid = (*buffers)->Grid(kernel.variant());
    if (!grid.ok()) return CheckIsBadRequest(grid.status());
    const std::unique_ptr<LoadedKernel> code = device.KernelAt(k);
    absl::Status status = (*buffers)->Launch(*code, *grid);
    STAX_CHECK(status.ok(), status.ToString());
    status = (*buffers)->CheckGuards();
    STAX_CHECK(status.ok(), status.ToString());
  }
}

// Tensors of a run, in memory of the device.
class Tensors {
 public:
  explicit Tensors(Device* device) : device_(device) {}
  ~Tensors() {
    for (const TensorRef& ref : refs_) device_->Free(ref.data);
  }
  absl::Status Add(TensorRef ref, std::string_view content) {
    const absl::StatusOr<int64_t> bytes = ByteSize(ref.dtype, ref.dims);
    if (!bytes.ok()) return bytes.status();
    const absl::StatusOr<void*> memory = device_->Allocate(*bytes);
    if (!memory.ok()) return memory.status();
    ref.data = *memory;
    refs_.push_back(std::move(ref));
    if (*bytes == static_cast<int64_t>(content.size()))
      return device_->CopyIn(*memory, content.data(), content.size());
    const std::string zeros(*bytes, '\0');
    return device_->CopyIn(*memory, zeros.data(), zeros.size());
  }
  const std::vector<TensorRef>& refs() const { return refs_; }

 private:
  Device* device_;
  std::vector<TensorRef> refs_;
};

absl::Status Execute(const Program& program, const SizeMap& sizes) {
  CheckingDevice device(program, kMemoryBytes);
  auto executor = Executor::Create(program, &device);
  if (!executor.ok()) return executor.status();
  Tensors inputs(&device), outputs(&device);
  for (const int b : program.inputs()) {
    const absl::StatusOr<BufferShape> shape = ParseBufferShape(program.buffers(b));
    if (!shape.ok()) return shape.status();
    const auto dims = shape->Evaluate(sizes);
    if (!dims.ok()) return dims.status();
    absl::Status status =
        inputs.Add({nullptr, shape->dtype, *dims, {}}, program.buffers(b).required_value());
    if (!status.ok()) return status;
  }
  const absl::StatusOr<SizeMap> bound = (*executor)->BindSizes(inputs.refs());
  if (!bound.ok()) return bound.status();
  const auto shapes = (*executor)->OutputShapes(*bound);
  if (!shapes.ok()) return shapes.status();
  for (const TensorRef& shape : *shapes)
    if (absl::Status status = outputs.Add(shape, ""); !status.ok()) return status;
  // The second run uses the plan of the first.
  absl::Status status = (*executor)->Run(inputs.refs(), outputs.refs(), nullptr);
  if (!status.ok()) return status;
  status = (*executor)->Run(inputs.refs(), outputs.refs(), nullptr);
  STAX_CHECK(status.ok(), status.ToString());
  return status;
}

void CheckProgram(const Program& program, const std::string& file, bool with_buffers) {
  STAX_CHECK(EncodeArtifact(ArtifactKind::kProgram, program).size() <= 2 * file.size() + 64,
             "grows by reading");
  for (const ArtifactView view : {ArtifactView::kJson, ArtifactView::kText}) {
    const absl::Status status = PrintArtifact(file, view).status();
    STAX_CHECK(status.ok(), status.ToString());
  }
  SizeMap smallest, hints;
  for (const SizeSymbolProto& symbol : program.symbols()) {
    smallest[symbol.name()] = symbol.lower();
    hints[symbol.name()] = symbol.hint();
  }
  for (const SizeMap& sizes : {hints, smallest}) {
    if (absl::Status status = Execute(program, sizes); !status.ok()) CheckIsBadRequest(status);
    Profile(program, sizes, with_buffers);
  }
  Tune(program, smallest);
}

}  // namespace
}  // namespace stax

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string file =
      stax::Envelope(stax::ArtifactKind::kProgram, {reinterpret_cast<const char*>(data), size});
  const absl::StatusOr<stax::Program> program = stax::DecodeProgram(file);
  if (program.ok()) {
    stax::CheckProgram(*program, file, size % stax::kBuffersEvery == 0);
  } else {
    stax::CheckIsBadRequest(program.status());
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  static const auto& seeds = *new std::vector<std::string>(stax::ProgramSeeds());
  static const auto& texts = *new std::vector<std::string>(stax::ProgramTexts());
  stax::Program program;
  size = stax::MutateSerialized(seeds, texts, seed, data, size, max_size, &program);
  if (seed % 2 == 0) return size;
  std::mt19937_64 random(seed);
  if (seed % 4 == 1) stax::ChangeShape(random, &program);
  stax::RepairSizes(&program);
  const std::string bytes = stax::SerializeDeterministically(program);
  if (bytes.size() > max_size) return size;
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}
