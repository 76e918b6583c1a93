// Runs the fuzz target of .device and .report files on mutations of good ones.
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "ir/artifact/artifact_io.h"
#include "ir/artifact/testing/sample_programs.h"
#include "ir/testing/mutate_proto.h"
#include "tests/fuzz/envelope.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace stax {
namespace {

constexpr int kMutations = 4000;

void Feed(const std::string& bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

TEST(DeviceReportFuzzTest, SeedsAreUsable) {
  const std::string device = SerializeDeterministically(SampleDevice());
  const std::string report = SerializeDeterministically(SampleReport());
  EXPECT_TRUE(DecodeDevice(Envelope(ArtifactKind::kDevice, device)).ok());
  EXPECT_TRUE(DecodeReport(Envelope(ArtifactKind::kReport, report)).ok());
  Feed('\0' + device);
  Feed('\1' + report);
}

TEST(DeviceReportFuzzTest, MutatedMessages) {
  std::mt19937_64 random(7);
  const std::vector<std::string> texts = {"<script>", "&", "cpu", ""};
  for (int i = 0; i < kMutations; ++i) {
    DeviceSpec device = SampleDevice();
    ProfileReport report = SampleReport();
    for (int edits = 1 + static_cast<int>(random() % 4); edits > 0; --edits) {
      MutateProto(texts, random, &device);
      MutateProto(texts, random, &report);
    }
    SCOPED_TRACE(device.DebugString() + report.DebugString());
    Feed('\0' + SerializeDeterministically(device));
    Feed('\1' + SerializeDeterministically(report));
  }
}

}  // namespace
}  // namespace stax
