#include "profiler/regression/regression.h"

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stax {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kMethod[] = "a clock";

DeviceInfo Gpu() {
  DeviceInfo info;
  info.name = "GPU";
  info.kind = "cuda";
  info.driver_version = "1";
  info.multiprocessors = 132;
  return info;
}

// Ten samples, first, first + step, ...: the median is first + 4.5 steps; the interval that holds
// with 97.5 % ends at the second and the ninth, since of binomial(10, 1/2) P(X <= 1) = 11 / 1024 =
// 1.07 % and P(X <= 2) = 5.5 %.
std::vector<double> Ten(double first, double step = 1) {
  std::vector<double> samples;
  for (int i = 0; i < 10; ++i) samples.push_back(first + i * step);
  return samples;
}

KernelProfile& Add(ProfileReport& report, const std::string& name,
                   const std::vector<double>& samples, const std::string& hash = "h") {
  KernelProfile& kernel = *report.add_kernels();
  kernel.set_name(name);
  kernel.set_hash(hash);
  kernel.mutable_samples_ns()->Add(samples.begin(), samples.end());
  return kernel;
}

ProfileReport Report() {
  ProfileReport report;
  report.set_program_name("p");
  report.set_method(kMethod);
  report.set_date("2026-11-30T00:00:00Z");
  report.mutable_device()->set_name("GPU");
  report.mutable_device()->set_kind("cuda");
  report.mutable_device()->set_driver_version("1");
  report.mutable_device()->set_multiprocessors(132);
  return report;
}

// Of one kernel with these samples then and now.
KernelRegression Compared(const std::vector<double>& was, const std::vector<double>& now,
                          double threshold = kDefaultThreshold) {
  ProfileReport baseline = Report();
  ProfileReport report = Report();
  Add(baseline, "k", was);
  Add(report, "k", now);
  EXPECT_TRUE(CompareWithBaseline(baseline, threshold, report).ok());
  return report.kernels(0).regression();
}

TEST(Regression, TheRatioAndItsInterval) {
  KernelRegression r = Compared(Ten(100), Ten(200, 2));
  EXPECT_DOUBLE_EQ(r.baseline_ns(), 104.5);
  EXPECT_DOUBLE_EQ(r.ratio(), 2);                // 209 / 104.5
  EXPECT_DOUBLE_EQ(r.ratio_low(), 202.0 / 108);  // the second now, the ninth then
  EXPECT_DOUBLE_EQ(r.ratio_high(), 216.0 / 101);
  EXPECT_EQ(r.verdict(), KernelRegression::SLOWER);
}

// Of binomial(20, 1/2), P(X <= 4) = 0.59 % and P(X <= 5) = 2.07 %: each median lies between the
// fifth and the sixteenth with 97.5 %; with 95 % it would be the sixth and the fifteenth.
TEST(Regression, BothIntervalsTogetherHoldWith95Percent) {
  std::vector<double> was, now;
  for (int i = 1; i <= 20; ++i) was.push_back(100 + i);
  for (int i = 1; i <= 20; ++i) now.push_back(200 + i);
  KernelRegression r = Compared(was, now);
  EXPECT_DOUBLE_EQ(r.ratio_low(), 205.0 / 116);
  EXPECT_DOUBLE_EQ(r.ratio_high(), 216.0 / 105);
}

TEST(Regression, TwiceAsFast) {
  KernelRegression r = Compared(Ten(200, 2), Ten(100));
  EXPECT_DOUBLE_EQ(r.ratio(), 0.5);
  EXPECT_EQ(r.verdict(), KernelRegression::FASTER);
}

// The whole interval, 1001/1008 = 0.993 to 1.007, is within 5 %.
TEST(Regression, EqualSamplesOfLittleScatterAreTheSame) {
  EXPECT_EQ(Compared(Ten(1000), Ten(1000)).verdict(), KernelRegression::SAME);
}

// 101/108 = 0.935 to 1.069: within 10 %, not within 5 %.
TEST(Regression, EqualSamplesOfMuchScatterAreAmbiguous) {
  EXPECT_EQ(Compared(Ten(100), Ten(100)).verdict(), KernelRegression::AMBIGUOUS);
  EXPECT_EQ(Compared(Ten(100), Ten(100), 0.10).verdict(), KernelRegression::SAME);
}

// 2 % slower, from 1021/1008 = 1.013 to 1028/1001 = 1.027: certain, but does it matter?
TEST(Regression, TheThresholdSaysWhatMatters) {
  EXPECT_EQ(Compared(Ten(1000), Ten(1020)).verdict(), KernelRegression::SAME);
  EXPECT_EQ(Compared(Ten(1000), Ten(1020), 0.01).verdict(), KernelRegression::SLOWER);
  EXPECT_EQ(Compared(Ten(1020), Ten(1000), 0.01).verdict(), KernelRegression::FASTER);
}

// Median 1154.5 / 1004.5 = 1.15, but the interval begins at 1006/1008.
TEST(Regression, OverlappingIntervalsAreAmbiguousHoweverLargeTheRatio) {
  std::vector<double> now = {1005, 1006, 1150, 1151, 1152, 1157, 1158, 1159, 1160, 1161};
  KernelRegression r = Compared(Ten(1000), now);
  EXPECT_DOUBLE_EQ(r.ratio(), 1154.5 / 1004.5);
  EXPECT_EQ(r.verdict(), KernelRegression::AMBIGUOUS);
  EXPECT_EQ(Compared(now, Ten(1000)).verdict(), KernelRegression::AMBIGUOUS);
}

// 3 % slower for certain, and perhaps 8 % (1080/1001).
TEST(Regression, SlowerByLessThanTheThresholdAndPerhapsMoreIsAmbiguous) {
  std::vector<double> now = {1030, 1031, 1032, 1033, 1034, 1035, 1036, 1037, 1080, 1090};
  EXPECT_EQ(Compared(Ten(1000), now).verdict(), KernelRegression::AMBIGUOUS);
}

// What the header promises, on samples as skewed as times are: log-normal, so that their median is
// known. At equal medians each kernel called slower is a false alarm. At five times the median an
// alarm is due: the intervals end at the third and the thirteenth of 15 samples, at the quantiles
// 0.19 and 0.81 on average, which is 0.88 * 0.5 = 0.44 from the median in the logarithm; ln 5
// = 1.61 leaves 0.73 between the two, three times what that scatters (sqrt(2) * 0.18).
TEST(Regression, FalseAlarmsAreRareAndAlarmsAreNot) {
  std::mt19937 rng(1);
  auto draw = [&](double median) {
    std::lognormal_distribution<double> time(std::log(median), 0.5);
    std::vector<double> samples(15);
    for (double& s : samples) s = time(rng);
    return samples;
  };
  const int kTrials = 2000;
  int covered = 0;
  int false_alarms = 0;
  int alarms = 0;
  for (int t = 0; t < kTrials; ++t) {
    KernelRegression equal = Compared(draw(20), draw(20), 0);
    covered += equal.ratio_low() <= 1 && 1 <= equal.ratio_high();
    false_alarms += equal.verdict() == KernelRegression::SLOWER;
    alarms += Compared(draw(20), draw(100)).verdict() == KernelRegression::SLOWER;
  }
  EXPECT_GE(covered, kTrials * 0.95);
  EXPECT_LE(false_alarms, kTrials * 0.025);
  EXPECT_GE(alarms, kTrials * 0.98);
}

TEST(Regression, KernelsAreMatchedByNameThenByHash) {
  ProfileReport baseline = Report();
  Add(baseline, "a", Ten(1000), "1");
  Add(baseline, "old_name", Ten(1000), "2");
  Add(baseline, "gone", Ten(1000), "3");
  ProfileReport report = Report();
  Add(report, "added", Ten(1000), "4");
  Add(report, "new_name", Ten(2000), "2");
  Add(report, "a", Ten(1000), "5");
  ASSERT_TRUE(CompareWithBaseline(baseline, kDefaultThreshold, report).ok());
  EXPECT_FALSE(report.kernels(0).has_regression());
  EXPECT_EQ(RegressionWord(report.kernels(0)), "new");
  EXPECT_EQ(report.kernels(1).regression().note(), "was old_name");
  EXPECT_EQ(RegressionWord(report.kernels(1)), "slower");
  EXPECT_EQ(report.kernels(2).regression().note(), "other kernel or compiler");
  EXPECT_EQ(RegressionWord(report.kernels(2)), "same");
  EXPECT_THAT(report.baseline().missing_kernels(), ElementsAre("gone"));
  EXPECT_EQ(CountSlower(report), 1);
}

// "b" of the baseline is "b" of the run, though "a" of the run has its hash and comes first.
TEST(Regression, ARenamedKernelTakesNoNamesakesPlace) {
  ProfileReport baseline = Report();
  Add(baseline, "b", Ten(1000), "1");
  ProfileReport report = Report();
  Add(report, "a", Ten(1000), "1");
  Add(report, "b", Ten(1000), "1");
  ASSERT_TRUE(CompareWithBaseline(baseline, kDefaultThreshold, report).ok());
  EXPECT_FALSE(report.kernels(0).has_regression());
  EXPECT_TRUE(report.kernels(1).has_regression());
}

TEST(Regression, KernelsWithoutAHashAreNotTakenForOneAnother) {
  ProfileReport baseline = Report();
  Add(baseline, "a", Ten(1000), "");
  Add(baseline, "b", Ten(1000), "");
  ProfileReport report = Report();
  Add(report, "a", Ten(1000), "");
  Add(report, "c", Ten(1000), "");
  ASSERT_TRUE(CompareWithBaseline(baseline, kDefaultThreshold, report).ok());
  EXPECT_FALSE(report.kernels(1).has_regression());
}

TEST(Regression, NotesSayWhatElseDiffers) {
  ProfileReport baseline = Report();
  (*Add(baseline, "k", Ten(1000)).mutable_config()->mutable_values())["XBLOCK"] = 1;
  baseline.mutable_device()->set_driver_version("0");
  ProfileReport report = Report();
  auto& values = *Add(report, "k", Ten(1000)).mutable_config()->mutable_values();
  values["XBLOCK"] = 2;
  values["RBLOCK"] = 64;
  ASSERT_TRUE(CompareWithBaseline(baseline, kDefaultThreshold, report).ok());
  EXPECT_EQ(report.kernels(0).regression().note(),
            "configuration RBLOCK=64 XBLOCK=2, was XBLOCK=1");
  EXPECT_THAT(report.baseline().notes(), ElementsAre("driver 1, was 0"));
}

TEST(Regression, TableNamesEveryKernel) {
  ProfileReport baseline = Report();
  Add(baseline, "kept", Ten(1000));
  Add(baseline, "gone", Ten(1000), "2");
  ProfileReport report = Report();
  Add(report, "kept", Ten(2000, 2)).set_measured_ns(2009);
  Add(report, "added", Ten(1000), "3").set_measured_ns(1004.5);
  ASSERT_TRUE(CompareWithBaseline(baseline, kDefaultThreshold, report).ok());
  std::string table = RegressionTable(report);
  // 2002/1008 = 1.986, 2016/1001 = 2.014.
  EXPECT_THAT(table, HasSubstr("against the baseline of 2026-11-30T00:00:00Z, threshold 5 %\n"));
  EXPECT_THAT(table, HasSubstr("   1.00 us    2.01 us    2.000     1.986   2.014  slower\n"));
  EXPECT_THAT(table, HasSubstr("  new\n"));
  EXPECT_THAT(table, HasSubstr("missing: in the baseline only\n"));
}

TEST(CheckBaseline, AcceptsItsOwnDevice) {
  ProfileReport baseline = Report();
  Add(baseline, "k", Ten(1000));
  EXPECT_EQ(CheckBaseline(baseline, Gpu(), kMethod), absl::OkStatus());
}

TEST(CheckBaseline, NamesBothDevices) {
  ProfileReport baseline = Report();
  Add(baseline, "k", Ten(1000));
  DeviceInfo cpu;
  cpu.name = "Processor";
  cpu.kind = "cpu";
  cpu.multiprocessors = 2;
  absl::Status status = CheckBaseline(baseline, cpu, kMethod);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "was measured on GPU (cuda, 132 multiprocessors), and this device is Processor (cpu, 2 "
            "cores): times of different devices cannot be compared");
}

// A slice of the same chip is another device.
TEST(CheckBaseline, TheNumberOfMultiprocessorsIsPartOfTheDevice) {
  ProfileReport baseline = Report();
  Add(baseline, "k", Ten(1000));
  DeviceInfo slice = Gpu();
  slice.multiprocessors = 16;
  EXPECT_THAT(std::string(CheckBaseline(baseline, slice, kMethod).message()),
              HasSubstr("132 multiprocessors), and this device is GPU (cuda, 16 "));
}

TEST(CheckBaseline, TimesTakenInAnotherWay) {
  ProfileReport baseline = Report();
  Add(baseline, "k", Ten(1000));
  EXPECT_EQ(CheckBaseline(baseline, Gpu(), "events").message(),
            "was timed by 'a clock', and this run is by 'events': times taken in different ways "
            "cannot be compared");
}

TEST(CheckBaseline, HostileReports) {
  ProfileReport empty = Report();
  EXPECT_EQ(CheckBaseline(empty, Gpu(), kMethod).message(), "has no kernels");

  ProfileReport twice = Report();
  Add(twice, "k", Ten(1000));
  Add(twice, "k", Ten(1000));
  EXPECT_EQ(CheckBaseline(twice, Gpu(), kMethod).message(), "has two kernels named k");

  ProfileReport few = Report();
  Add(few, "k", {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(CheckBaseline(few, Gpu(), kMethod).message(),
            "has 6 samples of kernel k; 7 are needed");

  for (double bad : {0.0, -1.0, std::numeric_limits<double>::infinity(),
                     std::numeric_limits<double>::quiet_NaN()}) {
    ProfileReport report = Report();
    Add(report, "k", Ten(1000)).set_samples_ns(3, bad);
    EXPECT_EQ(CheckBaseline(report, Gpu(), kMethod).message(),
              absl::StrCat("has a sample of ", bad, " ns of kernel k"));
  }
}

TEST(Regression, OtherSizesAndOtherPrograms) {
  ProfileReport baseline = Report();
  Add(baseline, "k", Ten(1000), "1");
  (*baseline.mutable_sizes())["n"] = 64;
  ProfileReport report = Report();
  Add(report, "k", Ten(1000), "1");
  (*report.mutable_sizes())["n"] = 128;
  absl::Status status = CompareWithBaseline(baseline, kDefaultThreshold, report);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "was measured at sizes n=64, and this run at n=128");

  ProfileReport other = Report();
  other.set_program_name("q");
  Add(other, "l", Ten(1000), "2");
  (*other.mutable_sizes())["n"] = 64;
  EXPECT_EQ(CompareWithBaseline(baseline, kDefaultThreshold, other).message(),
            "is of program 'p' and has no kernel of 'q'");
}

}  // namespace
}  // namespace stax
