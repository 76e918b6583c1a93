#include <algorithm>
#include <chrono>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "ir/loop_nest.h"

namespace stax {
namespace {

constexpr char kSum[] = R"(nest sum_0 {
  buffer x: f32[8192] in
  buffer w: f32[8192] in
  buffer sum: f32[64] out
  loop i0: 64
  reduce r0: 128
  %0 = load x[128*i0 + r0] : f32
  %1 = load w[128*i0 + r0] : f32
  %2 = add %0, %1 : f32
  %3 = const 0.0 : f32
  %4 = max %2, %3 : f32
  %5 = const 2.0 : f32
  %6 = mul %4, %5 : f32
  %7 = reduce.sum %6 : f32
  store sum[i0], %7
}
)";

// Every form of line.
constexpr char kAllForms[] = R"(nest all.forms_1 {
  size m in [0, 7] hint 3
  size n in [2, 4096] hint 64
  buffer x: bf16[16*n] in
  buffer ids: u8[n] in
  buffer y: bool[n] out
  loop i0: n
  reduce r0: 16
  %0 = index n - i0 - 1 : i64
  %1 = const 5 : i64
  %2 = ge %0, %1 : bool
  %3 = load ids[i0] if %2 : u8
  %4 = indirect %3 : 2*n
  %5 = const nan : bf16
  %6 = const -0.0 : f64
  %7 = const -inf : f32
  %8 = const true : bool
  %9 = const 18446744073709551615 : u64
  %10 = load x[16*i0 + r0] : bf16
  %11 = cast %10 : f32
  %12 = select %2, %11, %7 : f32
  %13 = reduce.argmin_last %12 : i64
  %14 = lt %13, %4 : bool
  %15 = not %14 : bool
  store y[i0], %15
}
)";

std::string LineOf(const std::string& text, int line) {
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  return lines.at(line - 1);
}

TEST(LoopNestTextTest, LinesAreThoseOfTheText) {
  const absl::StatusOr<LoopNest> nest = ParseLoopNest(kAllForms);
  ASSERT_TRUE(nest.ok()) << nest.status();
  EXPECT_EQ(LineOf(kAllForms, ReductionLine(*nest)), "  reduce r0: 16");
  EXPECT_EQ(LineOf(kAllForms, OpLine(*nest, 0)), "  %0 = index n - i0 - 1 : i64");
  EXPECT_EQ(LineOf(kAllForms, OpLine(*nest, 16)), "  store y[i0], %15");
  EXPECT_EQ(ReductionLine(LoopNest()), 1);
}

TEST(LoopNestTextTest, RoundTrips) {
  for (const char* text : {kSum, kAllForms}) {
    const absl::StatusOr<LoopNest> nest = ParseLoopNest(text);
    ASSERT_TRUE(nest.ok()) << nest.status();
    EXPECT_EQ(ToText(*nest), text);
  }
}

TEST(LoopNestTextTest, FillsTheFields) {
  const absl::StatusOr<LoopNest> nest = ParseLoopNest(kAllForms);
  ASSERT_TRUE(nest.ok()) << nest.status();
  EXPECT_EQ(nest->name, "all.forms_1");
  ASSERT_EQ(nest->symbols.size(), 2u);
  EXPECT_EQ(nest->symbols[1].name, "n");
  EXPECT_EQ(nest->symbols[1].lower, 2);
  EXPECT_EQ(nest->symbols[1].upper, 4096);
  EXPECT_EQ(nest->symbols[1].hint, 64);
  ASSERT_EQ(nest->buffers.size(), 3u);
  EXPECT_FALSE(nest->buffers[0].written);
  EXPECT_TRUE(nest->buffers[2].written);
  EXPECT_EQ(nest->buffers[0].dtype, DType::kBF16);
  EXPECT_EQ(nest->buffers[0].numel, 16 * IndexExpr::Var("n"));
  EXPECT_FALSE(nest->dims[0].reduce);
  EXPECT_TRUE(nest->dims[1].reduce);
  EXPECT_EQ(nest->body[3].operands, std::vector<ValueId>{2});
  EXPECT_EQ(nest->body[3].buffer, 1);
  EXPECT_EQ(nest->body[4].dtype, DType::kI64);
  EXPECT_EQ(nest->body[4].index, 2 * IndexExpr::Var("n"));
  EXPECT_EQ(nest->body[9].literal.i, -1);
  EXPECT_EQ(nest->body[13].reduce, ReduceKind::kArgMinLast);
  EXPECT_EQ(nest->body[16].code, OpCode::kStore);
  EXPECT_EQ(nest->body[16].dtype, DType::kBool);
}

TEST(LoopNestTextTest, TakesCommentsBlanksAndExpressionsOfAnyForm) {
  const absl::StatusOr<LoopNest> nest = ParseLoopNest(
      "# a comment\n\n  nest  n_0{ # another\r\n\tbuffer x:f32[ (2+2)*2 ]in\n"
      "buffer y: f32 [8] out\n loop i0 : 2 * 4   # eight\n"
      "%0=load x[i0//1]:f32\n store y[ i0 ],%0\n }\n\n# the end");
  ASSERT_TRUE(nest.ok()) << nest.status();
  EXPECT_EQ(ToText(*nest),
            "nest n_0 {\n  buffer x: f32[8] in\n  buffer y: f32[8] out\n  loop i0: 8\n"
            "  %0 = load x[i0] : f32\n  store y[i0], %0\n}\n");
}

// The message for a text that consists of a header, `line` as line 6, and an end.
std::string ErrorOf(std::string_view line) {
  const std::string text = absl::StrCat(
      "nest n {\n  buffer x: f32[8] in\n  buffer y: f32[8] out\n  loop i0: 8\n"
      "  %0 = load x[i0] : f32\n",
      std::string(line), "\n}\n");
  const absl::StatusOr<LoopNest> nest = ParseLoopNest(text);
  if (nest.ok()) return "OK";
  EXPECT_EQ(nest.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(nest.status().message());
}

TEST(LoopNestTextTest, ErrorsOfOps) {
  EXPECT_EQ(ErrorOf("  %1 = neg %0 : f32"), "OK");
  EXPECT_EQ(ErrorOf("  %2 = neg %0 : f32"), "6:4: expected value number 1, got 2");
  EXPECT_EQ(ErrorOf("  %1 = neg %1 : f32"), "6:13: value %1 is not defined above");
  EXPECT_EQ(ErrorOf("  %1 = neg %-1 : f32"), "6:13: value %-1 is not defined above");
  EXPECT_EQ(ErrorOf("  %1 = negg %0 : f32"), "6:8: unknown op 'negg'");
  EXPECT_EQ(ErrorOf("  %1 = neg %0, %0 : f32"), "6:14: expected ':', got ', %0 : f32'");
  EXPECT_EQ(ErrorOf("  %1 = add %0 : f32"), "6:15: expected ',', got ': f32'");
  EXPECT_EQ(ErrorOf("  %1 = neg %0"), "6:14: expected ':', got end of line");
  EXPECT_EQ(ErrorOf("  %1 = neg %0 : f33").substr(0, 25), "6:17: unknown dtype 'f33'");
  EXPECT_EQ(ErrorOf("  %1 = neg %0 : f32 f32"), "6:21: expected end of line, got 'f32'");
  EXPECT_EQ(ErrorOf("  %1 = neg 0 : f32"), "6:12: expected '%', got '0 : f32'");
  EXPECT_EQ(ErrorOf("  %x = neg %0 : f32"), "6:4: expected an integer, got 'x = neg %0 : f32'");
  EXPECT_EQ(ErrorOf("  %99999999999999999999 = neg %0 : f32").substr(0, 28),
            "6:4: expected an integer, go");
  EXPECT_EQ(ErrorOf("  %1 = store y[i0], %0"), "6:8: a store has no value");
  EXPECT_EQ(ErrorOf("  %1 = reduce %0 : f32"), "6:8: expected reduce.KIND");
  EXPECT_EQ(ErrorOf("  %1 = reduce.mean %0 : f32").substr(0, 37),
            "6:15: unknown reduction 'mean', expec");
  EXPECT_EQ(ErrorOf("  %1 = const 1 : f32"), "OK");
  EXPECT_EQ(ErrorOf("  %1 = const x : f32"), "6:14: expected a literal of type f32, got 'x'");
  EXPECT_EQ(ErrorOf("  %1 = const 1.0"), "6:17: expected ':', got end of line");
  EXPECT_EQ(ErrorOf("  %1 = load z[i0] : f32"), "6:13: buffer z is not declared");
  EXPECT_EQ(ErrorOf("  %1 = load x[i0 : f32"), "6:15: expected ']' after the expression");
  EXPECT_EQ(ErrorOf("  %1 = index i0"), "6:14: expected ':' after the expression");
  EXPECT_EQ(ErrorOf("  %1 = load x[i0 +] : f32").substr(0, 6), "6:15: ");
  EXPECT_EQ(ErrorOf("  %1 = load x(i0) : f32"), "6:14: expected '[', got '(i0) : f32'");
  EXPECT_EQ(ErrorOf("  store y[i0]"), "6:14: expected ',', got end of line");
  EXPECT_EQ(ErrorOf("  stor y[i0], %0"),
            "6:3: expected size, buffer, loop, reduce, store, '%N = ...' or '}'");
  EXPECT_EQ(ErrorOf("  store y[i0], %0\n  %2 = neg %1 : f32"),
            "7:13: op %1 is a store and has no value");
}

TEST(LoopNestTextTest, ErrorsOfDeclarations) {
  EXPECT_EQ(ErrorOf("  buffer x: f32[8] in"), "6:10: buffer x is declared twice");
  EXPECT_EQ(ErrorOf("  buffer z: f32[8] inout"), "6:20: expected 'in' or 'out', got 'inout'");
  EXPECT_EQ(ErrorOf("  buffer 1: f32[8] in"),
            "6:10: expected a name for the buffer, got '1: f32[8] in'");
  EXPECT_EQ(ErrorOf("  loop : 8"), "6:8: expected a name for the dim, got ': 8'");
  EXPECT_EQ(ErrorOf("  loop i1: ").substr(0, 6), "6:11: ");
  EXPECT_EQ(ErrorOf("  size n in [2, 9]"), "6:19: expected 'hint', got end of line");
  EXPECT_EQ(ErrorOf("  size n in [2; 9] hint 3"), "6:15: expected ',', got '; 9] hint 3'");
  EXPECT_EQ(ErrorOf("  size n in [2, x] hint 3"), "6:17: expected an integer, got 'x] hint 3'");
}

TEST(LoopNestTextTest, ErrorsOfTheFrame) {
  const auto error = [](std::string_view text) {
    const absl::Status status = ParseLoopNest(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  EXPECT_EQ(error(""), "1:1: expected 'nest NAME {', got end of line");
  EXPECT_EQ(error("# only a comment\n"), "2:1: expected 'nest NAME {', got end of line");
  EXPECT_EQ(error("nest n {\n"), "2:1: expected '}', got end of line");
  EXPECT_EQ(error("nest n {\n}\nmore"), "3:1: expected nothing after '}', got 'more'");
  EXPECT_EQ(error("nest n {\n} more"), "2:3: expected end of line, got 'more'");
  EXPECT_EQ(error("nestn {\n}"), "1:1: expected 'nest', got 'nestn {'");
  EXPECT_EQ(error("nest {\n}"), "1:6: expected a name for the nest, got '{'");
}

TEST(LoopNestTextTest, LimitsWhatItTakes) {
  const auto error = [](const std::string& text) {
    const absl::Status status = ParseLoopNest(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  std::string text = "nest n {\n";
  for (int i = 0; i < 65; ++i) absl::StrAppend(&text, "loop i", i, ": 2\n");
  EXPECT_EQ(error(text), "66:6: expected at most 64 dims, got 'i64: 2'");
  text = "nest n {\n";
  for (int i = 0; i < 257; ++i) absl::StrAppend(&text, "size s", i, " in [2, 3] hint 2\n");
  EXPECT_EQ(error(text).substr(0, 6), "258:6:");
  text = "nest n {\n";
  for (int i = 0; i < 4097; ++i) absl::StrAppend(&text, "buffer b", i, ": f32[2] in\n");
  EXPECT_EQ(error(text).substr(0, 7), "4098:8:");
  text = "nest n {\n";
  for (int i = 0; i < 100001; ++i) absl::StrAppend(&text, "%", i, " = const 1.0 : f32\n");
  EXPECT_EQ(error(text), "100002:26: expected at most 100000 ops, got end of line");
  EXPECT_EQ(error(std::string((16 << 20) + 1, ' ')), "1:1: the text is longer than 16 MiB");
  text = absl::StrCat("nest n {\nloop i0: ", std::string(20000, '1'), "\n}");
  EXPECT_EQ(error(text), "2:10: index expression is too long");
  text = absl::StrCat("nest n {\nloop i0: ", std::string(16000, '('), "\n}");
  EXPECT_EQ(error(text).substr(0, 6), "2:10: ");
  text = "nest n {\nloop i0: 9223372036854775807*9223372036854775807\n}";
  EXPECT_EQ(error(text).substr(0, 6), "2:10: ");
}

// 1000 ops within 50 ms, a budget that leaves room for a busy machine: it takes about 1 ms.
TEST(LoopNestTextTest, IsFast) {
  std::string text =
      "nest n {\nsize n in [2, 4096] hint 64\nbuffer x: f32[128*n] in\nbuffer y: f32[128*n] out\n"
      "loop i0: n\nloop i1: 128\n%0 = load x[128*i0 + i1] : f32\n";
  for (int i = 1; i < 1000; ++i) {
    if (i % 4 == 0) {
      absl::StrAppend(&text, "%", i, " = load x[128*i0 - i1 + 127] : f32\n");
    } else {
      absl::StrAppend(&text, "%", i, " = add %", i - 1, ", %", i / 2, " : f32\n");
    }
  }
  text += "store y[128*i0 + i1], %999\n}\n";
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const absl::StatusOr<LoopNest> nest = ParseLoopNest(text);
    ASSERT_TRUE(nest.ok()) << nest.status();
    const absl::Status verified = Verify(*nest);
    ASSERT_TRUE(verified.ok()) << verified;
    ASSERT_GT(ToText(*nest).size(), text.size());
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    best = std::min(best, seconds.count());
  }
  EXPECT_LT(best, 0.05);
  RecordProperty("microseconds", static_cast<int>(best * 1e6));
}

}  // namespace
}  // namespace stax
