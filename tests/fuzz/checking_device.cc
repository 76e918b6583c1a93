#include "tests/fuzz/checking_device.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "ir/check.h"
#include "ir/dtype.h"

namespace stax {
namespace {

constexpr size_t kAlignment = 256;

}  // namespace

class CheckingDevice::Kernel : public LoadedKernel {
 public:
  Kernel(CheckingDevice* device, const LoopNest* nest) : device_(device), nest_(nest) {}

  absl::Status Launch(absl::Span<void* const> buffers, absl::Span<const int64_t> sizes,
                      int64_t grid, StreamHandle) override {
    STAX_CHECK(grid > 0 && buffers.size() == nest_->buffers.size(), "not what the kernel takes");
    STAX_CHECK(sizes.size() == nest_->symbols.size(), "not the sizes that the kernel takes");
    std::map<std::string, int64_t> values;
    for (size_t i = 0; i < sizes.size(); ++i) values[nest_->symbols[i].name] = sizes[i];
    for (const bool write : {false, true}) {
      for (size_t i = 0; i < buffers.size(); ++i) {
        const NestBuffer& buffer = nest_->buffers[i];
        if (buffer.written != write) continue;
        const size_t bytes = buffer.numel.Evaluate(values).value() * DTypeBytes(buffer.dtype);
        STAX_CHECK(bytes == 0 || buffers[i] != nullptr, "a buffer without memory");
        if (bytes > 0) write ? Write(buffers[i], bytes) : Read(buffers[i], bytes);
      }
    }
    return absl::OkStatus();
  }

 private:
  void Read(const void* buffer, size_t bytes) const {
    const auto* data = static_cast<const unsigned char*>(buffer);
    // Touches all of it, written by a kernel or not.
    const unsigned char most = *std::max_element(data, data + bytes);
    const auto last = device_->written_.find(buffer);
    if (last == device_->written_.end()) return;
    const auto [length, value] = last->second;
    const size_t both = std::min(length, bytes);
    STAX_CHECK(static_cast<size_t>(std::count(data, data + both, value)) == both,
               absl::StrCat("a buffer was overwritten, up to ", most));
  }

  void Write(void* buffer, size_t bytes) {
    const unsigned char value = device_->next_value_++;
    std::memset(buffer, value, bytes);
    device_->written_[buffer] = {bytes, value};
  }

  CheckingDevice* device_;
  const LoopNest* nest_;
};

CheckingDevice::CheckingDevice(const Program& program, size_t limit_bytes)
    : limit_bytes_(limit_bytes) {
  info_.name = "checking";
  info_.kind = program.target().kind();
  for (const stax::Kernel& kernel : program.kernels())
    nests_.push_back(ParseLoopNest(kernel.loop_nest()).value());
}

CheckingDevice::~CheckingDevice() { STAX_CHECK(blocks_.empty(), "memory was not freed"); }

absl::StatusOr<void*> CheckingDevice::Allocate(size_t bytes) {
  size_t used = 0;
  for (const auto& [block, size] : blocks_) used += size;
  if (bytes > limit_bytes_ - used)
    return absl::ResourceExhaustedError(absl::StrCat("cannot allocate ", bytes, " bytes"));
  void* memory = nullptr;
  STAX_CHECK(posix_memalign(&memory, kAlignment, std::max<size_t>(bytes, 1)) == 0, "no memory");
  blocks_[memory] = bytes;
  return memory;
}

void CheckingDevice::Free(void* memory) {
  STAX_CHECK(blocks_.erase(memory) == 1, "freed what was not allocated");
  written_.clear();
  std::free(memory);
}

absl::Status CheckingDevice::CopyIn(void* device, const void* host, size_t bytes) {
  return Copy(device, host, bytes, nullptr);
}

absl::Status CheckingDevice::CopyOut(void* host, const void* device, size_t bytes) {
  return Copy(host, device, bytes, nullptr);
}

absl::Status CheckingDevice::Copy(void* to, const void* from, size_t bytes, StreamHandle) {
  if (bytes > 0) std::memmove(to, from, bytes);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<LoadedKernel>> CheckingDevice::Load(const Variant&) {
  return KernelAt(loaded_++);
}

std::unique_ptr<LoadedKernel> CheckingDevice::KernelAt(int position) {
  return std::make_unique<Kernel>(this, &nests_[position]);
}

}  // namespace stax
