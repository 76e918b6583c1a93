#include "runtime/emulator/emulator_device.h"

#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/emulator/launch/chip.h"
#include "runtime/emulator/launch/emulator_module.h"
#include "runtime/emulator/launch/fault_text.h"
#include "runtime/emulator/launch/launch.h"
#include "runtime/emulator/memory/fault.h"
#include "runtime/emulator/memory/global_memory.h"
#include "runtime/emulator/ptx/parser.h"
#include "runtime/emulator/ptx/source_line.h"
#include "runtime/host_memory.h"
#include "runtime/nest_line.h"

namespace stax {
namespace {

using emulator::CompiledKernel;
using emulator::EmulatorModule;
using emulator::Fault;

// Of the first fault.
absl::Status FaultStatus(const EmulatorModule& module, const CompiledKernel& kernel,
                         const emulator::LaunchResult& result) {
  const Fault& fault = result.faults.front();
  const std::string& name = kernel.translated.flat.name;
  std::string text = emulator::FaultText(module, kernel, fault);
  if (result.fault_count > 1) absl::StrAppend(&text, "; ", result.fault_count, " faults in all");
  absl::Status status = absl::AbortedError(text);
  // In PTX that Stax made the source is the nest.
  const ptx::Instruction* at = emulator::InstructionOf(kernel, fault);
  if (at != nullptr && ptx::SourceFile(module.module(), *at) == absl::StrCat(name, ".nest"))
    return AtNestLine(std::move(status), at->loc_line);
  return status;
}

class EmulatorKernel : public LoadedKernel {
 public:
  // `last` receives each launch.
  EmulatorKernel(std::unique_ptr<EmulatorModule> module, const CompiledKernel* kernel,
                 const Variant& variant, emulator::GlobalMemory* memory,
                 std::optional<EmulatedLaunch>* last)
      : module_(std::move(module)),
        kernel_(kernel),
        block_threads_(variant.block_threads()),
        registers_(variant.registers()),
        memory_(memory),
        last_(*last) {}

  absl::Status Launch(absl::Span<void* const> buffers, absl::Span<const int64_t> sizes,
                      int64_t grid, StreamHandle) override {
    const std::string& name = kernel_->translated.flat.name;
    if (grid > std::numeric_limits<int32_t>::max())
      return absl::OutOfRangeError(absl::StrCat(name, ": a grid of ", grid, " blocks"));
    last_.reset();
    emulator::LaunchRequest request;
    request.grid.x = static_cast<uint32_t>(grid);
    request.block.x = block_threads_;
    for (void* buffer : buffers) Append(reinterpret_cast<uintptr_t>(buffer), request.parameters);
    for (int64_t size : sizes) Append(size, request.parameters);
    absl::StatusOr<emulator::LaunchResult> result =
        emulator::Launch(*module_, *kernel_, request, memory_);
    if (!result.ok()) return result.status();
    if (!result->faults.empty()) return FaultStatus(*module_, *kernel_, *result);
    if (!result->ended.ok()) return result->ended;
    last_ = EmulatedLaunch{grid, block_threads_, kernel_->translated.flat.shared_bytes, registers_,
                           emulator::TotalsOf(kernel_->translated, *result)};
    return absl::OkStatus();
  }

 private:
  // All parameters of Stax's kernels have 8 bytes.
  template <typename T>
  static void Append(T value, std::vector<uint8_t>& to) {
    static_assert(sizeof(value) == sizeof(int64_t));
    to.resize(to.size() + sizeof(value));
    std::memcpy(to.data() + to.size() - sizeof(value), &value, sizeof(value));
  }

  std::unique_ptr<EmulatorModule> module_;
  const CompiledKernel* kernel_;
  uint32_t block_threads_;
  int registers_;
  emulator::GlobalMemory* memory_;
  std::optional<EmulatedLaunch>& last_;
};

class EmulatorDevice : public Device {
 public:
  EmulatorDevice() {
    info_.name = "Stax emulator of an H200";
    info_.kind = "emu";
    info_.multiprocessors = emulator::kMultiprocessors;
    info_.memory_bytes = HostMemoryBytes();
    info_.l2_bytes = emulator::kL2Bytes;
    info_.best_target = "cuda:sm_90a";
  }

  const DeviceInfo& info() const override { return info_; }

  absl::StatusOr<void*> Allocate(size_t bytes) override { return memory_.Allocate(bytes); }
  void Free(void* memory) override { memory_.Free(memory); }

  absl::Status CopyIn(void* device, const void* host, size_t bytes) override {
    if (bytes == 0) return absl::OkStatus();
    std::memcpy(device, host, bytes);
    memory_.MarkWritten(device, bytes);
    return absl::OkStatus();
  }
  absl::Status CopyOut(void* host, const void* device, size_t bytes) override {
    if (bytes > 0) std::memcpy(host, device, bytes);
    return absl::OkStatus();
  }
  absl::Status Copy(void* to, const void* from, size_t bytes, StreamHandle) override {
    if (bytes == 0) return absl::OkStatus();
    std::memmove(to, from, bytes);
    memory_.CopyWritten(to, from, bytes);
    return absl::OkStatus();
  }
  absl::Status Synchronize() override { return absl::OkStatus(); }

  absl::StatusOr<std::unique_ptr<LoadedKernel>> Load(const Variant& variant) override {
    if (variant.target().kind() != "cuda")
      return absl::InvalidArgumentError(
          absl::StrCat("the program is compiled for ", variant.target().kind(), ":",
                       variant.target().arch(), "; the emulator runs cuda programs"));
    absl::StatusOr<ptx::Module> parsed = ptx::ParsePtx(variant.ptx(), variant.entry());
    if (!parsed.ok()) return parsed.status();
    absl::StatusOr<std::unique_ptr<EmulatorModule>> module =
        EmulatorModule::Load(*std::move(parsed), &memory_);
    if (!module.ok()) return module.status();
    absl::StatusOr<const CompiledKernel*> kernel = (*module)->Kernel(variant.entry());
    if (!kernel.ok())
      return absl::Status(kernel.status().code(),
                          absl::StrCat(variant.entry(), ": ", kernel.status().message()));
    return std::make_unique<EmulatorKernel>(*std::move(module), *kernel, variant, &memory_, &last_);
  }

  const EmulatedLaunch* last() const { return last_.has_value() ? &*last_ : nullptr; }

 private:
  DeviceInfo info_;
  emulator::GlobalMemory memory_;
  std::optional<EmulatedLaunch> last_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Device>> OpenEmulator() {
  return std::make_unique<EmulatorDevice>();
}

const EmulatedLaunch* LastLaunch(const Device& device) {
  const auto* emulator = dynamic_cast<const EmulatorDevice*>(&device);
  return emulator == nullptr ? nullptr : emulator->last();
}

}  // namespace stax
