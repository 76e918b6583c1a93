// libstax.so computes what it should: against double, at many sizes, in every element type.
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/c_api.h"
#include "tests/c_api/host.h"
#include "tests/c_api/rows_problem.h"

namespace stax {
namespace {

// dlpack.h, v0.8: DLTensor {void* data; DLDevice {int32, int32}; int32 ndim; DLDataType {uint8,
// uint8, uint16}; int64* shape; int64* strides; uint64 byte_offset}.
TEST(CApiTest, TensorHasDlpacksLayout) {
  EXPECT_EQ(offsetof(StaxTensor, data), 0U);
  EXPECT_EQ(offsetof(StaxTensor, device_type), 8U);
  EXPECT_EQ(offsetof(StaxTensor, device_id), 12U);
  EXPECT_EQ(offsetof(StaxTensor, ndim), 16U);
  EXPECT_EQ(offsetof(StaxTensor, code), 20U);
  EXPECT_EQ(offsetof(StaxTensor, bits), 21U);
  EXPECT_EQ(offsetof(StaxTensor, lanes), 22U);
  EXPECT_EQ(offsetof(StaxTensor, shape), 24U);
  EXPECT_EQ(offsetof(StaxTensor, strides), 32U);
  EXPECT_EQ(offsetof(StaxTensor, byte_offset), 40U);
  EXPECT_EQ(sizeof(StaxTensor), 48U);
}

TEST(CApiTest, RightAtEverySizeAndAgain) {
  const ProgramHandle program = LoadProgram("rows");
  ASSERT_NE(program, nullptr);
  const std::vector<std::pair<int64_t, int64_t>> sizes = {{2, 2},    {3, 5}, {64, 128}, {2, 1000},
                                                          {1000, 2}, {3, 5}, {37, 211}};
  uint32_t seed = 0;
  for (const auto& [batch, seq] : sizes) {
    SCOPED_TRACE(testing::Message() << "batch " << batch << ", seq " << seq);
    RowsProblem rows(batch, seq, ++seed);
    for (int time = 0; time < 2; ++time) {
      rows.ClearOutputs();
      ASSERT_EQ(RunProgram(program.get(), rows.Inputs(), rows.Outputs()), STAX_OK)
          << Stax().last_error();
      EXPECT_STREQ(Stax().last_error(), "");
      rows.ExpectRight();
      if (HasFatalFailure()) return;
    }
  }
}

TEST(CApiTest, OffsetsAndStridesOfDenseTensors) {
  const ProgramHandle program = LoadProgram("rows");
  RowsProblem rows(4, 6, 1);
  std::vector<StaxTensor> inputs = rows.Inputs();
  std::vector<StaxTensor> outputs = rows.Outputs();
  // The same element by another base.
  const uint64_t before = 3 * sizeof(float);
  inputs[0].data = reinterpret_cast<char*>(rows.x.values.data()) - before;
  inputs[0].byte_offset = before;
  outputs[0].data = reinterpret_cast<char*>(rows.p.values.data()) - before;
  outputs[0].byte_offset = before;
  int64_t strides[] = {6, 1};
  inputs[0].strides = strides;
  outputs[0].strides = strides;
  // DLPack leaves the CPU's number open.
  inputs[1].device_id = 3;
  ASSERT_EQ(RunProgram(program.get(), inputs, outputs), STAX_OK) << Stax().last_error();
  rows.ExpectRight();
}

TEST(CApiTest, NoInputs) {
  const ProgramHandle program = LoadProgram("counter");
  Array<int64_t> y({5});
  StaxTensor output = y.View();
  ASSERT_EQ(Stax().run(program.get(), 0, nullptr, 1, &output, nullptr), STAX_OK)
      << Stax().last_error();
  EXPECT_EQ(y.values, (std::vector<int64_t>{10, 11, 12, 13, 14}));
}

// Each program by one thread, several programs at a time.
TEST(CApiTest, ProgramsOfSeveralThreads) {
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    threads.emplace_back([seed] {
      const ProgramHandle program = LoadProgram("rows");
      for (int time = 0; time < 10; ++time) {
        RowsProblem rows(20 + seed, 30 + time, seed);
        ASSERT_EQ(RunProgram(program.get(), rows.Inputs(), rows.Outputs()), STAX_OK)
            << Stax().last_error();
        rows.ExpectRight();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// One input of types.textproto, with its two outputs: as f64, and back.
struct TypeArguments {
  StaxTensor input;
  StaxTensor as_double;
  StaxTensor back;
};

// Memory of three elements of T, of which DLPack says `code`.
template <typename T>
class TypeCase {
 public:
  TypeCase(DlCode code, std::vector<T> elements, std::vector<double> doubles)
      : code_(code), doubles_(std::move(doubles)) {
    input_.values = std::move(elements);
  }
  TypeArguments Arguments() { return {input_.View(code_), as_double_.View(), back_.View(code_)}; }
  void ExpectRight() const {
    EXPECT_EQ(as_double_.values, doubles_);
    EXPECT_EQ(back_.values, input_.values);
  }

 private:
  DlCode code_;
  std::vector<double> doubles_;
  Array<T> input_{{3}};
  Array<double> as_double_{{3}};
  Array<T> back_{{3}};
};

// Numbers at the ends of each type that f64 holds exactly; halves by their bits (IEEE 754: f16 has
// 5 bits of exponent, bf16 is the upper half of an f32).
TEST(CApiTest, EveryElementType) {
  TypeCase<uint8_t> boolean(kDlBool, {0, 1, 1}, {0, 1, 1});
  TypeCase<int8_t> i8(kDlInt, {-128, 5, 127}, {-128, 5, 127});
  TypeCase<int16_t> i16(kDlInt, {-32768, 5, 32767}, {-32768, 5, 32767});
  TypeCase<int32_t> i32(kDlInt, {INT32_MIN, 5, INT32_MAX}, {-2147483648.0, 5, 2147483647});
  TypeCase<int64_t> i64(kDlInt, {INT64_MIN, 5, int64_t{1} << 53}, {-0x1p63, 5, 0x1p53});
  TypeCase<uint8_t> u8(kDlUInt, {0, 5, 255}, {0, 5, 255});
  TypeCase<uint16_t> u16(kDlUInt, {0, 5, 65535}, {0, 5, 65535});
  TypeCase<uint32_t> u32(kDlUInt, {0, 5, UINT32_MAX}, {0, 5, 4294967295});
  TypeCase<uint64_t> u64(kDlUInt, {0, 5, uint64_t{1} << 63}, {0, 5, 0x1p63});
  TypeCase<uint16_t> f16(kDlFloat, {0x3E00, 0xC100, 0x7BFF}, {1.5, -2.5, 65504});
  TypeCase<uint16_t> bf16(kDlBfloat, {0x3FC0, 0xC020, 0x4780}, {1.5, -2.5, 65536});
  TypeCase<float> f32(kDlFloat, {1.5F, -0x1p-126F, 0x1p127F}, {1.5, -0x1p-126, 0x1p127});
  TypeCase<double> f64(kDlFloat, {1.5, -0x1p-1022, 0.1}, {1.5, -0x1p-1022, 0.1});

  const auto in_order = [&](auto visit) {
    visit(boolean), visit(i8), visit(i16), visit(i32), visit(i64), visit(u8), visit(u16);
    visit(u32), visit(u64), visit(f16), visit(bf16), visit(f32), visit(f64);
  };
  std::vector<StaxTensor> inputs;
  std::vector<StaxTensor> as_double;
  std::vector<StaxTensor> back;
  in_order([&](auto& type) {
    const TypeArguments arguments = type.Arguments();
    inputs.push_back(arguments.input);
    as_double.push_back(arguments.as_double);
    back.push_back(arguments.back);
  });
  std::vector<StaxTensor> outputs = as_double;
  outputs.insert(outputs.end(), back.begin(), back.end());

  const ProgramHandle program = LoadProgram("types");
  ASSERT_EQ(RunProgram(program.get(), inputs, outputs), STAX_OK) << Stax().last_error();
  int position = 0;
  in_order([&](auto& type) {
    SCOPED_TRACE(testing::Message() << "input " << position++);
    type.ExpectRight();
  });
}

}  // namespace
}  // namespace stax
