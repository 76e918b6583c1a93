#include "profiler/report/html.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stax {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ProfileReport Report() {
  ProfileReport report;
  report.set_program_name("model");
  report.mutable_device()->set_dram_copy_bytes_per_s(1e12);
  report.mutable_device()->set_f32_flops_per_s(1e13);
  report.add_kernels()->set_name("k");
  report.mutable_kernels(0)->set_measured_ns(1000);
  return report;
}

TEST(Html, NothingOfABaselineWithoutOne) {
  EXPECT_THAT(ReportHtml(Report()), Not(HasSubstr("against the baseline")));
  EXPECT_THAT(ReportHtml(Report()), Not(HasSubstr("<td class=\"baseline")));
}

TEST(Html, ABaselineIsAColumn) {
  ProfileReport report = Report();
  report.mutable_baseline()->set_date("2026-11-30T08:58:12Z");
  report.mutable_baseline()->set_threshold(0.05);
  report.mutable_baseline()->add_missing_kernels("gone<1>");
  report.mutable_baseline()->add_notes("driver 2, was 1");
  KernelRegression& regression = *report.mutable_kernels(0)->mutable_regression();
  regression.set_verdict(KernelRegression::SLOWER);
  regression.set_ratio(2);
  regression.set_ratio_low(1.9);
  regression.set_ratio_high(2.125);
  regression.set_note("was <old>");
  report.add_kernels()->set_name("added");
  std::string html = ReportHtml(report);
  EXPECT_THAT(html, HasSubstr("<th class=\"baseline\">against the baseline</th>"));
  EXPECT_THAT(
      html,
      HasSubstr(
          "<td class=\"baseline slower\">slower: 2.000 (1.900 to 2.125)<small>was &lt;old&gt;"));
  EXPECT_THAT(html, HasSubstr("<td class=\"baseline\">new</td>"));
  EXPECT_THAT(html,
              HasSubstr("Compared with the baseline of 2026-11-30T08:58:12Z, threshold 5 %:"));
  EXPECT_THAT(html, HasSubstr("Only in the baseline: gone&lt;1&gt;."));
  EXPECT_THAT(html, HasSubstr("driver 2, was 1."));
}

ProfileReport EmulatedReport() {
  ProfileReport report = Report();
  report.mutable_device()->set_kind("emu");
  report.mutable_device()->set_origin("of <another> chip");
  KernelProfile& kernel = *report.mutable_kernels(0);
  kernel.set_read_bytes(4000);
  kernel.set_flops(7);
  EmulatedCounters& counters = *kernel.mutable_emulated();
  counters.set_load_sector_bytes(12800);
  counters.set_atomic_sector_bytes(64);
  counters.set_distinct_read_bytes(4032);
  counters.set_flops_f16(5);
  counters.set_flops_f32(6);
  counters.set_shared_wavefronts(320);
  counters.set_shared_bank_conflicts(310);
  counters.set_warp_instructions(77);
  counters.set_latency_ns(408);
  counters.set_largest_term("latency");
  return report;
}

TEST(Html, CountersOnlyOfTheEmulator) {
  EXPECT_THAT(ReportHtml(Report()), Not(HasSubstr("Counters")));
  EXPECT_THAT(ReportHtml(Report()), HasSubstr("measured / predicted"));
}

TEST(Html, ModelledTimesAreCalledSo) {
  const std::string page = ReportHtml(EmulatedReport());
  EXPECT_THAT(page, HasSubstr("<th>modelled µs</th>"));
  EXPECT_THAT(page, HasSubstr("<th>modelled / predicted</th>"));
  EXPECT_THAT(page, Not(HasSubstr("<th>measured")));
  EXPECT_THAT(page, HasSubstr("<h2>Device, not measured</h2>\n<p>of &lt;another&gt; chip</p>"));
}

TEST(Html, CountersStandBesideThePlan) {
  const std::string page = ReportHtml(EmulatedReport());
  EXPECT_THAT(page, HasSubstr("<td>12864<small>distinct 4032, plan 4000</small></td>"
                              "<td>64<small>distinct 0, plan 0</small></td>"
                              "<td>5 f16, 6 f32<small>plan 7</small></td>"
                              "<td>310<small>of 320</small></td><td>77</td>"));
  EXPECT_THAT(page, HasSubstr("<small>largest term: latency</small>"));
  EXPECT_THAT(page, HasSubstr("<td>0.41</td></tr>"));
}

}  // namespace
}  // namespace stax
