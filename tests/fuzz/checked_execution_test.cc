// What the executor finds out only when the sizes are known.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "ir/artifact/program_verify.h"
#include "ir/artifact/testing/sample_programs.h"
#include "profiler/timing/kernel_buffers.h"
#include "runtime/executor.h"
#include "runtime/host_memory.h"
#include "tests/fuzz/checking_device.h"

namespace stax {
namespace {

constexpr size_t kMemoryBytes = 1 << 20;

// Runs the symbolic sample with n = `n`; `x_dims` are those of x.
absl::Status RunAt(const Program& program, const std::vector<int64_t>& x_dims) {
  CheckingDevice device(program, kMemoryBytes);
  absl::StatusOr<std::unique_ptr<Executor>> executor = Executor::Create(program, &device);
  if (!executor.ok()) return executor.status();
  std::vector<float> x(4096), y(4096), again(4096), two(2);
  std::vector<int32_t> shape = {1, 8};
  const std::vector<TensorRef> inputs = {{x.data(), DType::kF32, x_dims, {}},
                                         {shape.data(), DType::kI32, {2}, {}}};
  absl::StatusOr<std::map<std::string, int64_t>> sizes = (*executor)->BindSizes(inputs);
  if (!sizes.ok()) return sizes.status();
  absl::StatusOr<std::vector<TensorRef>> outputs = (*executor)->OutputShapes(*sizes);
  if (!outputs.ok()) return outputs.status();
  (*outputs)[0].data = y.data();
  (*outputs)[1].data = again.data();
  (*outputs)[2].data = two.data();
  return (*executor)->Run(inputs, *outputs, nullptr);
}

TEST(CheckedExecution, SampleRuns) {
  EXPECT_EQ(RunAt(SymbolicSampleProgram(), {64, 8}), absl::OkStatus());
  EXPECT_EQ(RunAt(SymbolicSampleProgram(), {2, 8}), absl::OkStatus());
}

// At the hint, 64, the temporary of n*n/64 elements is large enough for the n that the kernel
// takes.
TEST(CheckedExecution, BufferThatIsTooSmallAtTheseSizes) {
  Program program = SymbolicSampleProgram();
  program.mutable_buffers(2)->set_dims(0, "floordiv(n*n, 64)");
  program.mutable_buffers(2)->mutable_size_bytes()->set_string_value("4*floordiv(n*n, 64)");
  ASSERT_EQ(VerifyProgram(program), absl::OkStatus());
  EXPECT_EQ(RunAt(program, {64, 8}), absl::OkStatus());
  EXPECT_EQ(
      RunAt(program, {32, 8}).message(),
      "kernel 'per_fused_sum_0' takes 32 elements of buffer 'sums', which has 16 for these sizes");
}

TEST(CheckedExecution, TemporariesThatTogetherOverflow) {
  Program program = SymbolicSampleProgram();
  program.mutable_buffers(2)->set_dims(0, "2305843009213693951");
  program.mutable_buffers(2)->mutable_size_bytes()->set_string_value("9223372036854775804");
  ASSERT_EQ(VerifyProgram(program), absl::OkStatus());
  EXPECT_EQ(RunAt(program, {64, 8}).message(), "the temporaries of the program are too large");
}

// What the tuner and the profiler make for a kernel on its own.
TEST(CheckedExecution, KernelBuffersOfAnySize) {
  const Program program = SymbolicSampleProgram();
  CheckingDevice device(program, kMemoryBytes);
  const auto error = [&](const std::string& elements) {
    Kernel kernel = program.kernels(0);
    kernel.set_loop_nest(
        absl::StrCat("nest big {\n  buffer x: f32[", elements, "] in\n  loop i0: 1\n}\n"));
    return std::string(KernelBuffers::Make(kernel, {{"n", 64}}, &device).status().message());
  };
  EXPECT_EQ(error("16"), "");
  EXPECT_EQ(error("4611686018427387904"),
            "buffer x has 4611686018427387904 elements at these sizes");
  EXPECT_EQ(error("2305843009213693951"),
            "buffer x has 2305843009213693951 elements at these sizes");
  EXPECT_EQ(error("1125899906842624"),
            absl::StrCat("cannot allocate 4503599627378688 bytes for buffer x: this machine has ",
                         HostMemoryBytes()));
}

TEST(CheckedExecution, RefusesWhatTheVerifierRefuses) {
  Program program = SymbolicSampleProgram();
  program.mutable_launches(0)->set_buffers(0, 99);
  EXPECT_EQ(RunAt(program, {64, 8}).message(),
            "launch 0: there is no buffer 99, the program has 5");
}

}  // namespace
}  // namespace stax
