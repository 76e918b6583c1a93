#include "profiler/report/table.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_format.h"
#include "ir/printable.h"
#include "profiler/report/modelled.h"

namespace stax {
namespace {

int64_t FlopsOf(const EmulatedCounters& c) {
  return c.flops_f16() + c.flops_f32() + c.flops_f64() + c.flops_tensor();
}

}  // namespace

std::string ReportTable(const ProfileReport& report) {
  std::string text = absl::StrFormat(
      "%s on %s, %s; %s\n%-40s %10s %10s %10s %9s %9s %9s  %s\n", Printable(report.program_name()),
      Printable(report.device().name()), report.date(), report.method(), "kernel", "predicted",
      IsModelled(report) ? "modelled" : "measured", "95% from", "to", "GB/s", "flop/B", "verdict");
  for (const KernelProfile& k : report.kernels()) {
    absl::StrAppendFormat(&text, "%-40s %7.2f us %7.2f us %7.2f us %6.2f us %9.1f %9.2f  %s\n",
                          Printable(k.name()), k.predicted_ns() / 1e3, k.measured_ns() / 1e3,
                          k.interval_low_ns() / 1e3, k.interval_high_ns() / 1e3,
                          k.achieved_bytes_per_s() / 1e9, k.intensity_flops_per_byte(),
                          k.verdict());
  }
  return text;
}

std::string CountersTable(const ProfileReport& report) {
  std::string text = absl::StrFormat(
      "counted of a launch: bytes as 32 x sectors, all that warps asked for and the distinct ones, "
      "beside the plan's compulsory bytes\n%-40s %13s %13s %13s %13s %13s %13s %13s %13s %11s "
      "%11s  %s\n",
      "kernel", "loaded B", "distinct", "plan", "stored B", "distinct", "plan", "flop", "plan",
      "warp instr.", "conflicts", "largest term");
  for (const KernelProfile& k : report.kernels()) {
    if (!k.has_emulated()) continue;
    const EmulatedCounters& c = k.emulated();
    absl::StrAppendFormat(
        &text, "%-40s %13d %13d %13.0f %13d %13d %13.0f %13d %13.0f %11d %11d  %s\n",
        Printable(k.name()), c.load_sector_bytes() + c.atomic_sector_bytes(),
        c.distinct_read_bytes(), k.read_bytes(), c.store_sector_bytes() + c.atomic_sector_bytes(),
        c.distinct_write_bytes(), k.write_bytes(), FlopsOf(c), k.flops(), c.warp_instructions(),
        c.shared_bank_conflicts(), c.largest_term());
  }
  return text;
}

}  // namespace stax
