#include "profiler/report/junit.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stax {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

KernelProfile& Add(ProfileReport& report, const std::string& name, double ns) {
  KernelProfile& kernel = *report.add_kernels();
  kernel.set_name(name);
  kernel.set_measured_ns(ns);
  return kernel;
}

void SetRegression(KernelRegression::Verdict verdict, double baseline_ns, double ratio,
                   KernelProfile& kernel) {
  KernelRegression& regression = *kernel.mutable_regression();
  regression.set_verdict(verdict);
  regression.set_baseline_ns(baseline_ns);
  regression.set_ratio(ratio);
  regression.set_ratio_low(ratio - 0.1);
  regression.set_ratio_high(ratio + 0.1);
}

TEST(Junit, OneCaseAKernel) {
  ProfileReport report;
  report.set_program_name("model");
  report.set_date("2026-11-30T08:58:12Z");
  report.mutable_baseline()->add_missing_kernels("gone");
  SetRegression(KernelRegression::SLOWER, 1000, 2, Add(report, "slow", 2000));
  report.mutable_kernels(0)->mutable_regression()->set_note("other kernel or compiler");
  SetRegression(KernelRegression::SAME, 500, 1, Add(report, "steady", 500));
  Add(report, "added", 2.5e9);
  EXPECT_EQ(JunitXml(report), R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="stax-profile" tests="4" failures="1" errors="0" skipped="2" time="2.500002500">
  <testsuite name="model" tests="4" failures="1" errors="0" skipped="2" time="2.500002500" timestamp="2026-11-30T08:58:12Z">
    <testcase name="slow" classname="model" time="0.000002000" result="completed"><failure type="slower" message="2.000 times the baseline (95 % from 1.900 to 2.100): 2.00 us, was 1.00 us">other kernel or compiler</failure></testcase>
    <testcase name="steady" classname="model" time="0.000000500" result="completed"><system-out>same: 1.000 times the baseline (95 % from 0.900 to 1.100): 0.50 us, was 0.50 us</system-out></testcase>
    <testcase name="added" classname="model" time="2.500000000" result="skipped"><skipped message="new: the baseline lacks it"/></testcase>
    <testcase name="gone" classname="model" time="0.000000000" result="skipped"><skipped message="missing: only the baseline has it"/></testcase>
  </testsuite>
</testsuites>
)");
}

TEST(Junit, WithoutABaselineEveryKernelPasses) {
  ProfileReport report;
  report.set_program_name("model");
  Add(report, "k", 2000);
  EXPECT_THAT(JunitXml(report), HasSubstr("tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"0\""));
  EXPECT_THAT(JunitXml(report), HasSubstr("time=\"0.000002000\" result=\"completed\"></testcase>"));
}

TEST(Junit, NamesAreEscaped) {
  ProfileReport report;
  report.set_program_name("a<b>&\"c\"");
  report.mutable_baseline()->add_missing_kernels("<gone>");
  SetRegression(KernelRegression::SLOWER, 1000, 2, Add(report, "k'\n<!--", 2000));
  report.mutable_kernels(0)->mutable_regression()->set_note("was <x>");
  std::string xml = JunitXml(report);
  EXPECT_THAT(xml, HasSubstr("<testsuite name=\"a&lt;b&gt;&amp;&quot;c&quot;\""));
  EXPECT_THAT(xml, HasSubstr("<testcase name=\"k&#39;&#10;&lt;!--\" classname=\"a&lt;b&gt;"));
  EXPECT_THAT(xml, HasSubstr(">was &lt;x&gt;</failure>"));
  EXPECT_THAT(xml, HasSubstr("name=\"&lt;gone&gt;\""));
  EXPECT_THAT(xml, Not(HasSubstr("<x>")));
}

}  // namespace
}  // namespace stax
