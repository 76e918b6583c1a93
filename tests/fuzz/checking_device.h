// A device without code: its kernels touch every byte that their nests declare, as native code
// would, and check that what they read is what the last kernel wrote there. Under AddressSanitizer
// each buffer ends where it should.
#ifndef STAX_TESTS_FUZZ_CHECKING_DEVICE_H_
#define STAX_TESTS_FUZZ_CHECKING_DEVICE_H_

#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "ir/artifact/program.pb.h"
#include "ir/loop_nest.h"
#include "runtime/device.h"

namespace stax {

class CheckingDevice : public Device {
 public:
  // For the kernels of `program`, which passes VerifyProgram. At most `limit_bytes` are allocated
  // at a time.
  CheckingDevice(const Program& program, size_t limit_bytes);
  ~CheckingDevice() override;

  const DeviceInfo& info() const override { return info_; }
  absl::StatusOr<void*> Allocate(size_t bytes) override;
  void Free(void* memory) override;
  absl::Status CopyIn(void* device, const void* host, size_t bytes) override;
  absl::Status CopyOut(void* host, const void* device, size_t bytes) override;
  absl::Status Copy(void* to, const void* from, size_t bytes, StreamHandle stream) override;
  absl::Status Synchronize() override { return absl::OkStatus(); }
  // The kernels in the program's order, whatever the variant.
  absl::StatusOr<std::unique_ptr<LoadedKernel>> Load(const Variant& variant) override;

  std::unique_ptr<LoadedKernel> KernelAt(int position);

 private:
  class Kernel;

  DeviceInfo info_;
  size_t limit_bytes_;
  std::vector<LoopNest> nests_;
  int loaded_ = 0;
  unsigned char next_value_ = 1;
  std::map<void*, size_t> blocks_;
  // Where kernels wrote what: start, number of bytes, value of each byte.
  std::map<const void*, std::pair<size_t, unsigned char>> written_;
};

}  // namespace stax

#endif  // STAX_TESTS_FUZZ_CHECKING_DEVICE_H_
