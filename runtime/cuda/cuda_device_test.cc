// Runs on a GPU (the test of two contexts on two), and everywhere on the fake driver.
#include "runtime/cuda/cuda_device.h"

#include <dlfcn.h>

#include <thread>

#include "gtest/gtest.h"
#include "runtime/cuda/driver.h"

namespace stax {
namespace {

#ifdef STAX_FAKE_DRIVER
// The name in the library is libcuda.so.1: whoever opens that later gets this one.
void* const fake_driver = dlopen("runtime/cuda/fake_driver.so", RTLD_NOW | RTLD_GLOBAL);
#endif

// *to = 7.
constexpr char kPtx[] = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry seven(.param .u64 to)
{
  .reg .b64 %a;
  ld.param.u64 %a, [to];
  st.global.u32 [%a], 7;
  ret;
}
)";

Variant Seven() {
  Variant variant;
  variant.mutable_target()->set_kind("cuda");
  variant.mutable_target()->set_arch("sm_80");
  variant.set_entry("seven");
  variant.set_ptx(kPtx);
  variant.set_block_threads(1);
  return variant;
}

// Everything a caller does with the device.
void UseDevice(Device& device, LoadedKernel& kernel, int expected = 7) {
  absl::StatusOr<void*> memory = device.Allocate(4);
  ASSERT_TRUE(memory.ok()) << memory.status();
  absl::Status status = kernel.Launch({*memory}, {}, 1, nullptr);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_TRUE(device.Synchronize().ok());
  int got = 0;
  EXPECT_TRUE(device.CopyOut(&got, *memory, 4).ok());
  EXPECT_EQ(got, expected);
  device.Free(*memory);
}

TEST(CudaDevice, AThreadWithoutAContextMayUseIt) {
  auto device = OpenCudaDevice(0);
  ASSERT_TRUE(device.ok()) << device.status();
  auto kernel = (*device)->Load(Seven());
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  UseDevice(**device, **kernel);
  std::thread([&] {
    absl::StatusOr<void*> memory = (*device)->Allocate(4);
    ASSERT_TRUE(memory.ok());
    // Of a thread of its own each, so that no call gains from the one before.
    std::thread([&] {
      absl::Status status = (*kernel)->Launch({*memory}, {}, 1, nullptr);
      EXPECT_TRUE(status.ok()) << status;
    }).join();
    (*device)->Free(*memory);
  }).join();
  std::thread([&] { kernel->reset(); }).join();
}

TEST(CudaDevice, ItsOwnMajorVersionsCubinIsUsed) {
#ifdef STAX_FAKE_DRIVER
  ASSERT_NE(fake_driver, nullptr) << dlerror();
  auto device = OpenCudaDevice(1);
  ASSERT_TRUE(device.ok()) << device.status();
  EXPECT_EQ((*device)->info().best_target, "cuda:sm_90a");
  Variant variant = Seven();
  variant.mutable_target()->set_arch("sm_90a");
  variant.set_ptx("nothing the driver takes");
  EXPECT_EQ((*device)->Load(variant).status().code(), absl::StatusCode::kInternal);
  variant.set_cubin("sm_90a code");
  EXPECT_TRUE((*device)->Load(variant).ok());
#else
  GTEST_SKIP() << "on the fake driver only: it says what it takes";
#endif
}

// A kernel that waits itself for those before it is launched by cuLaunchKernelEx.
TEST(CudaDevice, ProgrammaticLaunch) {
  auto device = OpenCudaDevice(0);
  ASSERT_TRUE(device.ok()) << device.status();
  Variant variant = Seven();
  variant.set_programmatic_launch(true);
  auto kernel = (*device)->Load(variant);
  ASSERT_TRUE(kernel.ok()) << kernel.status();
#ifdef STAX_FAKE_DRIVER
  UseDevice(**device, **kernel, /*expected=*/8);  // so that the two are told apart
#else
  UseDevice(**device, **kernel);
#endif
}

TEST(CudaDevice, AGraphRunsWhenItIsReplayed) {
  auto device = OpenCudaDevice(0);
  ASSERT_TRUE(device.ok()) << device.status();
  auto kernel = (*device)->Load(Seven());
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  absl::StatusOr<void*> memory = (*device)->Allocate(4);
  ASSERT_TRUE(memory.ok());
  int got = 3;
  ASSERT_TRUE((*device)->CopyIn(*memory, &got, 4).ok());
  EXPECT_FALSE((*device)->IsRecording(nullptr));
  bool recording = false;
  auto graph = (*device)->Record([&](StreamHandle stream) {
    recording = (*device)->IsRecording(stream);
    return (*kernel)->Launch({*memory}, {}, 1, stream);
  });
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_TRUE(recording);
  ASSERT_TRUE((*device)->Synchronize().ok());
  ASSERT_TRUE((*device)->CopyOut(&got, *memory, 4).ok());
  EXPECT_EQ(got, 3);
  ASSERT_TRUE((*graph)->Replay(nullptr).ok());
  ASSERT_TRUE((*device)->Synchronize().ok());
  ASSERT_TRUE((*device)->CopyOut(&got, *memory, 4).ok());
  EXPECT_EQ(got, 7);
  (*device)->Free(*memory);
}

TEST(CudaDevice, AFailureWhileRecordingIsReportedAndLaterGraphsWork) {
  auto device = OpenCudaDevice(0);
  ASSERT_TRUE(device.ok()) << device.status();
  auto failed = (*device)->Record([](StreamHandle) { return absl::InternalError("refused"); });
  EXPECT_EQ(failed.status(), absl::InternalError("refused"));
  EXPECT_TRUE((*device)->Record([](StreamHandle) { return absl::OkStatus(); }).ok());
}

TEST(CudaDevice, TheThreadsOwnContextStaysCurrent) {
  auto driver = cuda::GetDriver();
  ASSERT_TRUE(driver.ok()) << driver.status();
  int count = 0;
  (*driver)->DeviceGetCount(&count);
  if (count < 2) GTEST_SKIP() << "one GPU";
  cuda::CUcontext other = nullptr;
  ASSERT_EQ((*driver)->DevicePrimaryCtxRetain(&other, 1), 0);
  ASSERT_EQ((*driver)->CtxSetCurrent(other), 0);
  auto current = [&] {
    cuda::CUcontext context = nullptr;
    (*driver)->CtxGetCurrent(&context);
    return context;
  };
  auto device = OpenCudaDevice(0);
  ASSERT_TRUE(device.ok()) << device.status();
  EXPECT_EQ(current(), other);
  auto kernel = (*device)->Load(Seven());
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  EXPECT_EQ(current(), other);
  UseDevice(**device, **kernel);
  EXPECT_EQ(current(), other);
  kernel->reset();
  EXPECT_EQ(current(), other);
  (*driver)->DevicePrimaryCtxRelease(1);
}

// The cubin of sm_80 runs on 8.x only; on later devices the driver must get the PTX.
TEST(CudaDevice, ACubinOfAnotherMajorVersionIsNotUsed) {
  auto driver = cuda::GetDriver();
  ASSERT_TRUE(driver.ok()) << driver.status();
  int major = 0;
  (*driver)->DeviceGetAttribute(&major, cuda::kComputeCapabilityMajor, 0);
  if (major == 8) GTEST_SKIP() << "its cubins run here";
  auto device = OpenCudaDevice(0);
  ASSERT_TRUE(device.ok()) << device.status();
  Variant variant = Seven();
  variant.set_cubin("what ptxas made for sm_80");
  auto kernel = (*device)->Load(variant);
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  UseDevice(**device, **kernel);
}

}  // namespace
}  // namespace stax
