// The code for NVIDIA GPUs compiles, calls nothing outside, and uses the instructions meant for it.
// What it computes is measured on a GPU by :gpu_math_check.
#include "compiler/codegen/math/math_ptx.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "compiler/codegen/math/math_sweep.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stax::math {
namespace {

using testing::HasSubstr;
using testing::Not;

// The text of one kernel.
std::string Kernel(const std::string& ptx, const std::string& name) {
  const size_t begin = ptx.find(".entry " + name + "(");
  EXPECT_NE(begin, std::string::npos) << name;
  return ptx.substr(begin, ptx.find("\n}", begin) - begin);
}

class MathPtxTest : public testing::Test {
 protected:
  static const std::string& Ptx() {
    static const std::string& ptx = *new std::string(SweepPtx("sm_90a", MathOps(), RelaxedOps()));
    return ptx;
  }
};

TEST_F(MathPtxTest, CallsOnlyItsOwnHelpers) {
  EXPECT_THAT(Ptx(), Not(HasSubstr(".extern")));
  for (size_t at = Ptx().find("call.uni"); at != std::string::npos;
       at = Ptx().find("call.uni", at + 1)) {
    EXPECT_THAT(Ptx().substr(at, Ptx().find('\n', at) - at), HasSubstr("stax_"));
  }
}

TEST_F(MathPtxTest, HotFunctionsUseApproximateInstructionsAndNoDivision) {
  for (const char* name : {"exp_f32", "exp2_f32", "tanh_f32", "erf_f32"}) {
    EXPECT_THAT(Kernel(Ptx(), name), HasSubstr("ex2.approx.ftz.f32")) << name;
  }
  for (const char* name : {"tanh_f32", "sigmoid_f32"}) {
    EXPECT_THAT(Kernel(Ptx(), name), HasSubstr("rcp.approx.ftz.f32")) << name;
  }
  EXPECT_THAT(Kernel(Ptx(), "rsqrt_f32"), HasSubstr("rsqrt.approx.f32"));
  for (const char* name :
       {"exp_f32", "exp2_f32", "expm1_f32", "log_f32", "log2_f32", "log1p_f32", "tanh_f32",
        "erf_f32", "sigmoid_f32", "rsqrt_f32", "sinh_f32", "cosh_f32", "atan_f32", "exp_f64",
        "log_f64", "tanh_f64", "sigmoid_f64", "pow_f32", "pow_f64"}) {
    EXPECT_THAT(Kernel(Ptx(), name), Not(HasSubstr("div."))) << name;
    EXPECT_THAT(Kernel(Ptx(), name), Not(HasSubstr("bra.uni"))) << name;
  }
}

TEST_F(MathPtxTest, F32StaysInF32WhereItCan) {
  for (const char* name : {"exp_f32", "log_f32", "tanh_f32", "erf_f32", "sigmoid_f32", "atan_f32",
                           "asin_f32", "sinh_f32", "atan2_f32"}) {
    EXPECT_THAT(Kernel(Ptx(), name), Not(HasSubstr(".f64"))) << name;
  }
}

// Subnormal results and large arguments are taken care of without branches.
TEST_F(MathPtxTest, RelaxedFormsAreShort) {
  const struct {
    const char *kernel, *instruction;
    int count;
  } kForms[] = {{"exp_bf16", "ex2.approx.ftz.f32", 1},
                {"exp2_f16", "ex2.approx.ftz.f32", 1},
                {"sigmoid_f16", "rcp.approx.ftz.f32", 1},
                {"tanh_bf16", "tanh.approx.f32", 1},
                {"tanh_bf16", "ex2", 0},
                {"tanh_f16", "ex2.approx.ftz.f32", 1},
                {"log_bf16", "lg2.approx.f32", 1},
                {"sqrt_bf16", "sqrt.approx.f32", 1},
                {"div_f16", "div.full.f32", 1},
                {"div_bf16_shared", "rcp.approx.ftz.f32", 1},
                {"erf_f16", "ex2.approx.ftz.f32", 1}};
  for (const auto& form : kForms) {
    const std::string kernel = Kernel(Ptx(), form.kernel);
    int count = 0;
    for (size_t at = kernel.find(form.instruction); at != std::string::npos;
         at = kernel.find(form.instruction, at + 1))
      ++count;
    EXPECT_EQ(count, form.count) << form.kernel << " " << form.instruction;
  }
}

TEST_F(MathPtxTest, CompilesForSm80) {
  EXPECT_THAT(SweepPtx("sm_80", MathOps(), RelaxedOps()), HasSubstr(".target sm_80"));
}

TEST_F(MathPtxTest, PtxasAcceptsItWithoutSpills) {
  const char* home = std::getenv("CUDA_HOME");
  const std::string ptxas = std::string(home != nullptr ? home : "/usr/local/cuda") + "/bin/ptxas";
  if (access(ptxas.c_str(), X_OK) != 0) GTEST_SKIP() << "no ptxas";
  const std::string base = testing::TempDir() + "/math_sweep";
  std::ofstream(base + ".ptx") << Ptx();
  const std::string command =
      ptxas + " -arch=sm_90a --warn-on-spills -Werror " + base + ".ptx -o " + base + ".cubin";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
}

}  // namespace
}  // namespace stax::math
