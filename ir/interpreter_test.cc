#include "ir/interpreter.h"

#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "ir/reducer.h"
#include "ir/testing/random_nest.h"

namespace stax {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

using Memory = std::map<std::string, Bytes>;
using Sizes = std::map<std::string, int64_t>;

LoopNest Parse(std::string_view text) {
  absl::StatusOr<LoopNest> nest = ParseLoopNest(text);
  EXPECT_TRUE(nest.ok()) << nest.status() << "\n" << text;
  return nest.ok() ? *nest : LoopNest();
}

Bytes Make(DType t, const std::vector<double>& values) {
  Bytes bytes(values.size() * DTypeBytes(t));
  for (size_t i = 0; i < values.size(); ++i)
    StoreScalar(Scalar::FromDouble(t, values[i]), &bytes[i * DTypeBytes(t)]);
  return bytes;
}

std::vector<double> Read(DType t, const Bytes& bytes) {
  std::vector<double> values;
  for (size_t i = 0; i < bytes.size(); i += DTypeBytes(t)) {
    const Scalar s = LoadScalar(t, &bytes[i]);
    values.push_back(IsFloat(t) ? s.f : static_cast<double>(s.i));
  }
  return values;
}

// Executes a correct nest; `memory` gets the results.
void Execute(std::string_view text, Memory& memory, const Sizes& sizes = {},
             Precision precision = Precision::kDouble) {
  const LoopNest nest = Parse(text);
  ASSERT_TRUE(Verify(nest).ok()) << Verify(nest);
  const absl::Status status = Interpret(nest, sizes, memory, precision);
  ASSERT_TRUE(status.ok()) << status;
}

TEST(InterpreterTest, Example11) {
  Memory memory = {{"x", Make(DType::kF32, {1, -2, 3, 0.5, -1, 4})},
                   {"w", Make(DType::kF32, {1, 1, 1, -1, 0.5, -4})}};
  Execute(R"(nest sum_0 {
    buffer x: f32[6] in
    buffer w: f32[6] in
    buffer sum: f32[2] out
    loop i0: 2
    reduce r0: 3
    %0 = load x[3*i0 + r0] : f32
    %1 = load w[3*i0 + r0] : f32
    %2 = add %0, %1 : f32
    %3 = const 0.0 : f32
    %4 = max %2, %3 : f32
    %5 = const 2.0 : f32
    %6 = mul %4, %5 : f32
    %7 = reduce.sum %6 : f32
    store sum[i0], %7
  })",
          memory);
  EXPECT_EQ(Read(DType::kF32, memory["sum"]), (std::vector<double>{12, 0}));
}

constexpr char kSoftmax[] = R"(nest softmax_0 {
    size n in [2, 4096] hint 64
    buffer x: f64[3*n] in
    buffer y: f64[3*n] out
    loop i0: n
    reduce r0: 3
    %0 = load x[3*i0 + r0] : f64
    %1 = reduce.max %0 : f64
    %2 = sub %0, %1 : f64
    %3 = exp %2 : f64
    %4 = reduce.sum %3 : f64
    %5 = div %3, %4 : f64
    store y[3*i0 + r0], %5
  })";

// By NumPy.
TEST(InterpreterTest, Softmax) {
  Memory memory = {{"x", Make(DType::kF64, {0.5, -1.25, 3.0, 2.0, 2.0, -100.0})}};
  Execute(kSoftmax, memory, {{"n", 2}});
  const double expected[] = {
      0.07487121456204028,   0.01301066620537013, 0.9121181192325896, 0.5, 0.5,
      2.5172876793824912e-45};
  const std::vector<double> actual = Read(DType::kF64, memory["y"]);
  ASSERT_EQ(actual.size(), 6u);
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(actual[i], expected[i], 4e-16 * expected[i]);
}

TEST(InterpreterTest, EveryTypeThroughMemory) {
  for (int i = 0; i < kNumDTypes; ++i) {
    const DType t = static_cast<DType>(i);
    const std::string name(DTypeName(t));
    Memory memory = {{"x", Make(t, {1, 0, t == DType::kBool ? 1.0 : 100})}};
    Execute(
        absl::StrCat("nest n {\nbuffer x: ", name, "[3] in\nbuffer y: ", name,
                     "[3] out\nloop i0: 3\n%0 = load x[-i0 + 2] : ", name, "\nstore y[i0], %0\n}"),
        memory);
    EXPECT_EQ(Read(t, memory["y"]), (std::vector<double>{t == DType::kBool ? 1.0 : 100, 0, 1}));
  }
}

TEST(InterpreterTest, ResultsOfBothLevels) {
  Memory memory = {{"x", Make(DType::kI32, {1, 2, 3, 4, 5, 6})}};
  Execute(R"(nest n {
    buffer x: i32[6] in
    buffer mean: i32[2] out
    buffer centered: i32[6] out
    buffer spread: i32[2] out
    buffer repeated: i32[6] out
    loop i0: 2
    reduce r0: 3
    %0 = load x[3*i0 + r0] : i32
    %1 = reduce.sum %0 : i32
    %2 = const 3 : i32
    %3 = div %1, %2 : i32
    store mean[i0], %3
    %5 = sub %0, %3 : i32
    store centered[3*i0 + r0], %5
    %7 = mul %5, %5 : i32
    %8 = reduce.sum %7 : i32
    store spread[i0], %8
    store repeated[3*i0 + r0], %8
  })",
          memory);
  EXPECT_EQ(Read(DType::kI32, memory["mean"]), (std::vector<double>{2, 5}));
  EXPECT_EQ(Read(DType::kI32, memory["centered"]), (std::vector<double>{-1, 0, 1, -1, 0, 1}));
  EXPECT_EQ(Read(DType::kI32, memory["spread"]), (std::vector<double>{2, 2}));
  EXPECT_EQ(Read(DType::kI32, memory["repeated"]), (std::vector<double>{2, 2, 2, 2, 2, 2}));
}

// Reduction dims around a loop dim: positions count in the order of the dims, r0 major.
TEST(InterpreterTest, PositionsAreRowMajorOverTheReductionDims) {
  Memory memory = {{"x", Make(DType::kF32, {0, 1, 2, 3,  //
                                            9, 1, 2, 8,  //
                                            0, 1, 9, 8})}};
  Execute(R"(nest n {
    buffer x: f32[12] in
    buffer first: i64[2] out
    buffer last: i64[2] out
    reduce r0: 3
    loop i0: 2
    reduce r1: 2
    %0 = load x[4*r0 + 2*i0 + r1] : f32
    %1 = reduce.argmax %0 : i64
    %2 = reduce.argmax_last %0 : i64
    store first[i0], %1
    store last[i0], %2
  })",
          memory);
  // i0 = 0 sees {0,1 | 9,1 | 0,1}, i0 = 1 sees {2,3 | 2,8 | 9,8}.
  EXPECT_EQ(Read(DType::kI64, memory["first"]), (std::vector<double>{2, 4}));
  EXPECT_EQ(Read(DType::kI64, memory["last"]), (std::vector<double>{2, 4}));
}

TEST(InterpreterTest, ReductionOfAnOuterValueCountsEveryPoint) {
  Memory memory = {{"x", Make(DType::kI32, {5, 7})}};
  Execute(R"(nest n {
    buffer x: i32[2] in
    buffer y: i32[2] out
    loop i0: 2
    reduce r0: 4
    %0 = load x[i0] : i32
    %1 = reduce.sum %0 : i32
    store y[i0], %1
  })",
          memory);
  EXPECT_EQ(Read(DType::kI32, memory["y"]), (std::vector<double>{20, 28}));
}

// A padded window: the mask keeps the load from elements that are not there.
TEST(InterpreterTest, MaskedLoads) {
  Memory memory = {{"x", Make(DType::kF32, {1, 2, 4})}};
  Execute(R"(nest n {
    buffer x: f32[3] in
    buffer y: f32[3] out
    loop i0: 3
    reduce r0: 3
    %0 = index i0 + r0 - 1 : i64
    %1 = const 0 : i64
    %2 = const 3 : i64
    %3 = ge %0, %1 : bool
    %4 = lt %0, %2 : bool
    %5 = and %3, %4 : bool
    %6 = load x[i0 + r0 - 1] if %5 : f32
    %7 = reduce.sum %6 : f32
    store y[i0], %7
  })",
          memory);
  EXPECT_EQ(Read(DType::kF32, memory["y"]), (std::vector<double>{3, 7, 6}));
}

TEST(InterpreterTest, Gathers) {
  Memory memory = {{"table", Make(DType::kF32, {0, 1, 10, 11, 20, 21})},
                   {"ids", Make(DType::kI32, {2, -1, -9, 9})}};
  Execute(R"(nest n {
    buffer table: f32[6] in
    buffer ids: i32[4] in
    buffer y: f32[8] out
    buffer at: i64[4] out
    loop i0: 4
    reduce r0: 2
    %0 = load ids[i0] : i32
    %1 = indirect %0 : 3
    %2 = load table[2*t1 + r0] : f32
    store y[2*i0 + r0], %2
    store at[i0], %1
  })",
          memory);
  EXPECT_EQ(Read(DType::kI64, memory["at"]), (std::vector<double>{2, 2, 0, 2}));
  EXPECT_EQ(Read(DType::kF32, memory["y"]), (std::vector<double>{20, 21, 20, 21, 0, 1, 20, 21}));
}

TEST(InterpreterTest, IndexValues) {
  Memory memory;
  Execute(R"(nest n {
    buffer y: i8[3] out
    buffer z: f16[3] out
    loop i0: 3
    %0 = index 100*i0 : i8
    store y[i0], %0
    %2 = index 4099*i0 : f16
    store z[i0], %2
  })",
          memory);
  EXPECT_EQ(Read(DType::kI8, memory["y"]), (std::vector<double>{0, 100, -56}));
  EXPECT_EQ(Read(DType::kF16, memory["z"]), (std::vector<double>{0, 4100, 8200}));
}

TEST(InterpreterTest, EmptyDims) {
  const char kText[] = R"(nest n {
    size m in [0, 10] hint 5
    size n in [0, 10] hint 5
    buffer x: f32[m*n] in
    buffer sum: f32[m] out
    buffer max: f32[m] out
    buffer at: i64[m] out
    loop i0: m
    reduce r0: n
    %0 = load x[i0*n + r0] : f32
    %1 = reduce.sum %0 : f32
    %2 = reduce.max %0 : f32
    %3 = reduce.argmin %0 : i64
    store sum[i0], %1
    store max[i0], %2
    store at[i0], %3
  })";
  Memory memory = {{"x", {}}};
  Execute(kText, memory, {{"m", 2}, {"n", 0}});
  EXPECT_EQ(Read(DType::kF32, memory["sum"]), (std::vector<double>{0, 0}));
  EXPECT_EQ(Read(DType::kF32, memory["max"]), (std::vector<double>{-kInf, -kInf}));
  EXPECT_EQ(Read(DType::kI64, memory["at"]), (std::vector<double>{0, 0}));
  Execute(kText, memory, {{"m", 0}, {"n", 2}});
  EXPECT_TRUE(memory["sum"].empty());
}

TEST(InterpreterTest, NoDimsAtAll) {
  Memory memory = {{"x", Make(DType::kF32, {7})}};
  Execute(
      "nest n {\nbuffer x: f32[1] in\nbuffer y: f32[1] out\n%0 = load x[0] : f32\n"
      "%1 = neg %0 : f32\nstore y[0], %1\n}",
      memory);
  EXPECT_EQ(Read(DType::kF32, memory["y"]), std::vector<double>{-7});
}

// (1 + x) - 1 with x = 2^-30 is x in f64 and 0 in f32.
TEST(InterpreterTest, Precision) {
  const char kText[] = R"(nest n {
    buffer x: f32[1] in
    buffer y: f32[1] out
    loop i0: 1
    %0 = load x[i0] : f32
    %1 = const 1.0 : f32
    %2 = add %0, %1 : f32
    %3 = sub %2, %1 : f32
    store y[i0], %3
  })";
  Memory memory = {{"x", Make(DType::kF32, {std::ldexp(1, -30)})}};
  Execute(kText, memory);
  EXPECT_EQ(Read(DType::kF32, memory["y"])[0], std::ldexp(1, -30));
  Execute(kText, memory, {}, Precision::kTyped);
  EXPECT_EQ(Read(DType::kF32, memory["y"])[0], 0);
}

TEST(InterpreterTest, HalvesRoundAfterEveryOp) {
  // In f16 (2048 + 1) + 1 stays 2048, and a sum that is a reduction does not.
  Memory memory = {{"x", Make(DType::kF16, {2048, 1, 1})}};
  Execute(R"(nest n {
    buffer x: f16[3] in
    buffer chain: f16[1] out
    buffer sum: f16[1] out
    reduce r0: 3
    %0 = load x[0] : f16
    %1 = load x[1] : f16
    %2 = add %0, %1 : f16
    %3 = add %2, %1 : f16
    store chain[0], %3
    %5 = load x[r0] : f16
    %6 = reduce.sum %5 : f16
    store sum[0], %6
  })",
          memory);
  EXPECT_EQ(Read(DType::kF16, memory["chain"])[0], 2048);
  EXPECT_EQ(Read(DType::kF16, memory["sum"])[0], 2050);
}

// ----- Errors.

constexpr char kCopy[] = R"(nest copy {
    size n in [2, 10] hint 5
    buffer x: f32[n] in
    buffer y: f32[n] out
    loop i0: n
    %0 = load x[i0] : f32
    store y[i0], %0
  })";

absl::Status Error(std::string_view text, Memory memory, const Sizes& sizes) {
  return Interpret(Parse(text), sizes, memory);
}

void ExpectError(const absl::Status& status, absl::StatusCode code, std::string_view message) {
  EXPECT_EQ(status.code(), code);
  EXPECT_EQ(std::string(status.message()), message);
}

TEST(InterpreterTest, ErrorsOfArguments) {
  const Memory memory = {{"x", Make(DType::kF32, {1, 2})}};
  const auto kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_TRUE(Error(kCopy, memory, {{"n", 2}}).ok());
  ExpectError(Error(kCopy, memory, {}), kInvalid, "nest copy: size n has no value");
  ExpectError(Error(kCopy, memory, {{"n", 1}}), kInvalid,
              "nest copy: size n is 1, expected [2, 10]");
  ExpectError(Error(kCopy, memory, {{"n", 11}}), kInvalid,
              "nest copy: size n is 11, expected [2, 10]");
  ExpectError(Error(kCopy, {}, {{"n", 2}}), kInvalid, "nest copy: buffer x is missing");
  ExpectError(Error(kCopy, memory, {{"n", 3}}), kInvalid,
              "nest copy: buffer x has 8 bytes, expected 12 (3 of f32)");
}

TEST(InterpreterTest, ErrorsOfExecution) {
  const Memory memory = {{"x", Make(DType::kF32, {1, 2})}};
  const auto with = [](std::string text, const std::string& from, const std::string& to) {
    return text.replace(text.find(from), from.size(), to);
  };
  ExpectError(Error(with(kCopy, "load x[i0]", "load x[i0 + 1]"), memory, {{"n", 2}}),
              absl::StatusCode::kOutOfRange,
              "nest copy, %0: load x[i0 + 1]: element 2 is outside [0, 2)");
  ExpectError(Error(with(kCopy, "load x[i0]", "load x[i0 - 1]"), memory, {{"n", 2}}),
              absl::StatusCode::kOutOfRange,
              "nest copy, %0: load x[i0 - 1]: element -1 is outside [0, 2)");
  ExpectError(Error(with(kCopy, "store y[i0]", "store y[2*i0]"), memory, {{"n", 2}}),
              absl::StatusCode::kOutOfRange,
              "nest copy, %1: store y[2*i0]: element 2 is outside [0, 2)");
  ExpectError(Error(with(kCopy, "store y[i0]", "store y[i0//2]"), memory, {{"n", 2}}),
              absl::StatusCode::kFailedPrecondition,
              "nest copy, %1: element 0 of y is written twice");
  ExpectError(Error(with(kCopy, "load x[i0]", "load x[i0//(i0*n)]"), memory, {{"n", 2}}),
              absl::StatusCode::kInvalidArgument,
              "nest copy, %0: index floordiv(i0, n*i0) divides by a number that is not positive");
  ExpectError(
      Error(with(kCopy, "load x[i0]", "load x[i0*9223372036854775807*n]"), memory, {{"n", 2}}),
      absl::StatusCode::kInvalidArgument,
      "nest copy, %0: index 9223372036854775807*n*i0 overflows");
  ExpectError(
      Error(with(kCopy, "%0 = load x[i0] : f32", "%0 = load x[i0] : f16"), memory, {{"n", 2}}),
      absl::StatusCode::kInternal, "nest copy, %0: load of f16 from x of f32");
  ExpectError(
      Error(with(kCopy, "buffer y: f32[n]", "buffer y: f32[n + 99999999999]"), memory, {{"n", 2}}),
      absl::StatusCode::kInvalidArgument,
      "nest copy: buffer y of 100000000001 elements is too large");
}

// ----- Against the definition.

// The meaning of a nest by plain recursion over (op, point): no stages, no order of passes.
class Definition {
 public:
  Definition(const LoopNest& nest, const Sizes& sizes, const Memory& inputs)
      : nest_(nest), sizes_(sizes), inputs_(inputs), inner_(InnerValues(nest)) {}

  Memory Outputs() {
    Memory outputs;
    for (const NestBuffer& b : nest_.buffers)
      if (b.written) outputs[b.name].resize(*b.numel.Evaluate(sizes_) * DTypeBytes(b.dtype));
    ForEach(nest_.LoopDims(), sizes_, [&](const Sizes& loop_point) {
      for (ValueId id = 0; id < static_cast<int>(nest_.body.size()); ++id) {
        const LoopOp& op = nest_.body[id];
        if (op.code != OpCode::kStore) continue;
        const auto store = [&](const Sizes& point) {
          const Number value = Value(op.operands[0], point);
          StoreScalar(
              ToScalar(op.dtype, value),
              &outputs[nest_.buffers[op.buffer].name][Index(id, point) * DTypeBytes(op.dtype)]);
        };
        if (inner_[id]) {
          ForEach(nest_.ReduceDims(), loop_point, store);
        } else {
          store(loop_point);
        }
      }
    });
    return outputs;
  }

 private:
  template <typename F>
  void ForEach(std::vector<int> dims, Sizes point, const F& f) {
    if (dims.empty()) return f(point);
    const LoopDim& dim = nest_.dims[dims[0]];
    dims.erase(dims.begin());
    const int64_t extent = *dim.extent.Evaluate(sizes_);
    for (int64_t i = 0; i < extent; ++i) {
      point[dim.name] = i;
      ForEach(dims, point, f);
    }
  }

  int64_t Index(ValueId id, Sizes point) {
    for (ValueId t = 0; t < id; ++t) {
      if (nest_.body[t].code == OpCode::kIndirect && nest_.body[id].index.Mentions(IndirectVar(t)))
        point[IndirectVar(t)] = Value(t, point).i;
    }
    return *nest_.body[id].index.Evaluate(point);
  }

  Number Value(ValueId id, Sizes point) {
    if (!inner_[id])
      for (int d : nest_.ReduceDims()) point.erase(nest_.dims[d].name);
    const auto key = std::make_pair(id, point);
    auto it = memo_.find(key);
    if (it != memo_.end()) return it->second;
    return memo_[key] = Compute(id, point);
  }

  Number Compute(ValueId id, const Sizes& point) {
    const LoopOp& op = nest_.body[id];
    const auto operand = [&](int k) { return Value(op.operands[k], point); };
    const DType type = op.operands.empty() ? op.dtype : nest_.body[op.operands[0]].dtype;
    switch (op.code) {
      case OpCode::kConst:
        return ToNumber(op.literal);
      case OpCode::kIndex:
        return EvalCast(DType::kI64, op.dtype, {0.0, Index(id, point)}, Precision::kDouble);
      case OpCode::kLoad: {
        if (!op.operands.empty() && operand(0).i == 0) return {};
        const Bytes& bytes = inputs_.at(nest_.buffers[op.buffer].name);
        return ToNumber(LoadScalar(op.dtype, &bytes[Index(id, point) * DTypeBytes(op.dtype)]));
      }
      case OpCode::kCast:
        return EvalCast(type, op.dtype, operand(0), Precision::kDouble);
      case OpCode::kSelect:
        return operand(operand(0).i != 0 ? 1 : 2);
      case OpCode::kIndirect:
        return {0.0, ClampIndirect(type, operand(0).i, *op.index.Evaluate(sizes_))};
      case OpCode::kReduce: {
        Reducer reducer(op.reduce, type, Precision::kDouble);
        ForEach(nest_.ReduceDims(), point,
                [&](const Sizes& inner) { reducer.Add(Value(op.operands[0], inner)); });
        return reducer.Result();
      }
      default:
        return EvalScalarOp(op.code, type, operand(0),
                            op.operands.size() == 2 ? operand(1) : Number(), Precision::kDouble);
    }
  }

  const LoopNest& nest_;
  const Sizes& sizes_;
  const Memory& inputs_;
  const std::vector<bool> inner_;
  std::map<std::pair<ValueId, Sizes>, Number> memo_;
};

TEST(InterpreterTest, AgreesWithTheDefinition) {
  RandomNestOptions options;
  options.max_extent = 3;
  for (uint64_t seed = 1000; seed < 1150; ++seed) {
    const LoopNest nest = RandomNest(seed, options);
    const Sizes sizes = RandomSizes(nest, seed);
    Memory memory = RandomInputs(nest, sizes, seed);
    const Memory expected = Definition(nest, sizes, memory).Outputs();
    const absl::Status status = Interpret(nest, sizes, memory);
    ASSERT_TRUE(status.ok()) << status << ToText(nest);
    for (const auto& [name, bytes] : expected) ASSERT_TRUE(memory[name] == bytes) << ToText(nest);
  }
}

// 9 million ops within 4 s, a budget that leaves room for a busy machine: it takes about 0.2 s.
TEST(InterpreterTest, IsFastEnough) {
  std::string text = kSoftmax;
  for (size_t at; (at = text.find("3*")) != std::string::npos;) text.replace(at, 2, "1024*");
  text.replace(text.find("r0: 3"), 5, "r0: 1024");
  const int64_t rows = 1000;
  Memory memory = {{"x", Make(DType::kF64, std::vector<double>(rows * 1024, 0.5))}};
  const auto start = std::chrono::steady_clock::now();
  Execute(text, memory, {{"n", rows}});
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_LT(seconds.count(), 4);
  EXPECT_EQ(Read(DType::kF64, memory["y"])[rows * 1024 - 1], 1.0 / 1024);
  RecordProperty("milliseconds", static_cast<int>(seconds.count() * 1e3));
}

}  // namespace
}  // namespace stax
