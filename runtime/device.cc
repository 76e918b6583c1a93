#include "runtime/device.h"

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/cuda/cuda_device.h"
#include "runtime/emulator/emulator_device.h"

namespace stax {

absl::StatusOr<std::unique_ptr<Device>> OpenDevice(absl::string_view name) {
  if (name == "cpu") return OpenCpuDevice(/*threads=*/0);
  if (name == "emu") return OpenEmulator();
  if (name == "cuda") return OpenCudaDevice(0);
  absl::string_view rest = name;
  int ordinal = 0;
  if (absl::ConsumePrefix(&rest, "cuda:") && absl::SimpleAtoi(rest, &ordinal) && ordinal >= 0)
    return OpenCudaDevice(ordinal);
  return absl::InvalidArgumentError(
      absl::StrCat("unknown device '", name, "'; known are cpu, cuda, cuda:N and emu"));
}

std::string CodeKind(const DeviceInfo& info) { return info.kind == "emu" ? "cuda" : info.kind; }

std::string DeviceIdentity(const DeviceInfo& info) {
  if (info.kind != "cpu") return info.name;
  return absl::StrCat(info.name, ", ", info.multiprocessors, " cores");
}

std::string DefaultDeviceName() { return OpenCudaDevice(0).ok() ? "cuda:0" : "cpu"; }

}  // namespace stax
