#include "runtime/graph_policy.h"

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace stax {
namespace {

// Logs what reaches it; records graphs whose launches run when they are replayed.
class GraphDevice : public Device {
 public:
  GraphDevice() { info_.kind = "cpu"; }
  const DeviceInfo& info() const override { return info_; }
  absl::StatusOr<void*> Allocate(size_t) override { return log.emplace_back("allocate"), nullptr; }
  void Free(void*) override {}
  absl::Status CopyIn(void*, const void*, size_t) override { return absl::OkStatus(); }
  absl::Status CopyOut(void*, const void*, size_t) override { return absl::OkStatus(); }
  absl::Status Copy(void*, const void*, size_t, StreamHandle) override { return absl::OkStatus(); }
  absl::Status Synchronize() override { return log.emplace_back("wait"), absl::OkStatus(); }
  absl::StatusOr<std::unique_ptr<LoadedKernel>> Load(const Variant&) override { return nullptr; }
  bool RecordsGraphs() const override { return records; }
  bool IsRecording(StreamHandle stream) override { return stream != nullptr && stream == captured; }
  absl::StatusOr<std::unique_ptr<LaunchGraph>> Record(
      absl::FunctionRef<absl::Status(StreamHandle)> launches) override {
    log.emplace_back("record");
    if (!record_failure.ok()) return record_failure;
    if (absl::Status status = launches(&own_stream); !status.ok()) return status;
    return std::make_unique<Graph>(*this);
  }

  bool records = true;
  absl::Status record_failure, replay_failure;
  StreamHandle captured = nullptr;  // by the host
  std::vector<std::string> log;
  int own_stream = 0;

 private:
  struct Graph : LaunchGraph {
    explicit Graph(GraphDevice& device) : device(device) {}
    absl::Status Replay(StreamHandle) override {
      device.log.emplace_back("replay");
      return device.replay_failure;
    }
    GraphDevice& device;
  };
  DeviceInfo info_;
};

Program TwoLaunches() {
  Program program;
  program.add_buffers()->set_name("x");
  program.add_inputs(0);
  program.add_launches();
  program.add_launches();
  return program;
}

using Log = std::vector<std::string>;

class GraphPolicyTest : public testing::Test {
 protected:
  // What reached the device in a run with these addresses.
  Log Run(const std::vector<void*>& addresses, StreamHandle stream = nullptr) {
    device_.log.clear();
    absl::Status status = policy_.Run(
        addresses,
        [&](StreamHandle to) {
          device_.log.emplace_back(to == &device_.own_stream ? "recorded launch" : "launch");
          return absl::OkStatus();
        },
        stream);
    EXPECT_TRUE(status.ok()) << status;
    return device_.log;
  }

  int memory_[16] = {};
  std::vector<void*> a_ = {&memory_[0], &memory_[1]};
  std::vector<void*> b_ = {&memory_[0], &memory_[2]};
  GraphDevice device_;
  GraphPolicy policy_{TwoLaunches(), &device_};
};

const Log kDirect = {"launch"};
const Log kRecorded = {"record", "recorded launch", "replay"};
const Log kReplayed = {"replay"};

// The replay neither allocates nor waits: the log would say so.
TEST_F(GraphPolicyTest, TheSameAddressesTwiceAreRecordedAndThenReplayed) {
  EXPECT_EQ(policy_.why_direct(), "");
  EXPECT_EQ(Run(a_), kDirect);
  EXPECT_EQ(Run(a_), kRecorded);
  EXPECT_EQ(Run(a_), kReplayed);
  EXPECT_EQ(policy_.replays(), 2);
}

TEST_F(GraphPolicyTest, AnotherAddressIsLaunchedDirectlyAndTheGraphStays) {
  Run(a_);
  Run(a_);
  EXPECT_EQ(Run(b_), kDirect);
  EXPECT_EQ(Run(a_), kReplayed);
  EXPECT_EQ(Run({a_[0]}), kDirect);  // another number of them
  Run(b_);
  EXPECT_EQ(Run(b_), kRecorded);
  EXPECT_EQ(Run(a_), kReplayed);
}

TEST_F(GraphPolicyTest, OnlySoManyGraphsAreKept) {
  for (int i = 0; i < GraphPolicy::kMaxGraphs; ++i) {
    Run({&memory_[i]});
    EXPECT_EQ(Run({&memory_[i]}), kRecorded);
  }
  Run({&memory_[9]});
  EXPECT_EQ(Run({&memory_[9]}), kDirect);
  EXPECT_EQ(Run({&memory_[0]}), kReplayed);
}

TEST_F(GraphPolicyTest, AFailedRecordingFallsBackForGood) {
  device_.record_failure = absl::InternalError("no capture");
  Run(a_);
  EXPECT_EQ(Run(a_), (Log{"record", "launch"}));
  device_.record_failure = absl::OkStatus();
  EXPECT_EQ(Run(a_), kDirect);
  EXPECT_EQ(Run(a_), kDirect);
  EXPECT_EQ(policy_.why_direct(), "recording failed: no capture");
}

TEST_F(GraphPolicyTest, AFailedReplayFallsBackForGood) {
  Run(a_);
  Run(a_);
  device_.replay_failure = absl::InternalError("no launch");
  EXPECT_EQ(Run(a_), (Log{"replay", "launch"}));
  device_.replay_failure = absl::OkStatus();
  EXPECT_EQ(Run(a_), kDirect);
  EXPECT_EQ(policy_.why_direct(), "replay failed: no launch");
}

TEST_F(GraphPolicyTest, WithinACaptureOfTheHostItLaunches) {
  Run(a_);
  Run(a_);
  device_.captured = &memory_[3];
  EXPECT_EQ(Run(a_, &memory_[3]), kDirect);
  EXPECT_EQ(Run(b_, &memory_[3]), kDirect);
  EXPECT_EQ(Run(b_, &memory_[3]), kDirect);
  EXPECT_EQ(Run(a_), kReplayed);
}

TEST(WhyNoGraph, NamesTheCondition) {
  GraphDevice device;
  EXPECT_EQ(WhyNoGraph(TwoLaunches(), device), "");
  Program program = TwoLaunches();
  program.add_symbols()->set_name("n");
  EXPECT_EQ(WhyNoGraph(program, device), "condition 1, fixed grids and shapes: the size n varies");
  program = TwoLaunches();
  program.mutable_buffers(0)->set_is_specialised(true);
  EXPECT_EQ(WhyNoGraph(program, device),
            "condition 1, nothing read back to the host: input 'x' sets shapes");
  program = TwoLaunches();
  program.mutable_launches()->RemoveLast();
  EXPECT_EQ(WhyNoGraph(program, device), "fewer than 2 launches: a graph saves nothing");
  device.records = false;
  EXPECT_EQ(WhyNoGraph(TwoLaunches(), device),
            "condition 3, all work on one GPU: the device is cpu");
}

}  // namespace
}  // namespace stax
