// The runner on the emulator, with code that was made wrong.
#include <map>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "autotuner/builder.h"
#include "autotuner/config.h"
#include "autotuner/runner.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/artifact/artifact_io.h"
#include "ir/artifact/program.pb.h"
#include "profiler/timing/kernel_timer.h"
#include "runtime/device.h"
#include "runtime/nest_line.h"

namespace stax {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// Paths of one kernel's programs, from the command line.
std::string cuda_program;
std::string cpu_program;

// Has the code of the reference already, whatever the configuration.
class ReferenceBuilder : public Builder {
 public:
  absl::StatusOr<Variant> Build(const Kernel&, const TuningConfig&) override {
    absl::StatusOr<Program> program = ReadProgram(cpu_program);
    if (!program.ok()) return program.status();
    return program->kernels(0).variant();
  }
};

class DeviceRunnerTest : public testing::Test {
 protected:
  void SetUp() override {
    auto program = ReadProgram(cuda_program);
    ASSERT_TRUE(program.ok()) << program.status();
    kernel_ = program->kernels(0);
    auto device = OpenDevice("emu");
    ASSERT_TRUE(device.ok());
    device_ = *std::move(device);
    auto timer = MakeKernelTimer(*device_);
    ASSERT_TRUE(timer.ok());
    timer_ = *std::move(timer);
    runner_ = MakeDeviceRunner(device_.get(), timer_.get(), &reference_);
    auto bench = runner_->Prepare(kernel_, {});
    ASSERT_TRUE(bench.ok()) << bench.status();
    bench_ = *std::move(bench);
  }

  // Of the kernel's code with a piece of its PTX, as a regular expression, replaced.
  Measurement Measure(const std::string& pattern, const std::string& by) {
    Variant variant = kernel_.variant();
    const std::string ptx = std::regex_replace(variant.ptx(), std::regex(pattern), by);
    EXPECT_NE(ptx, variant.ptx());
    variant.set_ptx(ptx);
    return bench_->Measure(variant);
  }

  Kernel kernel_;
  ReferenceBuilder reference_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<KernelTimer> timer_;
  std::unique_ptr<Runner> runner_;
  std::unique_ptr<KernelBench> bench_;
};

TEST_F(DeviceRunnerTest, TheModelStopsTheSamplesAtOnce) {
  const Measurement measurement = bench_->Measure(kernel_.variant());
  EXPECT_EQ(measurement.status(), "ok") << measurement.message();
  EXPECT_THAT(measurement.samples_ns(), SizeIs(7));
  EXPECT_THAT(measurement.samples_ns(), Each(measurement.median_ns()));
}

TEST_F(DeviceRunnerTest, WhatTheCheckersFindIsAFault) {
  const Measurement measurement = Measure(R"((st\.global\S* \t\[%rd\d+))", "$1+1073741824");
  EXPECT_EQ(measurement.status(), "fault");
  EXPECT_THAT(measurement.message(), HasSubstr("out_of_bounds at line "));
  EXPECT_THAT(measurement.message(), HasSubstr("(st.global"));
  EXPECT_THAT(measurement.message(), HasSubstr("block (0,0,0), thread (0,0,0)"));
  EXPECT_THAT(measurement.message(), HasSubstr("[poi_fused_relu_0.nest:8]"));
  EXPECT_THAT(measurement.message(), HasSubstr("; the op: store y[i0], %2"));
  EXPECT_TRUE(bench_->Healthy().ok());
}

// A pointer computed wrong is a fault of the load that it serves.
TEST_F(DeviceRunnerTest, AFaultNamesTheOp) {
  const Measurement measurement = Measure(R"((ld\.global.*\[%rd\d+))", "$1+1073741824");
  EXPECT_EQ(measurement.status(), "fault");
  EXPECT_THAT(measurement.message(), HasSubstr("[poi_fused_relu_0.nest:5]"));
  EXPECT_THAT(measurement.message(), HasSubstr("; the op: %0 = load x[i0] : f32"));
}

TEST_F(DeviceRunnerTest, ABufferThatIsTooSmallIsAFaultOfItsStore) {
  auto code = device_->Load(kernel_.variant());
  ASSERT_TRUE(code.ok()) << code.status();
  const std::vector<char> zeros(4096 * sizeof(float));
  auto x = device_->Allocate(zeros.size());
  auto y = device_->Allocate(zeros.size() / 2);
  ASSERT_TRUE(x.ok() && y.ok());
  ASSERT_TRUE(device_->CopyIn(*x, zeros.data(), zeros.size()).ok());
  const absl::Status status = (*code)->Launch({*x, *y}, {}, /*grid=*/32, nullptr);
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(QuoteNestLine(status, kernel_.loop_nest()).message()),
              AllOf(HasSubstr("out_of_bounds"), HasSubstr("[poi_fused_relu_0.nest:8], block (16,"),
                    HasSubstr("; the op: store y[i0], %2")));
  device_->Free(*x);
  device_->Free(*y);
}

TEST_F(DeviceRunnerTest, GuardsAreWatched) {
  const Measurement measurement = Measure(R"((st\.global\S* \t\[%rd\d+))", "$1+1024");
  EXPECT_EQ(measurement.status(), "guard_overwritten") << measurement.message();
}

TEST_F(DeviceRunnerTest, OutputsAreComparedWithTheReference) {
  const Measurement measurement = Measure(R"(max\.)", "min.");
  EXPECT_EQ(measurement.status(), "wrong_output") << measurement.message();
}

TEST_F(DeviceRunnerTest, WhatTheEmulatorCannotRunDoesNotLoad) {
  const Measurement measurement = Measure(R"(max\.NaN\.f32)", "frob.f32");
  EXPECT_EQ(measurement.status(), "load_failed");
  EXPECT_THAT(measurement.message(), HasSubstr("frob.f32"));
}

}  // namespace
}  // namespace stax

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc != 3) return 2;
  stax::cuda_program = argv[1];
  stax::cpu_program = argv[2];
  return RUN_ALL_TESTS();
}
