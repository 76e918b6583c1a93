// The relaxed forms, judged by MPFR after rounding to the half type: within 1 ulp for every f16 and
// bf16 argument, whatever the instructions give within their documented errors.
//
// The code for the GPU is compiled for this processor, with the instructions replaced by models of
// them: the exact value, off by the largest documented error in a direction that the test sets.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "compiler/codegen/math/math_sweep.h"
#include "compiler/codegen/math/reference.h"
#include "compiler/codegen/math/relaxed_forms.h"
#include "compiler/codegen/math/samples.h"
#include "gtest/gtest.h"
#include "ir/scalar.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"

namespace stax::math {
namespace {

// ---- Models of the instructions. PTX ISA 8.3, section 9.7.3; for rcp and div in ulps.

enum Instruction { kEx2, kRcp, kLg2, kTanhInstruction, kSqrtInstruction, kDivInstruction };
constexpr int kNumInstructions = 6;
constexpr double kError[kNumInstructions] = {0x1p-22, 0x1p-23, 0x1p-22, 0x1p-11, 0x1p-23, 0x1p-22};

// -1, 0, 1 for each instruction; 2: by the bits of its operand.
int direction[kNumInstructions] = {};

double Flush(double x) { return std::fabs(x) < 0x1p-126 ? std::copysign(0.0, x) : x; }

// `scale`: what the error is relative to.
float Perturbed(Instruction instruction, float operand, double exact, double scale) {
  if (!std::isfinite(exact)) return static_cast<float>(exact);
  int d = direction[instruction];
  if (d == 2) {
    uint32_t bits;
    std::memcpy(&bits, &operand, sizeof bits);
    d = static_cast<int>((bits * 2654435761u) >> 16) % 3 - 1;
  }
  return static_cast<float>(exact + d * kError[instruction] * scale);
}

float ModelEx2(float x) {
  const double exact = std::exp2(Flush(x));
  if (x == 0) return 1;
  return static_cast<float>(Flush(Perturbed(kEx2, x, exact, exact)));
}
float ModelRcp(float x) {
  const double exact = 1 / Flush(x);
  return static_cast<float>(Flush(Perturbed(kRcp, x, exact, exact)));
}
float ModelLg2(float x) {
  const double exact = std::log2(static_cast<double>(x));
  const bool near_one = x > 0.5 && x < 2;
  if (x == 1) return 0;
  return Perturbed(kLg2, x, exact, near_one ? 1 : exact);
}
float ModelTanh(float x) {
  const double exact = std::tanh(static_cast<double>(x));
  return Perturbed(kTanhInstruction, x, exact, exact);
}
float ModelSqrt(float x) {
  const double exact = std::sqrt(static_cast<double>(x));
  return Perturbed(kSqrtInstruction, x, exact, exact);
}
float ModelDiv(float x, float y) {
  const double exact = static_cast<double>(x) / y;
  return Perturbed(kDivInstruction, y, exact, exact);
}

struct Model {
  const char* intrinsic;
  const char* name;
  void* address;
};
const Model kModels[] = {
    {"llvm.nvvm.ex2.approx.ftz.f32", "model_ex2", reinterpret_cast<void*>(&ModelEx2)},
    {"llvm.nvvm.rcp.approx.ftz.f", "model_rcp", reinterpret_cast<void*>(&ModelRcp)},
    {"llvm.nvvm.lg2.approx.f", "model_lg2", reinterpret_cast<void*>(&ModelLg2)},
    {"llvm.tanh.f32", "model_tanh", reinterpret_cast<void*>(&ModelTanh)},
    {"llvm.nvvm.sqrt.approx.f", "model_sqrt", reinterpret_cast<void*>(&ModelSqrt)},
    {"llvm.nvvm.div.full", "model_div", reinterpret_cast<void*>(&ModelDiv)},
};

// ---- The code.

struct Case {
  OpCode code;
  SweepType type;
};

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (OpCode code : RelaxedOps()) {
    for (const SweepType& type : RelaxedTypes(code)) cases.push_back({code, type});
  }
  return cases;
}

std::string Name(const Case& c) { return SweepName(c.code, c.type); }

void ReplaceInstructions(llvm::Module& module) {
  for (const Model& model : kModels) {
    llvm::Function* intrinsic = module.getFunction(model.intrinsic);
    if (intrinsic == nullptr) continue;
    llvm::Function* function = llvm::Function::Create(
        intrinsic->getFunctionType(), llvm::GlobalValue::ExternalLinkage, model.name, module);
    intrinsic->replaceAllUsesWith(function);
  }
}

class ModelJit {
 public:
  using Function = void (*)(const float* a, const float* b, float* out, int64_t n);

  ModelJit() {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::orc::JITTargetMachineBuilder target(llvm::Triple("x86_64-unknown-linux-gnu"));
    target.setCPU("x86-64-v3");
    jit_ = llvm::cantFail(llvm::orc::LLJITBuilder()
                              .setJITTargetMachineBuilder(target)
                              .setPlatformSetUp(llvm::orc::setUpInactivePlatform)
                              .setLinkProcessSymbolsByDefault(false)
                              .create());
    auto context = std::make_unique<llvm::LLVMContext>();
    auto module = std::make_unique<llvm::Module>("relaxed", *context);
    module->setDataLayout(jit_->getDataLayout());
    for (const Case& c : Cases()) EmitSweepFunction(*module, c.code, c.type);
    ReplaceInstructions(*module);
    llvm::orc::SymbolMap symbols;
    for (const Model& model : kModels)
      symbols[jit_->mangleAndIntern(model.name)] = {llvm::orc::ExecutorAddr::fromPtr(model.address),
                                                    llvm::JITSymbolFlags::Exported};
    llvm::cantFail(jit_->getMainJITDylib().define(llvm::orc::absoluteSymbols(symbols)));
    llvm::cantFail(
        jit_->addIRModule(llvm::orc::ThreadSafeModule(std::move(module), std::move(context))));
  }

  std::vector<float> Run(const Case& c, const std::vector<float>& a,
                         const std::vector<float>& b) const {
    std::vector<float> out(a.size());
    auto function = llvm::cantFail(jit_->lookup(Name(c))).toPtr<Function>();
    function(a.data(), b.data(), out.data(), static_cast<int64_t>(a.size()));
    return out;
  }

 private:
  std::unique_ptr<llvm::orc::LLJIT> jit_;
};

const ModelJit& Jit() {
  static const ModelJit& jit = *new ModelJit;
  return jit;
}

void SetDirections(int ex2_and_lg2, int others) {
  for (int& d : direction) d = others;
  direction[kEx2] = direction[kLg2] = ex2_and_lg2;
}

bool IsLog(OpCode code) { return code == OpCode::kLog || code == OpCode::kLog2; }

// Every number of the half type. For bf16 results every f16 number too, but for the logarithms to
// f16: there only bf16 arguments are far enough from 1 (compiler/codegen/precision.h).
Arguments ArgumentsOf(const Case& c) {
  Arguments all = HalfArguments(), some;  // bf16 and f16 in turn
  for (size_t i = 0; i < all.a.size(); ++i) {
    const bool bf16 = i % 2 == 0;
    if (IsLog(c.code) && c.type.half == DType::kF16 && !bf16) continue;
    some.a.push_back(all.a[i]);
    some.b.push_back(all.b[i]);
  }
  if (c.code == OpCode::kDiv) {
    const Arguments edges = EdgeArguments(/*f64=*/false);
    const Arguments random = RandomArguments(/*f64=*/false, 1 << 15, /*seed=*/1);
    for (const Arguments* more : {&edges, &random}) {
      some.a.insert(some.a.end(), more->a.begin(), more->a.end());
      some.b.insert(some.b.end(), more->b.begin(), more->b.end());
    }
  }
  return some;
}

class RelaxedAccuracyTest : public testing::TestWithParam<Case> {};

TEST_P(RelaxedAccuracyTest, WithinAnUlpOfTheHalfType) {
  const Case& c = GetParam();
  const Arguments arguments = ArgumentsOf(c);
  const std::vector<float> a(arguments.a.begin(), arguments.a.end());
  const std::vector<float> b(arguments.b.begin(), arguments.b.end());
  double largest = 0.5;
  for (int first : {0, -1, 1, 2}) {
    for (int second : {0, -1, 1, 2}) {
      SetDirections(first, second);
      const std::vector<float> out = Jit().Run(c, a, b);
      for (size_t i = 0; i < out.size(); ++i) {
        const double rounded = RoundTo(c.type.half, out[i]);
        // Where the C library's value rounds to the same there is nothing to judge.
        if (rounded == RoundTo(c.type.half, LibmReference(c.code, a[i], b[i]))) continue;
        const double error = UlpErrorIn(c.code, c.type.half, rounded, a[i], b[i]);
        largest = std::max(largest, error);
        ASSERT_LE(error, 1) << Name(c) << " of " << a[i] << ", " << b[i] << ": " << out[i]
                            << ", directions " << first << " " << second;
      }
    }
  }
  std::printf("%s: %.3f ulp\n", Name(c).c_str(), largest);
}

// Over the range of f32, where results are normal numbers of it.
TEST_P(RelaxedAccuracyTest, KeepsTheErrorOfItsForm) {
  const Case& c = GetParam();
  const Arguments arguments = RandomArguments(/*f64=*/false, 1 << 14, /*seed=*/7);
  const std::vector<float> a(arguments.a.begin(), arguments.a.end());
  const std::vector<float> b(arguments.b.begin(), arguments.b.end());
  const double bound = FindRelaxedForm(c.code, HalfTolerance(c.type.half))->error;
  // Below, a multiple of 2^-149 is the best there is.
  const double floor = IsLog(c.code) ? 1 : 0x1p-126;
  double largest = 0;
  for (int first : {-1, 1}) {
    for (int second : {-1, 1}) {
      SetDirections(first, second);
      const std::vector<float> out = Jit().Run(c, a, b);
      for (size_t i = 0; i < out.size(); ++i) {
        const double error = RelativeError(c.code, out[i], a[i], b[i], floor);
        if (std::isinf(out[i]) && std::fabs(LibmReference(c.code, a[i], b[i])) > 0x1.ffff8p127)
          continue;  // overflow starts where it may
        if (!std::isinf(out[i])) largest = std::max(largest, error);
        ASSERT_LE(error, bound) << Name(c) << " of " << a[i] << ", " << b[i] << ": " << out[i]
                                << ", directions " << first << " " << second;
      }
    }
  }
  std::printf("%s: 2^%.2f of 2^%.2f\n", Name(c).c_str(), std::log2(largest), std::log2(bound));
}

INSTANTIATE_TEST_SUITE_P(All, RelaxedAccuracyTest, testing::ValuesIn(Cases()),
                         [](const auto& info) { return Name(info.param); });

TEST(RelaxedFormsTest, TanhToF16IsMoreThanTheInstruction) {
  EXPECT_EQ(FindRelaxedForm(OpCode::kTanh, HalfTolerance(DType::kBF16)), &kRelaxedForms[3]);
  EXPECT_EQ(FindRelaxedForm(OpCode::kTanh, HalfTolerance(DType::kF16)), &kRelaxedForms[4]);
  EXPECT_EQ(FindRelaxedForm(OpCode::kTanh, 0), nullptr);
  EXPECT_EQ(FindRelaxedForm(OpCode::kSin, 1), nullptr);
}

}  // namespace
}  // namespace stax::math
