// Fuzz target of .device and .report files: whatever the payload, a message and exit code 2, or an
// artifact that prints, predicts and draws. The first byte tells which of the two it is.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ir/artifact/artifact_io.h"
#include "ir/artifact/testing/sample_programs.h"
#include "ir/check.h"
#include "ir/testing/mutate_proto.h"
#include "profiler/regression/regression.h"
#include "profiler/report/html.h"
#include "profiler/report/junit.h"
#include "profiler/report/table.h"
#include "profiler/roofline/roofline.h"
#include "runtime/device.h"
#include "tests/fuzz/envelope.h"
#include "tools/cat/print_artifact.h"
#include "tools/cli/command_line.h"

namespace stax {
namespace {

void CheckPrints(const std::string& file) {
  for (const ArtifactView view : {ArtifactView::kJson, ArtifactView::kText}) {
    const absl::Status status = PrintArtifact(file, view).status();
    STAX_CHECK(status.ok(), status.ToString());
  }
}

void CheckIsBadRequest(const absl::Status& status) {
  STAX_CHECK(ExitCode(status) == kExitBadRequest && !status.message().empty(), status.ToString());
}

void CheckReport(const ProfileReport& report) {
  ReportTable(report);
  JunitXml(report);
  // Coordinates of the plot are numbers.
  const std::string page = ReportHtml(report);
  for (const char* bad : {"=\"nan", "=\"inf", "=\"-nan", "=\"-inf", "\"Mnan", " Lnan", "Vnan"})
    STAX_CHECK(page.find(bad) == std::string::npos, page);
}

// The report as what another run is compared with.
void CheckAsBaseline(const ProfileReport& baseline) {
  const DeviceSpec spec = SampleDevice();
  DeviceInfo device;
  device.name = spec.name();
  device.kind = spec.kind();
  device.multiprocessors = spec.multiprocessors();
  ProfileReport now = SampleReport();
  absl::Status status = CheckBaseline(baseline, device, now.method());
  if (status.ok()) status = CompareWithBaseline(baseline, kDefaultThreshold, now);
  if (!status.ok()) return CheckIsBadRequest(status);
  STAX_CHECK(CountSlower(now) <= now.kernels_size(), "more slower kernels than there are");
  RegressionTable(now);
  CheckReport(now);
}

void CheckDevice(const DeviceSpec& device) {
  static const auto& programs =
      *new std::vector<Program>{SymbolicSampleProgram(), TunedSampleProgram()};
  for (const Program& program : programs) {
    for (const Kernel& kernel : program.kernels()) {
      const auto prediction = PredictRoofline(kernel, {{"n", 64}}, device);
      if (!prediction.ok()) CheckIsBadRequest(prediction.status());
    }
  }
  ProfileReport report = SampleReport();
  *report.mutable_device() = device;
  CheckReport(report);
}

}  // namespace
}  // namespace stax

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view payload(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 0) {
    const std::string file = stax::Envelope(stax::ArtifactKind::kDevice, payload);
    const absl::StatusOr<stax::DeviceSpec> device = stax::DecodeDevice(file);
    if (!device.ok()) return stax::CheckIsBadRequest(device.status()), 0;
    stax::CheckPrints(file);
    stax::CheckDevice(*device);
  } else {
    const std::string file = stax::Envelope(stax::ArtifactKind::kReport, payload);
    const absl::StatusOr<stax::ProfileReport> report = stax::DecodeReport(file);
    if (!report.ok()) return stax::CheckIsBadRequest(report.status()), 0;
    stax::CheckPrints(file);
    stax::CheckReport(*report);
    stax::CheckAsBaseline(*report);
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  static const auto& device =
      *new std::string(stax::SerializeDeterministically(stax::SampleDevice()));
  static const auto& report =
      *new std::string(stax::SerializeDeterministically(stax::SampleReport()));
  if (max_size < 1) return 0;
  if (size == 0 || seed % 20 == 0) {
    data[0] = static_cast<uint8_t>(seed);
    size = 1;
  }
  if (data[0] % 2 == 0) {
    stax::DeviceSpec message;
    return 1 + stax::MutateSerialized({device}, {"NVIDIA H200", "cpu"}, seed, data + 1, size - 1,
                                      max_size - 1, &message);
  }
  stax::ProfileReport message;
  return 1 + stax::MutateSerialized({report}, {"<b>", "memory"}, seed, data + 1, size - 1,
                                    max_size - 1, &message);
}
