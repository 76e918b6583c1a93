// Programs with a right checksum and wrong content, given to every tool that reads one: exit code 2
// and a message that names the file and what is wrong; never a crash, a hang or an output file.
#include <sys/wait.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/artifact/artifact_io.h"
#include "ir/artifact/testing/sample_programs.h"
#include "ir/dtype.h"
#include "ir/host_tensor.h"
#include "tools/npy/npy.h"

namespace stax {
namespace {

using ::testing::StartsWith;

struct Result {
  int exit_code;
  std::string message;
};

// Runs a tool for 60 s at most.
Result RunTool(const std::string& tool, const std::string& arguments) {
  const std::string log = absl::StrCat(getenv("TEST_TMPDIR"), "/log");
  const int status = std::system(
      absl::StrCat("timeout 60 tools/stax-", tool, " ", arguments, " >/dev/null 2>", log).c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, ReadFile(log).value()};
}

std::string WriteSample(const std::function<void(Program&)>& change) {
  Program program = SymbolicSampleProgram();
  change(program);
  const std::string path = absl::StrCat(getenv("TEST_TMPDIR"), "/p.stax");
  EXPECT_TRUE(WriteProgram(path, program).ok());
  return path;
}

// Each tool refuses the program for this reason.
void ExpectRefused(const std::string& why, const std::function<void(Program&)>& change) {
  const std::string path = WriteSample(change);
  const std::string output = absl::StrCat(getenv("TEST_TMPDIR"), "/o");
  for (const char* tool : {"cat", "run", "tune", "profile"}) {
    const std::string name = tool;
    const bool writes = name == "tune" || name == "profile";
    const Result result = RunTool(name, absl::StrCat(path, writes ? " -o " + output : ""));
    EXPECT_EQ(result.exit_code, 2) << name;
    EXPECT_EQ(result.message,
              absl::StrCat("stax-", name, ": ", path, " is no usable program: ", why, "\n"));
    EXPECT_FALSE(std::filesystem::exists(output));
  }
}

TEST(HostileProgram, BufferOutOfRange) {
  ExpectRefused("launch 0: there is no buffer -7, the program has 5",
                [](Program& p) { p.mutable_launches(0)->set_buffers(1, -7); });
}

TEST(HostileProgram, NegativeAndOverflowingSizes) {
  ExpectRefused("buffer 2 'sums': -n is -64, expected 0 or more",
                [](Program& p) { p.mutable_buffers(2)->set_dims(0, "-n"); });
  ExpectRefused("buffer 2 'sums': is too large",
                [](Program& p) { p.mutable_buffers(2)->set_dims(0, "9223372036854775807"); });
}

TEST(HostileProgram, DivisionByZero) {
  ExpectRefused(
      "kernel 1 'poi_fused_div_mul_1': flops: the divisor n - 64 is 0, but a divisor must be "
      "positive",
      [](Program& p) {
        p.mutable_kernels(1)->mutable_flops()->set_string_value("floordiv(n, n - 64)");
      });
}

TEST(HostileProgram, LaunchesOutOfOrder) {
  ExpectRefused("launch 0: buffer 2 'sums' as sums: is read before anything was written to it",
                [](Program& p) { p.mutable_launches()->SwapElements(0, 1); });
}

TEST(HostileProgram, ArgumentsThatDoNotMatch) {
  ExpectRefused("launch 1: gives kernel 'poi_fused_div_mul_1' 3 buffers, it takes 4",
                [](Program& p) { p.mutable_launches(1)->mutable_buffers()->RemoveLast(); });
}

TEST(HostileProgram, MissingVariantAndCandidates) {
  ExpectRefused("kernel 0 'per_fused_sum_0': its code is for :, the program is for cpu:x86-64-v3",
                [](Program& p) { p.mutable_kernels(0)->clear_variant(); });
  ExpectRefused("kernel 0 'per_fused_sum_0': has no candidate configuration",
                [](Program& p) { p.mutable_kernels(0)->clear_candidates(); });
}

// A space of 2^40 points is no error until it is to be enumerated.
TEST(HostileProgram, LargeConfigurationSpace) {
  const std::string path = WriteSample([](Program& p) {
    Kernel& kernel = *p.mutable_kernels(0);
    for (int i = 0; i < 40; ++i) {
      Parameter* parameter = kernel.mutable_config_space()->add_parameters();
      parameter->set_name(absl::StrCat("P", i));
      parameter->add_values(1);
      parameter->add_values(2);
      for (ConfigProto& candidate : *kernel.mutable_candidates())
        (*candidate.mutable_values())[parameter->name()] = 1;
    }
  });
  const Result result = RunTool("tune", absl::StrCat(path, " --quiet --strategy=exhaustive"));
  EXPECT_EQ(result.exit_code, 2) << result.message;
  EXPECT_EQ(result.message,
            "stax-tune: the configuration space has more than 100000 members; use another strategy "
            "than exhaustive\n");
}

// Code that is none: the message of the loader, not a crash.
TEST(HostileProgram, NoObjectCode) {
  const std::string path = WriteSample([](Program&) {});
  HostTensor x, shape;
  x.dims = {2, 8};
  x.bytes.resize(64);
  shape.dtype = DType::kI32;
  shape.dims = {2};
  shape.bytes = {std::byte{1}, {}, {}, {}, std::byte{8}, {}, {}, {}};
  const std::string folder = getenv("TEST_TMPDIR");
  ASSERT_TRUE(WriteNpy(folder + "/x.npy", x).ok());
  ASSERT_TRUE(WriteNpy(folder + "/shape.npy", shape).ok());
  const Result result = RunTool(
      "run", absl::StrCat(path, " --input x=", folder, "/x.npy shape=", folder, "/shape.npy"));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.message, StartsWith("stax-run: cannot "));
}

}  // namespace
}  // namespace stax
