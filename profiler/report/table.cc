#include "profiler/report/table.h"

#include <string>

#include "absl/strings/str_format.h"
#include "ir/printable.h"

namespace stax {

std::string ReportTable(const ProfileReport& report) {
  std::string text = absl::StrFormat("%s on %s, %s; %s\n%-40s %10s %10s %10s %9s %9s %9s  %s\n",
                                     Printable(report.program_name()), Printable(report.device().name()), report.date(),
                                     report.method(), "kernel", "predicted", "measured", "95% from",
                                     "to", "GB/s", "flop/B", "verdict");
  for (const KernelProfile& k : report.kernels()) {
    absl::StrAppendFormat(&text, "%-40s %7.2f us %7.2f us %7.2f us %6.2f us %9.1f %9.2f  %s\n",
                          Printable(k.name()), k.predicted_ns() / 1e3, k.measured_ns() / 1e3,
                          k.interval_low_ns() / 1e3, k.interval_high_ns() / 1e3,
                          k.achieved_bytes_per_s() / 1e9, k.intensity_flops_per_byte(),
                          k.verdict());
  }
  return text;
}

}  // namespace stax
