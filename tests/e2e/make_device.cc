// Writes a calibration of this processor with rates made up, for tests that need none: make_device
// D.device
#include <iostream>
#include <memory>

#include "absl/status/statusor.h"
#include "ir/artifact/artifact_io.h"
#include "ir/artifact/device.pb.h"
#include "runtime/device.h"

int main(int argc, char** argv) {
  absl::StatusOr<std::unique_ptr<stax::Device>> device = stax::OpenDevice("cpu");
  if (argc != 2 || !device.ok()) {
    std::cerr << "make_device: expected D.device; " << device.status() << "\n";
    return 2;
  }
  const stax::DeviceInfo& info = (*device)->info();
  stax::DeviceSpec spec;
  spec.set_schema_version(stax::kSchemaVersion);
  spec.set_name(info.name);
  spec.set_kind(info.kind);
  spec.set_multiprocessors(info.multiprocessors);
  spec.set_date("2026-11-30T08:00:00Z");
  spec.set_dram_read_bytes_per_s(11.5e9);
  spec.set_dram_write_bytes_per_s(6.25e9);
  spec.set_dram_copy_bytes_per_s(8.125e9);
  spec.set_latency_ns(98.5);
  spec.set_f32_flops_per_s(1.5e11);
  spec.set_launch_ns(7250);
  absl::Status status = stax::WriteDevice(argv[1], spec);
  if (!status.ok()) std::cerr << "make_device: " << status << "\n";
  return status.ok() ? 0 : 1;
}
