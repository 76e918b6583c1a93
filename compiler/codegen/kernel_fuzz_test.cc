// Runs the fuzz target on mutations of good kernels.
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "compiler/kernel_proto.h"
#include "gtest/gtest.h"
#include "ir/artifact/testing/sample_programs.h"
#include "ir/testing/mutate_proto.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace stax {
namespace {

constexpr int kMutations = 10000;

void Feed(const Kernel& kernel) {
  const std::string bytes = kernel.SerializeAsString();
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

TEST(KernelFuzzTest, Mutations) {
  std::vector<Kernel> seeds;
  for (const Program& program : {SymbolicSampleProgram(), TunedSampleProgram()})
    seeds.insert(seeds.end(), program.kernels().begin(), program.kernels().end());
  for (const Kernel& seed : seeds) {
    EXPECT_TRUE(KernelFromProto(seed).ok()) << KernelFromProto(seed).status();
    Feed(seed);
  }
  std::mt19937_64 random(13);
  for (int i = 0; i < kMutations; ++i) {
    Kernel kernel = seeds[random() % seeds.size()];
    for (int edits = 1 + static_cast<int>(random() % 3); edits > 0; --edits)
      MutateProto({"x", "y", "r", "n*n", "0", "XBLOCK", "CLUSTER", "red_a"}, random, &kernel);
    SCOPED_TRACE(kernel.DebugString());
    Feed(kernel);
  }
}

}  // namespace
}  // namespace stax
