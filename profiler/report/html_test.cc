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

}  // namespace
}  // namespace stax
