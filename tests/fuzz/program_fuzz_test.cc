// Runs the fuzz targets of artifacts on mutations of good ones: a fixed search that takes seconds,
// for every test run.
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "ir/artifact/artifact_io.h"
#include "ir/testing/mutate_proto.h"
#include "tests/fuzz/envelope.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace stax {
namespace {

constexpr int kMutations = 6000;

void Feed(const std::string& payload) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(payload.data()), payload.size());
}

bool IsUsable(const std::string& payload) {
  return DecodeProgram(Envelope(ArtifactKind::kProgram, payload)).ok();
}

TEST(ProgramFuzzTest, SeedsAreUsable) {
  for (const std::string& seed : ProgramSeeds()) {
    EXPECT_TRUE(IsUsable(seed)) << DecodeProgram(Envelope(ArtifactKind::kProgram, seed)).status();
    Feed(seed);
  }
  Feed("");
}

TEST(ProgramFuzzTest, MutatedMessages) {
  const std::vector<std::string> seeds = ProgramSeeds(), texts = ProgramTexts();
  std::mt19937_64 random(7);
  int usable = 0;
  for (int i = 0; i < kMutations; ++i) {
    Program program;
    ASSERT_TRUE(program.ParseFromString(seeds[random() % seeds.size()]));
    for (int edits = 1 + static_cast<int>(random() % 3); edits > 0; --edits)
      MutateProto(texts, random, &program);
    if (random() % 4 == 0) ChangeShape(random, &program);
    if (random() % 2 == 0) RepairSizes(&program);
    const std::string payload = SerializeDeterministically(program);
    SCOPED_TRACE(program.DebugString());
    Feed(payload);
    usable += IsUsable(payload);
  }
  // Both sides of the verifier are searched.
  EXPECT_GT(usable, kMutations / 10);
  EXPECT_LT(usable, kMutations * 9 / 10);
}

TEST(ProgramFuzzTest, MutatedBytes) {
  std::mt19937_64 random(8);
  for (int i = 0; i < kMutations / 4; ++i) {
    std::string payload = ProgramSeeds()[random() % 2];
    for (int edits = 1 + static_cast<int>(random() % 3); edits > 0; --edits)
      payload[random() % payload.size()] = static_cast<char>(random());
    if (random() % 4 == 0) payload.resize(random() % payload.size());
    Feed(payload);
  }
}

}  // namespace
}  // namespace stax
