#include "tools/emu/arguments.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "runtime/emulator/memory/global_memory.h"
#include "runtime/emulator/translate/flat_kernel.h"

namespace stax {
namespace {

std::string Error(const std::string& text) {
  const absl::StatusOr<KernelArgument> argument = ParseKernelArgument(text);
  return argument.ok() ? "no error" : std::string(argument.status().message());
}

template <typename T>
T Number(const std::string& text) {
  T value = 0;
  const absl::StatusOr<KernelArgument> argument = ParseKernelArgument(text);
  EXPECT_TRUE(argument.ok()) << argument.status();
  if (!argument.ok()) return value;
  EXPECT_EQ(argument->tensor.bytes.size(), sizeof(T));
  std::memcpy(&value, argument->tensor.bytes.data(), sizeof(T));
  return value;
}

TEST(Arguments, Numbers) {
  EXPECT_EQ(Number<int32_t>("i32:-2147483648"), INT32_MIN);
  EXPECT_EQ(Number<uint32_t>("u32:4294967295"), UINT32_MAX);
  EXPECT_EQ(Number<int64_t>("i64:-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(Number<int64_t>("i64:9223372036854775807"), INT64_MAX);
  EXPECT_EQ(Number<uint64_t>("u64:18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(Number<int8_t>("i8:-128"), -128);
  EXPECT_EQ(Number<uint8_t>("bool:1"), 1);
  EXPECT_EQ(Number<float>("f32:0.1"), 0.1F);
  EXPECT_EQ(Number<float>("f32:3.4028235e38"), 0x1.fffffep127F);
  EXPECT_EQ(Number<double>("f64:1e-300"), 1e-300);
  EXPECT_GT(Number<float>("f32:inf"), 3.5e38);
}

TEST(Arguments, Buffers) {
  const absl::StatusOr<KernelArgument> out = ParseKernelArgument("out:f32[1024,8]:y.npy");
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(out->path, "y.npy");
  EXPECT_EQ(out->tensor.dims, (std::vector<int64_t>{1024, 8}));
  EXPECT_EQ(out->tensor.bytes.size(), 32768U);
  EXPECT_EQ(ParseKernelArgument("out:u8[]:y.npy")->tensor.bytes.size(), 1U);
  EXPECT_EQ(ParseKernelArgument("out:u8[0]:y.npy")->tensor.bytes.size(), 0U);
}

TEST(Arguments, Errors) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "it is neither a buffer nor a number"},
      {"in", "it is neither a buffer nor a number"},
      {"in:", "it names no file"},
      {"inout:", "it names no file"},
      {"value:", "it names no file"},
      {"out:", "it has no TYPE[DIMS]:"},
      {"out:f32:y.npy", "it has no TYPE[DIMS]:"},
      {"out:f32[4]", "it has no TYPE[DIMS]:"},
      {"out:f32[4]:", "it names no file"},
      {"out:f32[-1]:y.npy", "a dimension is no size"},
      {"out:f32[1,,2]:y.npy", "a dimension is no size"},
      {"out:f32[,]:y.npy", "a dimension is no size"},
      {"out:f32[9223372036854775807,4]:y.npy", "it is too large"},
      {"5", "it is neither a buffer nor a number"},
      {"pred:1", "it is neither a buffer nor a number"},
      {"i32:", "it is no integer of 64 bits"},
      {"i32:0x10", "it is no integer of 64 bits"},
      {"i32:1.5", "it is no integer of 64 bits"},
      {"i32:2147483648", "it is not between -2147483648 and 2147483647"},
      {"u32:-1", "it is not between 0 and 4294967295"},
      {"u64:-1", "it is not between 0 and 18446744073709551615"},
      {"u64:18446744073709551616", "it is no integer of 64 bits"},
      {"i64:9223372036854775808", "it is not between -9223372036854775808 and 9223372036854775807"},
      {"bool:2", "it is not between 0 and 1"},
      {"f32:", "it is no number"},
      {"f32:1,5", "it is no number"},
      {"f32:3.5e38", "it is too large for f32"},
      {"f64:1e400", "it is too large for f64"},
      {"f16:1", "numbers of 16-bit floats are not supported"},
  };
  for (const auto& [text, why] : cases) {
    EXPECT_EQ(Error(text),
              absl::StrCat("--arg=", text, ": ", why,
                           "; expected in:FILE.npy, inout:FILE.npy, out:TYPE[DIMS]:FILE.npy, "
                           "value:FILE.npy or TYPE:NUMBER"));
  }
  EXPECT_EQ(Error("in:nowhere.npy"), "cannot read nowhere.npy: No such file or directory");
}

TEST(Arguments, ArePlacedAsTheKernelHasThem) {
  emulator::FlatKernel kernel;
  kernel.name = "k";
  kernel.parameter_bytes = 20;
  kernel.parameter_offsets = {0, 8, 16};
  kernel.parameter_sizes = {4, 8, 4};
  emulator::GlobalMemory memory;
  auto place = [&](const std::vector<std::string>& texts) {
    std::vector<KernelArgument> arguments;
    for (const std::string& text : texts) arguments.push_back(*ParseKernelArgument(text));
    return PlaceArguments(kernel, memory, arguments);
  };
  const absl::StatusOr<std::vector<uint8_t>> placed = place({"i32:5", "out:f32[4]:y.npy", "u32:7"});
  ASSERT_TRUE(placed.ok()) << placed.status();
  ASSERT_EQ(placed->size(), 20U);
  EXPECT_EQ((*placed)[0], 5);
  EXPECT_EQ((*placed)[16], 7);
  uintptr_t buffer = 0;
  std::memcpy(&buffer, placed->data() + 8, sizeof(buffer));
  EXPECT_TRUE(memory.Contains(reinterpret_cast<void*>(buffer), 16));
  EXPECT_EQ(place({"i32:5", "i32:6", "u32:7"}).status().message(),
            "--arg=i32:6 has 4 bytes; parameter 2 of k has 8");
  EXPECT_FALSE(place({"i32:5"}).ok());
}

}  // namespace
}  // namespace stax
