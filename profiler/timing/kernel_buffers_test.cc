#include "profiler/timing/kernel_buffers.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace stax {
namespace {

// A processor whose kernels are not needed: memory is the host's.
class HostDevice : public Device {
 public:
  const DeviceInfo& info() const override { return info_; }
  absl::StatusOr<void*> Allocate(size_t bytes) override { return malloc(bytes); }
  void Free(void* memory) override { free(memory); }
  absl::Status CopyIn(void* to, const void* from, size_t bytes) override {
    if (bytes > 0) memcpy(to, from, bytes);
    return absl::OkStatus();
  }
  absl::Status CopyOut(void* to, const void* from, size_t bytes) override {
    return CopyIn(to, from, bytes);
  }
  absl::Status Copy(void* to, const void* from, size_t bytes, StreamHandle) override {
    return CopyIn(to, from, bytes);
  }
  absl::Status Synchronize() override { return absl::OkStatus(); }
  absl::StatusOr<std::unique_ptr<LoadedKernel>> Load(const Variant&) override {
    return absl::UnimplementedError("no kernels");
  }

 private:
  DeviceInfo info_;
};

// Writes `count` bytes at `offset` from the start of its second buffer.
class Writer : public LoadedKernel {
 public:
  Writer(int64_t offset, size_t count) : offset_(offset), count_(count) {}
  absl::Status Launch(absl::Span<void* const> buffers, absl::Span<const int64_t>, int64_t,
                      StreamHandle) override {
    memset(static_cast<char*>(buffers[1]) + offset_, 1, count_);
    return absl::OkStatus();
  }

 private:
  int64_t offset_;
  size_t count_;
};

Kernel SampleKernel() {
  Kernel kernel;
  kernel.set_loop_nest(
      "nest n {\n  size n in [2, 1000000000] hint 64\n  buffer x: f32[n - 2] in\n"
      "  buffer y: f32[n - 2] out\n  loop i0: n - 2\n  %0 = load x[i0] : f32\n"
      "  store y[i0], %0\n}\n");
  return kernel;
}

TEST(KernelBuffers, AWriteOutsideABufferIsSeenAndNamed) {
  HostDevice device;
  auto buffers = KernelBuffers::Make(SampleKernel(), {{"n", 10}}, &device);
  ASSERT_TRUE(buffers.ok()) << buffers.status();
  Writer inside(0, 32);
  ASSERT_TRUE((*buffers)->Launch(inside, 1).ok());
  EXPECT_TRUE((*buffers)->CheckGuards().ok());
  for (int64_t offset : {-4096, -1, 32, 32 + 4095}) {
    auto fresh = KernelBuffers::Make(SampleKernel(), {{"n", 10}}, &device);
    Writer outside(offset, 1);
    ASSERT_TRUE((*fresh)->Launch(outside, 1).ok());
    absl::Status status = (*fresh)->CheckGuards();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << offset;
    EXPECT_EQ(status.message(), "bytes outside buffer y were overwritten");
  }
}

TEST(KernelBuffers, OutputsStartPoisonedAndInputsDoNot) {
  HostDevice device;
  auto buffers = KernelBuffers::Make(SampleKernel(), {{"n", 10}}, &device);
  ASSERT_TRUE(buffers.ok()) << buffers.status();
  EXPECT_EQ(*(*buffers)->Read(1), std::vector<std::byte>(32, std::byte{0xff}));
  EXPECT_NE(*(*buffers)->Read(0), std::vector<std::byte>(32, std::byte{0xff}));
}

TEST(KernelBuffers, SizesThatMakeNoSenseAreErrors) {
  HostDevice device;
  EXPECT_EQ(KernelBuffers::Make(SampleKernel(), {}, &device).status().message(),
            "the size n has no value");
  EXPECT_EQ(KernelBuffers::Make(SampleKernel(), {{"n", -7}}, &device).status().message(),
            "buffer x has -9 elements at these sizes");
  EXPECT_EQ(
      KernelBuffers::Make(SampleKernel(), {{"n", int64_t{1} << 62}}, &device).status().message(),
      absl::StrCat("buffer x has ", (int64_t{1} << 62) - 2, " elements at these sizes"));
}

TEST(KernelBuffers, NothingToLaunchIsAnError) {
  HostDevice device;
  auto buffers = KernelBuffers::Make(SampleKernel(), {{"n", 2}}, &device);
  ASSERT_TRUE(buffers.ok()) << buffers.status();
  Variant variant;
  variant.set_entry("n");
  variant.set_grid_x("n - 2");
  absl::StatusOr<int64_t> grid = (*buffers)->Grid(variant);
  EXPECT_EQ(grid.status().message(), "n has nothing to do at these sizes; give others");
}

}  // namespace
}  // namespace stax
