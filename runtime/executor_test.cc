#include "runtime/executor.h"

#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "runtime/nest_line.h"

namespace stax {
namespace {

// Host memory with a limit, a log of what was done, and one kernel: it adds 1 to each of the floats
// of its first buffer.
class FakeDevice : public Device {
 public:
  const DeviceInfo& info() const override { return info_; }
  absl::StatusOr<void*> Allocate(size_t bytes) override {
    if (bytes > limit) return absl::ResourceExhaustedError(absl::StrCat("no ", bytes, " bytes"));
    ++allocations;
    return malloc(bytes + 1);
  }
  void Free(void* memory) override { free(memory); }
  absl::Status CopyIn(void* to, const void* from, size_t bytes) override {
    log.emplace_back("in");
    memcpy(to, from, bytes);
    return absl::OkStatus();
  }
  absl::Status CopyOut(void* to, const void* from, size_t bytes) override {
    log.emplace_back("out");
    memcpy(to, from, bytes);
    return absl::OkStatus();
  }
  absl::Status Copy(void* to, const void* from, size_t bytes, StreamHandle) override {
    Do([=] { memcpy(to, from, bytes); });
    return absl::OkStatus();
  }
  absl::Status Synchronize() override {
    log.emplace_back("wait");
    return absl::OkStatus();
  }
  absl::StatusOr<std::unique_ptr<LoadedKernel>> Load(const Variant&) override {
    return std::make_unique<AddOne>(failure, *this);
  }
  bool RecordsGraphs() const override { return records; }
  absl::StatusOr<std::unique_ptr<LaunchGraph>> Record(
      absl::FunctionRef<absl::Status(StreamHandle)> launches) override {
    log.emplace_back("record");
    auto graph = std::make_unique<Graph>();
    recorded_ = &graph->work;
    absl::Status status = launches(nullptr);
    recorded_ = nullptr;
    if (!status.ok()) return status;
    return graph;
  }

  bool records = false;
  size_t limit = SIZE_MAX;
  absl::Status failure;  // of launches of what is loaded from now on
  int allocations = 0;
  std::vector<std::string> log;

 private:
  class AddOne : public LoadedKernel {
   public:
    AddOne(absl::Status failure, FakeDevice& device)
        : failure_(std::move(failure)), device_(device) {}
    absl::Status Launch(absl::Span<void* const> buffers, absl::Span<const int64_t> sizes, int64_t,
                        StreamHandle) override {
      if (buffers[0] == nullptr || buffers[1] == nullptr)
        return absl::InternalError("a buffer without memory");
      if (!failure_.ok()) return failure_;
      const auto* from = static_cast<const float*>(buffers[0]);
      auto* to = static_cast<float*>(buffers[1]);
      const int64_t count = sizes.empty() ? 4 : sizes[0];
      device_.Do([=] {
        for (int64_t i = 0; i < count; ++i) to[i] = from[i] + 1;
      });
      return absl::OkStatus();
    }

   private:
    absl::Status failure_;
    FakeDevice& device_;
  };
  struct Graph : LaunchGraph {
    absl::Status Replay(StreamHandle) override {
      for (const auto& step : work) step();
      return absl::OkStatus();
    }
    std::vector<std::function<void()>> work;
  };
  // Now, or in each replay of what is being recorded.
  void Do(std::function<void()> step) {
    if (recorded_ == nullptr) return step();
    recorded_->push_back(std::move(step));
  }

  DeviceInfo info_;
  std::vector<std::function<void()>>* recorded_ = nullptr;
};

Buffer MakeBuffer(const std::string& name, Buffer::Kind kind) {
  Buffer buffer;
  buffer.set_name(name);
  buffer.set_kind(kind);
  buffer.set_dtype("f32");
  buffer.add_dims("n");
  buffer.mutable_size_bytes()->set_string_value("4*n");
  return buffer;
}

// y = x + 1 + 1 by way of a temporary; y is also given as "again".
Program SampleProgram() {
  Program program;
  program.mutable_target()->set_kind("cpu");
  SizeSymbolProto* symbol = program.add_symbols();
  symbol->set_name("n");
  symbol->set_lower(2);
  symbol->set_upper(int64_t{1} << 40);
  symbol->set_hint(64);
  *program.add_buffers() = MakeBuffer("x", Buffer::INPUT);
  *program.add_buffers() = MakeBuffer("t", Buffer::TEMPORARY);
  *program.add_buffers() = MakeBuffer("y", Buffer::OUTPUT);
  Kernel* kernel = program.add_kernels();
  kernel->set_loop_nest(
      "nest k {\n  size n in [2, 1099511627776] hint 64\n  buffer a: f32[n] in\n"
      "  buffer b: f32[n] out\n  loop i0: n\n  %0 = load a[i0] : f32\n  store b[i0], %0\n}\n");
  for (auto* number :
       {kernel->mutable_read_bytes(), kernel->mutable_write_bytes(), kernel->mutable_flops()})
    number->set_number_value(0);
  kernel->add_candidates();
  kernel->mutable_variant()->set_grid_x("n");
  kernel->mutable_variant()->set_entry("k");
  kernel->mutable_variant()->set_object("code");
  *kernel->mutable_variant()->mutable_target() = program.target();
  for (auto [from, to] : {std::pair{0, 1}, std::pair{1, 2}}) {
    Launch* launch = program.add_launches();
    launch->add_buffers(from);
    launch->add_buffers(to);
  }
  program.add_inputs(0);
  for (const char* name : {"y", "again"}) {
    Output* output = program.add_outputs();
    output->set_name(name);
    output->set_buffer(2);
  }
  return program;
}

TensorRef Ref(std::vector<float>& values) {
  return {values.data(), DType::kF32, {static_cast<int64_t>(values.size())}, {}};
}

class ExecutorTest : public testing::Test {
 protected:
  void Make(const Program& program) {
    auto executor = Executor::Create(program, &device_);
    ASSERT_TRUE(executor.ok()) << executor.status();
    executor_ = *std::move(executor);
  }
  absl::Status Run(int64_t n) {
    std::vector<float> x(n, 1), y(n), again(n);
    absl::Status status = executor_->Run({Ref(x)}, {Ref(y), Ref(again)}, nullptr);
    if (status.ok()) {
      EXPECT_EQ(y, std::vector<float>(n, 3));
      EXPECT_EQ(again, y);
    }
    return status;
  }

  FakeDevice device_;
  std::unique_ptr<Executor> executor_;
};

TEST_F(ExecutorTest, AFailedLaunchQuotesItsOp) {
  device_.failure = AtNestLine(absl::AbortedError("out of bounds"), 7);
  Make(SampleProgram());
  EXPECT_EQ(Run(5), absl::AbortedError("out of bounds; the op: store b[i0], %0"));
}

TEST_F(ExecutorTest, TheSecondRunWithTheSameSizesAllocatesNothing) {
  Make(SampleProgram());
  EXPECT_TRUE(Run(5).ok());
  int before = device_.allocations;
  EXPECT_TRUE(Run(5).ok());
  EXPECT_TRUE(Run(4).ok());  // fits what is there
  EXPECT_EQ(device_.allocations, before);
  EXPECT_TRUE(Run(500).ok());
  EXPECT_EQ(device_.allocations, before + 1);
}

TEST_F(ExecutorTest, RunsAgainAfterARunThatHadNoMemory) {
  Make(SampleProgram());
  EXPECT_TRUE(Run(5).ok());
  device_.limit = 1024;
  EXPECT_EQ(Run(5000).code(), absl::StatusCode::kResourceExhausted);
  absl::Status status = Run(5);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(Run(5000).code(), absl::StatusCode::kResourceExhausted);
  device_.limit = SIZE_MAX;
  EXPECT_TRUE(Run(5000).ok());
}

TEST_F(ExecutorTest, OutputsMayNotOverlapAnything) {
  Make(SampleProgram());
  std::vector<float> memory(30);
  auto at = [&](int offset) { return TensorRef{memory.data() + offset, DType::kF32, {10}, {}}; };
  EXPECT_TRUE(executor_->Run({at(0)}, {at(10), at(20)}, nullptr).ok());
  EXPECT_EQ(executor_->Run({at(0)}, {at(0), at(20)}, nullptr).message(),
            "output 'y' overlaps input 'x' in memory");
  EXPECT_EQ(executor_->Run({at(0)}, {at(10), at(9)}, nullptr).message(),
            "output 'again' overlaps input 'x' in memory");
  EXPECT_EQ(executor_->Run({at(0)}, {at(10), at(19)}, nullptr).message(),
            "output 'again' overlaps output 'y' in memory");
}

TEST_F(ExecutorTest, TheValueOfAnInputThatSetsShapesIsReadWhenItIsThere) {
  Program program = SampleProgram();
  const float wanted[] = {1, 1};
  program.mutable_buffers(0)->set_is_specialised(true);
  program.mutable_buffers(0)->set_required_value(
      std::string(reinterpret_cast<const char*>(wanted), sizeof(wanted)));
  Make(program);
  device_.log.clear();
  EXPECT_TRUE(Run(2).ok());
  ASSERT_GE(device_.log.size(), 2u);
  EXPECT_EQ(device_.log[0], "wait");  // for the caller's stream
  EXPECT_EQ(device_.log[1], "out");
  std::vector<float> x(2, 7), y(2), again(2);
  EXPECT_EQ(executor_->Run({Ref(x)}, {Ref(y), Ref(again)}, nullptr).message(),
            "input 'x' sets shapes, and the program was compiled for another value of it; compile "
            "the model again with this value");
  // Of another size, it is another value; nothing is read beyond it.
  EXPECT_EQ(Run(3).code(), absl::StatusCode::kInvalidArgument);
}

// The same with sizes fixed: n is 4.
Program FixedProgram() {
  Program program = SampleProgram();
  program.clear_symbols();
  for (Buffer& buffer : *program.mutable_buffers()) {
    buffer.set_dims(0, "4");
    buffer.mutable_size_bytes()->set_number_value(16);
  }
  program.mutable_kernels(0)->set_loop_nest(
      "nest k {\n  buffer a: f32[4] in\n  buffer b: f32[4] out\n  loop i0: 4\n"
      "  %0 = load a[i0] : f32\n  store b[i0], %0\n}\n");
  program.mutable_kernels(0)->mutable_variant()->set_grid_x("1");
  return program;
}

TEST_F(ExecutorTest, GraphsReplayLaunchesAndCopiesWithNothingAllocatedNorWaitedFor) {
  device_.records = true;
  Make(FixedProgram());
  executor_->UseGraphs();
  std::vector<float> x(4, 1), y(4), again(4);
  auto run = [&] {
    absl::Status status = executor_->Run({Ref(x)}, {Ref(y), Ref(again)}, nullptr);
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(y, std::vector<float>(4, x[0] + 2));
    EXPECT_EQ(again, y);
  };
  run();
  const int allocations = device_.allocations;
  device_.log.clear();
  for (float value : {2.0F, 3.0F, 4.0F, 5.0F}) {
    x.assign(4, value);
    run();
  }
  EXPECT_EQ(executor_->graph_replays(), 4);
  EXPECT_EQ(executor_->WhyNoGraphs(), "");
  EXPECT_EQ(device_.allocations, allocations);
  EXPECT_EQ(device_.log, std::vector<std::string>{"record"});
  EXPECT_EQ(executor_->temporary_bytes(), 256);  // 16, to a multiple of 256
  std::vector<float> other(4);
  EXPECT_TRUE(executor_->Run({Ref(x)}, {Ref(y), Ref(other)}, nullptr).ok());
  EXPECT_EQ(other, y);
  EXPECT_EQ(executor_->graph_replays(), 4);
}

TEST_F(ExecutorTest, ConstantsHaveArrivedWhenTheProgramIsThere) {
  Program program = SampleProgram();
  Buffer constant = MakeBuffer("c", Buffer::CONSTANT);
  constant.set_dims(0, "1");
  constant.mutable_size_bytes()->set_number_value(4);
  constant.set_data(std::string(4, '\0'));
  *program.add_buffers() = constant;
  Make(program);
  EXPECT_EQ(device_.log, (std::vector<std::string>{"in", "wait"}));
}

}  // namespace
}  // namespace stax
