// Bad calls of libstax.so: the code, the message, outputs left alone, and the program still works.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/c_api.h"
#include "tests/c_api/host.h"
#include "tests/c_api/rows_problem.h"

namespace stax {
namespace {

// --- Files ---------------------------------------------------------------------------------------

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Code and text of loading a file of these bytes; its path in the text is FILE.
std::pair<int, std::string> LoadBytes(const std::string& bytes) {
  const std::string path = testing::TempDir() + "/bytes.stax";
  std::ofstream(path, std::ios::binary) << bytes;
  StaxProgram* program = nullptr;
  const int code = Stax().load(path.c_str(), &program);
  std::string text = Stax().last_error();
  EXPECT_EQ(program == nullptr, code != STAX_OK);
  Stax().free(program);
  if (const size_t at = text.find(path); at != std::string::npos)
    text.replace(at, path.size(), "FILE");
  return {code, text};
}

TEST(CApiLoadTest, NoFile) {
  StaxProgram* program = reinterpret_cast<StaxProgram*>(8);
  EXPECT_EQ(Stax().load("nowhere/p.stax", &program), STAX_BAD_REQUEST);
  EXPECT_STREQ(Stax().last_error(), "cannot read nowhere/p.stax: No such file or directory");
  EXPECT_EQ(program, nullptr);
  EXPECT_EQ(Stax().load("tests", &program), STAX_BAD_REQUEST);
  EXPECT_STREQ(Stax().last_error(), "cannot read tests: Is a directory");
}

TEST(CApiLoadTest, NullPointers) {
  StaxProgram* program = reinterpret_cast<StaxProgram*>(8);
  EXPECT_EQ(Stax().load(nullptr, &program), STAX_BAD_REQUEST);
  EXPECT_STREQ(Stax().last_error(), "stax_program_load: path is a null pointer");
  EXPECT_EQ(program, nullptr);
  EXPECT_EQ(Stax().load(ProgramFile("rows").c_str(), nullptr), STAX_BAD_REQUEST);
  EXPECT_STREQ(Stax().last_error(), "stax_program_load: out is a null pointer");
  Stax().free(nullptr);
}

TEST(CApiLoadTest, NoArtifact) {
  using Result = std::pair<int, std::string>;
  const std::string text = "FILE is no Stax artifact: it does not begin with STAXART";
  EXPECT_EQ(LoadBytes(""), Result(STAX_BAD_REQUEST, text));
  EXPECT_EQ(LoadBytes("name: \"rows\"\n"), Result(STAX_BAD_REQUEST, text));
  std::string report = ReadFile(ProgramFile("rows"));
  report[7] = 'R';
  EXPECT_EQ(LoadBytes(report), Result(STAX_BAD_REQUEST, "FILE is a profile report, not a program"));
}

TEST(CApiLoadTest, TruncatedAnywhere) {
  const std::string whole = ReadFile(ProgramFile("rows"));
  ASSERT_GT(whole.size(), 1000U);
  ASSERT_EQ(LoadBytes(whole).first, STAX_OK);
  for (size_t size = 7; size < whole.size(); size += size < 64 ? 1 : 499) {
    const auto [code, text] = LoadBytes(whole.substr(0, size));
    EXPECT_EQ(code, STAX_BAD_REQUEST) << size;
    EXPECT_EQ(text.find("FILE is truncated"), 0U) << size << ": " << text;
  }
  EXPECT_EQ(LoadBytes(whole.substr(0, whole.size() - 1)).first, STAX_BAD_REQUEST);
}

TEST(CApiLoadTest, OneBitWrong) {
  const std::string whole = ReadFile(ProgramFile("rows"));
  std::mt19937 random(3);
  for (int trial = 0; trial < 200; ++trial) {
    std::string damaged = whole;
    const size_t bit = std::uniform_int_distribution<size_t>(0, 8 * whole.size() - 1)(random);
    damaged[bit / 8] ^= static_cast<char>(1 << bit % 8);
    const auto [code, text] = LoadBytes(damaged);
    EXPECT_EQ(code, STAX_BAD_REQUEST) << "bit " << bit;
    EXPECT_EQ(text.find("FILE is "), 0U) << "bit " << bit << ": " << text;
  }
}

// --- Arguments -----------------------------------------------------------------------------------

struct Call {
  std::vector<StaxTensor> inputs;   // x, mask
  std::vector<StaxTensor> outputs;  // p, columns, where, x
};

struct BadCall {
  const char* name;
  std::function<void(Call&)> spoil;
  const char* error;
};

// Shapes and strides that the tensors point to.
std::vector<int64_t> kThree = {3};
std::vector<int64_t> kFour = {4};
std::vector<int64_t> kOneByFive = {1, 5};
std::vector<int64_t> kNegative = {-3, 5};
std::vector<int64_t> kHuge = {INT32_MAX, INT32_MAX};
std::vector<int64_t> kFiveByThree = {5, 3};
std::vector<int64_t> kTransposed = {1, 3};
std::vector<int64_t> kWithGaps = {6, 1};

// x is f32[3, 5].
const BadCall kBadCalls[] = {
    {"NoInputs", [](Call& c) { c.inputs.clear(); }, "the program takes 2 inputs; 0 were given"},
    {"OneInput", [](Call& c) { c.inputs.pop_back(); }, "the program takes 2 inputs; 1 were given"},
    {"ThreeInputs", [](Call& c) { c.inputs.push_back(c.inputs[1]); },
     "the program takes 2 inputs; 3 were given"},
    {"NoOutputs", [](Call& c) { c.outputs.clear(); }, "the program gives 4 outputs; 0 were given"},
    {"FiveOutputs", [](Call& c) { c.outputs.push_back(c.outputs[0]); },
     "the program gives 4 outputs; 5 were given"},

    {"DtypeOfInput", [](Call& c) { c.inputs[0].code = kDlInt; },
     "input 'x' has element type i32; expected f32[batch, seq]"},
    {"BfloatForHalf", [](Call& c) { c.inputs[1].code = kDlBfloat, c.inputs[1].bits = 16; },
     "input 'mask' has element type bf16; expected f32[seq]"},
    {"DtypeOfOutput", [](Call& c) { c.outputs[2].bits = 32; },
     "output 'where' has element type i32; expected i64[batch]"},
    {"Complex", [](Call& c) { c.inputs[1].code = 5, c.inputs[1].bits = 64; },
     "input 1 has DLPack type (code 5, bits 64, lanes 1), which no program takes: int, uint, "
     "float, "
     "bfloat or bool of one lane"},
    {"Lanes", [](Call& c) { c.outputs[3].lanes = 4; },
     "output 3 has DLPack type (code 2, bits 32, lanes 4), which no program takes: int, uint, "
     "float, bfloat or bool of one lane"},

    {"RankOfInput", [](Call& c) { c.inputs[0].ndim = 1, c.inputs[0].shape = kThree.data(); },
     "input 'x' of shape [3]: has 1 dimensions instead of 2; expected f32[batch, seq]"},
    {"InputsDisagree", [](Call& c) { c.inputs[1].shape = kFour.data(); },
     "input 'mask' of shape [4]: dimension 0 is 4, but seq is 5 by another dimension; expected "
     "f32[seq]"},
    {"BelowTheRange", [](Call& c) { c.inputs[0].shape = kOneByFive.data(); },
     "input 'x' of shape [1, 5]: dimension 0 is 1, outside batch's range [2, 2147483647]; expected "
     "f32[batch, seq]"},
    {"NegativeSize", [](Call& c) { c.inputs[0].shape = kNegative.data(); },
     "input 'x' of shape [-3, 5]: dimension 0 is -3, outside batch's range [2, 2147483647]; "
     "expected f32[batch, seq]"},
    {"TooLarge",
     [](Call& c) { c.inputs[0].shape = c.inputs[0].strides = c.inputs[1].shape = kHuge.data(); },
     "input 'x': a tensor of shape [2147483647, 2147483647] is too large"},
    {"ShapeOfOutput", [](Call& c) { c.outputs[0].shape = kFiveByThree.data(); },
     "output 'p' has shape [5, 3]; expected [3, 5]"},
    {"RankOfOutput", [](Call& c) { c.outputs[0].ndim = 1; },
     "output 'p' has shape [3]; expected [3, 5]"},

    {"Transposed", [](Call& c) { c.inputs[0].strides = kTransposed.data(); },
     "input 'x' of shape [3, 5] has strides [1, 3]; expected a dense row-major tensor (stride 1 in "
     "dimension 1)"},
    {"Gaps", [](Call& c) { c.inputs[0].strides = kWithGaps.data(); },
     "input 'x' of shape [3, 5] has strides [6, 1]; expected a dense row-major tensor (stride 5 in "
     "dimension 0)"},
    {"StridesOfOutput", [](Call& c) { c.outputs[0].strides = kWithGaps.data(); },
     "output 'p' of shape [3, 5] has strides [6, 1]; expected a dense row-major tensor (stride 5 "
     "in dimension 0)"},

    {"InputOnGpu", [](Call& c) { c.inputs[1].device_type = 2, c.inputs[1].device_id = 1; },
     "input 1 is on CUDA device 1; the program runs on the CPU"},
    {"OutputOnGpu", [](Call& c) { c.outputs[0].device_type = 2; },
     "output 0 is on CUDA device 0; the program runs on the CPU"},
    {"AnotherKindOfDevice", [](Call& c) { c.inputs[0].device_type = 10; },
     "input 0 is on a device of DLPack's type 10; the program runs on the CPU"},

    {"NoDataIn", [](Call& c) { c.inputs[1].data = nullptr; },
     "input 'mask' has no data (a null pointer)"},
    // An offset from nothing is still nothing.
    {"NoDataOut", [](Call& c) { c.outputs[1].data = nullptr, c.outputs[1].byte_offset = 64; },
     "output 'columns' has no data (a null pointer)"},
    {"NoShape", [](Call& c) { c.inputs[0].shape = nullptr; },
     "input 0 has no shape: ndim is 2, and shape is a null pointer"},
    {"NegativeRank", [](Call& c) { c.outputs[2].ndim = -1; }, "output 2 has no shape: ndim is -1"},
};

class BadCallTest : public testing::TestWithParam<BadCall> {};

TEST_P(BadCallTest, IsRefused) {
  const ProgramHandle program = LoadProgram("rows");
  RowsProblem rows(3, 5, 1);
  // Before the first run and after it.
  for (int time = 0; time < 2; ++time) {
    rows.ClearOutputs();
    Call call{rows.Inputs(), rows.Outputs()};
    GetParam().spoil(call);
    EXPECT_EQ(RunProgram(program.get(), call.inputs, call.outputs), STAX_BAD_REQUEST);
    EXPECT_STREQ(Stax().last_error(), GetParam().error);
    rows.ExpectUntouched();
    ASSERT_EQ(RunProgram(program.get(), rows.Inputs(), rows.Outputs()), STAX_OK)
        << Stax().last_error();
    EXPECT_STREQ(Stax().last_error(), "");
    rows.ExpectRight();
  }
}

INSTANTIATE_TEST_SUITE_P(All, BadCallTest, testing::ValuesIn(kBadCalls),
                         [](const testing::TestParamInfo<BadCall>& info) {
                           return info.param.name;
                         });

TEST(CApiRunTest, NullPointers) {
  const ProgramHandle program = LoadProgram("rows");
  RowsProblem rows(3, 5, 1);
  std::vector<StaxTensor> inputs = rows.Inputs();
  std::vector<StaxTensor> outputs = rows.Outputs();
  const auto run = [&](StaxProgram* p, int num_in, StaxTensor* in, int num_out, StaxTensor* out) {
    EXPECT_EQ(Stax().run(p, num_in, in, num_out, out, nullptr), STAX_BAD_REQUEST);
    return std::string(Stax().last_error());
  };
  EXPECT_EQ(run(nullptr, 2, inputs.data(), 4, outputs.data()),
            "stax_program_run: program is a null pointer");
  EXPECT_EQ(run(program.get(), 2, nullptr, 4, outputs.data()),
            "stax_program_run: num_inputs is 2, and inputs a null pointer");
  EXPECT_EQ(run(program.get(), 2, inputs.data(), 4, nullptr),
            "stax_program_run: num_outputs is 4, and outputs a null pointer");
  EXPECT_EQ(run(program.get(), -1, inputs.data(), 4, outputs.data()),
            "stax_program_run: num_inputs is -1");
  EXPECT_EQ(run(program.get(), 2, inputs.data(), -5, nullptr),
            "stax_program_run: num_outputs is -5");
  rows.ExpectUntouched();
}

// --- Devices and threads -------------------------------------------------------------------------

TEST(CApiRunTest, CudaProgramWantsCudaTensors) {
  const ProgramHandle program = LoadProgram("rows_cuda");
  RowsProblem rows(3, 5, 1);
  EXPECT_EQ(RunProgram(program.get(), rows.Inputs(), rows.Outputs()), STAX_BAD_REQUEST);
  EXPECT_STREQ(Stax().last_error(), "input 0 is on the CPU; the program runs on CUDA device 0");
  rows.ExpectUntouched();
}

TEST(CApiRunTest, CudaProgramWithoutDriver) {
  if (dlopen("libcuda.so.1", RTLD_NOW) != nullptr) GTEST_SKIP() << "there is a driver";
  const ProgramHandle program = LoadProgram("rows_cuda");
  RowsProblem rows(3, 5, 1);
  Call call{rows.Inputs(), rows.Outputs()};
  for (StaxTensor& tensor : call.inputs) tensor.device_type = 2;
  for (StaxTensor& tensor : call.outputs) tensor.device_type = 2;
  EXPECT_EQ(RunProgram(program.get(), call.inputs, call.outputs), STAX_MISSING);
  EXPECT_STREQ(Stax().last_error(),
               "no CUDA device: the NVIDIA driver's library cannot be opened (libcuda.so.1: cannot "
               "open shared object file: No such file or directory)");
  rows.ExpectUntouched();
}

TEST(CApiErrorTest, BelongsToItsThread) {
  StaxProgram* program = nullptr;
  ASSERT_EQ(Stax().load("mine.stax", &program), STAX_BAD_REQUEST);
  std::thread other([] {
    EXPECT_STREQ(Stax().last_error(), "");
    StaxProgram* none = nullptr;
    EXPECT_EQ(Stax().load("other.stax", &none), STAX_BAD_REQUEST);
    EXPECT_STREQ(Stax().last_error(), "cannot read other.stax: No such file or directory");
  });
  other.join();
  EXPECT_STREQ(Stax().last_error(), "cannot read mine.stax: No such file or directory");
}

}  // namespace
}  // namespace stax
