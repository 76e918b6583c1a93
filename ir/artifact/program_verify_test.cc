#include "ir/artifact/program_verify.h"

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "gtest/gtest.h"
#include "ir/artifact/testing/sample_programs.h"

namespace stax {
namespace {

TEST(ProgramVerify, GoodPrograms) {
  EXPECT_EQ(VerifyProgram(SymbolicSampleProgram()), absl::OkStatus());
  EXPECT_EQ(VerifyProgram(TunedSampleProgram()), absl::OkStatus());
}

// What is wrong after one change to the symbolic program. Buffers: 0 x, 1 two, 2 sums, 3 y, 4
// shape.
std::string ErrorOf(const std::function<void(Program&)>& change) {
  Program program = SymbolicSampleProgram();
  change(program);
  const absl::Status status = VerifyProgram(program);
  EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kInvalidArgument) << status;
  return std::string(status.message());
}

TEST(ProgramVerify, Head) {
  EXPECT_EQ(ErrorOf([](Program& p) { p.mutable_target()->set_kind("tpu"); }),
            "its target is 'tpu', expected cpu or cuda");
  EXPECT_EQ(ErrorOf([](Program& p) { p.mutable_symbols(0)->set_name("n*2"); }),
            "size 'n*2' is no name");
  EXPECT_EQ(ErrorOf([](Program& p) { *p.add_symbols() = p.symbols(0); }),
            "size n is declared twice");
  EXPECT_EQ(ErrorOf([](Program& p) { p.mutable_symbols(0)->set_hint(1); }),
            "size n: expected 0 <= lower <= hint <= upper, got 2, 1, 4096");
  EXPECT_EQ(ErrorOf([](Program& p) { p.mutable_symbols(0)->set_lower(-1); }),
            "size n: expected 0 <= lower <= hint <= upper, got -1, 64, 4096");
}

TEST(ProgramVerify, Shapes) {
  EXPECT_EQ(ErrorOf([](Program& p) { p.mutable_buffers(0)->set_dims(0, "m"); }),
            "buffer 0 'x': m uses m, which is no size of the program");
  EXPECT_EQ(ErrorOf([](Program& p) { p.mutable_buffers(0)->set_dims(0, "n - 65"); }),
            "buffer 0 'x': n - 65 is -1, expected 0 or more");
  EXPECT_EQ(ErrorOf([](Program& p) { p.mutable_buffers(0)->set_dims(0, "floordiv(8, n - 64)"); }),
            "buffer 0 'x': the divisor n - 64 is 0, but a divisor must be positive");
  EXPECT_EQ(ErrorOf([](Program& p) { p.mutable_buffers(0)->set_dims(0, "4611686018427387904"); }),
            "buffer 0 'x': is too large");
  EXPECT_EQ(ErrorOf([](Program& p) { p.mutable_buffers(0)->set_dims(0, "4611686018427387904*n"); }),
            "buffer 0 'x': the value of 4611686018427387904*n does not fit in int64");
  EXPECT_EQ(ErrorOf([](Program& p) {
              for (int i = 0; i < 63; ++i) p.mutable_buffers(0)->add_dims("1");
            }),
            "buffer 0 'x': has 65 dimensions, at most 64 are supported");
  EXPECT_EQ(ErrorOf([](Program& p) {
              p.mutable_buffers(2)->mutable_size_bytes()->set_string_value("4*n + 1");
            }),
            "buffer 2 'sums': its size is given as 257 bytes, its shape has 256");
  EXPECT_EQ(ErrorOf([](Program& p) { p.mutable_buffers(2)->clear_size_bytes(); }),
            "buffer 2 'sums': size: a number or a formula in the size symbols is missing");
  EXPECT_EQ(ErrorOf([](Program& p) { p.mutable_buffers(2)->set_kind(Buffer::KIND_UNSPECIFIED); }),
            "buffer 2 'sums': is of the unknown kind 0");
  EXPECT_EQ(ErrorOf([](Program& p) { p.mutable_buffers(2)->set_dtype("f33"); }).substr(0, 16),
            "buffer 2 'sums':");
}

TEST(ProgramVerify, Contents) {
  EXPECT_EQ(ErrorOf([](Program& p) { p.mutable_buffers(1)->set_data("1234567"); }),
            "buffer 1 'two': has 7 bytes of data, its shape has 8");
  EXPECT_EQ(ErrorOf([](Program& p) { p.mutable_buffers(4)->set_required_value("123456789"); }),
            "buffer 4 'shape': has 9 bytes of data, its shape has 8");
  EXPECT_EQ(
      ErrorOf([](Program& p) { p.mutable_buffers(2)->set_data("1"); }),
      "buffer 2 'sums': has data, but is neither a constant nor an input with a required value");
  EXPECT_EQ(ErrorOf([](Program& p) {
              Buffer& two = *p.mutable_buffers(1);
              two.set_dims(0, "floordiv(n, 32)");
            }),
            "buffer 1 'two': has data, but no constant shape");
}

TEST(ProgramVerify, Interface) {
  EXPECT_EQ(ErrorOf([](Program& p) { p.set_inputs(1, 5); }),
            "input 1: there is no buffer 5, the program has 5");
  EXPECT_EQ(ErrorOf([](Program& p) { p.set_inputs(1, -1); }),
            "input 1: there is no buffer -1, the program has 5");
  EXPECT_EQ(ErrorOf([](Program& p) { p.set_inputs(1, 2); }),
            "input 1: buffer 2 'sums' is of another kind");
  EXPECT_EQ(ErrorOf([](Program& p) { p.set_inputs(1, 0); }),
            "input 1: buffer 0 'x' is an input twice");
  EXPECT_EQ(ErrorOf([](Program& p) { p.mutable_outputs(0)->set_buffer(INT32_MAX); }),
            "output 'y': there is no buffer 2147483647, the program has 5");
  EXPECT_EQ(ErrorOf([](Program& p) { p.mutable_outputs(0)->set_buffer(2); }),
            "output 'y': buffer 2 'sums' is a temporary");
  EXPECT_EQ(ErrorOf([](Program& p) { p.mutable_launches()->RemoveLast(); }),
            "output 'y': nothing writes buffer 3 'y'");
}

TEST(ProgramVerify, Launches) {
  EXPECT_EQ(ErrorOf([](Program& p) { p.mutable_launches(1)->set_kernel(2); }),
            "launch 1: there is no kernel 2, the program has 2");
  EXPECT_EQ(ErrorOf([](Program& p) { p.mutable_launches(1)->set_buffers(0, 9); }),
            "launch 1: there is no buffer 9, the program has 5");
  EXPECT_EQ(ErrorOf([](Program& p) { p.mutable_launches(1)->add_buffers(0); }),
            "launch 1: gives kernel 'poi_fused_div_mul_1' 5 buffers, it takes 4");
  // One launch before the other, and a kernel that needs its own result.
  EXPECT_EQ(ErrorOf([](Program& p) { p.mutable_launches()->SwapElements(0, 1); }),
            "launch 0: buffer 2 'sums' as sums: is read before anything was written to it");
  EXPECT_EQ(ErrorOf([](Program& p) { p.mutable_launches(1)->set_buffers(0, 3); }),
            "launch 1: buffer 3 'y' as x: is read before anything was written to it");
  EXPECT_EQ(ErrorOf([](Program& p) { p.mutable_launches(1)->set_buffers(3, 0); }),
            "launch 1: buffer 0 'x' as y: is written, but is an input or a constant");
  EXPECT_EQ(ErrorOf([](Program& p) { p.mutable_launches(1)->set_buffers(0, 4); }),
            "launch 1: buffer 4 'shape' as x: is of type i32, the kernel takes f32");
  EXPECT_EQ(ErrorOf([](Program& p) { p.mutable_launches(1)->set_buffers(0, 2); }),
            "launch 1: buffer 2 'sums' as x: has 64 elements, the kernel takes 512");
  EXPECT_EQ(ErrorOf([](Program& p) {
              *p.add_launches() = p.launches(1);
              p.mutable_launches(2)->set_buffers(0, 3);
            }),
            "launch 2: writes buffer 3 'y', which it uses a second time");
  EXPECT_EQ(
      ErrorOf([](Program& p) { p.mutable_outputs()->DeleteSubrange(0, 1); }),
      "launch 1: buffer 3 'y' as y: is no input or output of the program, so nothing gives its "
      "memory");
  EXPECT_EQ(ErrorOf([](Program& p) { p.add_tuning()->set_kernel(2); }),
            "a tuning record is of kernel 2, the program has 2");
}

std::string KernelErrorOf(const std::function<void(Kernel&)>& change) {
  return ErrorOf([&](Program& p) { change(*p.mutable_kernels(0)); });
}

TEST(ProgramVerify, Kernels) {
  const std::string where = "kernel 0 'per_fused_sum_0': ";
  EXPECT_EQ(KernelErrorOf([](Kernel& k) { k.set_loop_nest("nest"); }).substr(0, 39),
            where + "loop nest: ");
  EXPECT_EQ(ErrorOf([](Program& p) { p.mutable_symbols(0)->set_upper(4097); }),
            where + "size n is in [2, 4096] here, in [2, 4097] in the program");
  EXPECT_EQ(KernelErrorOf([](Kernel& k) { k.mutable_flops()->set_number_value(0.5); }),
            where + "flops: 0.5 is not a whole number below 2^53");
  EXPECT_EQ(KernelErrorOf([](Kernel& k) { k.mutable_flops()->set_number_value(std::nan("")); }),
            where + "flops: nan is not a whole number below 2^53");
  EXPECT_EQ(KernelErrorOf([](Kernel& k) { k.mutable_read_bytes()->set_string_value("-n"); }),
            where + "bytes read: -n is -64, expected 0 or more");
  EXPECT_EQ(KernelErrorOf([](Kernel& k) { k.clear_candidates(); }),
            where + "has no candidate configuration");
  EXPECT_EQ(KernelErrorOf([](Kernel& k) { k.mutable_candidates(1)->clear_values(); }),
            where + "a candidate has no value for parameter RBLOCK");
  EXPECT_EQ(KernelErrorOf([](Kernel& k) {
              (*k.mutable_candidates(1)->mutable_values())["XBLOCK"] = int64_t{1} << 40;
            }),
            where + "parameter XBLOCK has the value 1099511627776, expected 1 to 2147483648");
  EXPECT_EQ(KernelErrorOf([](Kernel& k) {
              k.mutable_config_space()->mutable_parameters(0)->set_values(0, 0);
            }),
            where + "parameter XBLOCK has the value 0, expected 1 to 2147483648");
  EXPECT_EQ(KernelErrorOf(
                [](Kernel& k) { k.mutable_config_space()->mutable_parameters(0)->clear_values(); }),
            where + "parameter XBLOCK has no values");
  EXPECT_EQ(KernelErrorOf([](Kernel& k) { k.mutable_config_space()->add_constraints("n"); }),
            where + "constraint n uses n, which is no parameter");
  EXPECT_EQ(KernelErrorOf([](Kernel& k) {
              for (int i = 0; i < 15; ++i) k.mutable_config_space()->add_constraints("1");
            }),
            where + "the configuration space has 17 constraints, at most 16 are supported");
}

TEST(ProgramVerify, Variants) {
  const std::string where = "kernel 0 'per_fused_sum_0': ";
  EXPECT_EQ(KernelErrorOf([](Kernel& k) { k.clear_variant(); }),
            where + "its code is for :, the program is for cpu:x86-64-v3");
  EXPECT_EQ(KernelErrorOf([](Kernel& k) { k.mutable_variant()->clear_object(); }),
            where + "has no code");
  EXPECT_EQ(KernelErrorOf([](Kernel& k) { k.mutable_variant()->set_programmatic_launch(true); }),
            where + "programmatic_launch, but its PTX has no griddepcontrol.wait");
  EXPECT_EQ(KernelErrorOf([](Kernel& k) { k.mutable_variant()->clear_entry(); }),
            where + "its code has no entry");
  EXPECT_EQ(KernelErrorOf([](Kernel& k) { k.mutable_variant()->set_grid_x("n - 65"); }),
            where + "grid: n - 65 is -1, expected 0 or more");
  EXPECT_EQ(KernelErrorOf([](Kernel& k) { k.mutable_variant()->set_grid_x("i0"); }),
            where + "grid: i0 uses i0, which is no size of the program");
  Program cuda = TunedSampleProgram();
  cuda.mutable_kernels(0)->mutable_variant()->set_block_threads(2048);
  EXPECT_EQ(VerifyProgram(cuda).message(),
            "kernel 0 'poi_fused_transpose_0': blocks of 2048 threads, expected 1 to 1024");
}

// Rejecting needs no enumeration: a space of 2^40 points is a space like others.
TEST(ProgramVerify, LargeSpaceIsNoError) {
  EXPECT_EQ(KernelErrorOf([](Kernel& k) {
              for (int i = 0; i < 40; ++i) {
                Parameter* parameter = k.mutable_config_space()->add_parameters();
                parameter->set_name("P" + std::to_string(i));
                parameter->add_values(1);
                parameter->add_values(2);
                for (ConfigProto& c : *k.mutable_candidates())
                  (*c.mutable_values())[parameter->name()] = 1;
              }
            }),
            "");
}

TEST(DeviceVerify, Numbers) {
  EXPECT_EQ(VerifyDevice(SampleDevice()), absl::OkStatus());
  DeviceSpec device = SampleDevice();
  device.set_launch_ns(std::numeric_limits<double>::infinity());
  EXPECT_EQ(VerifyDevice(device).message(), "launch_ns is inf, expected a number from 0");
  device = SampleDevice();
  device.set_f32_flops_per_s(std::nan(""));
  EXPECT_EQ(VerifyDevice(device).message(), "f32_flops_per_s is nan, expected a number from 0");
}

}  // namespace
}  // namespace stax
