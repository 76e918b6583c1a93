// Regression: each kernel of a run against the same kernel of a baseline report.
//
// The rule. Samples give an interval for each of the two medians by order statistics (no assumption
// on the distribution) that holds with 97.5 %, so both hold with at least 95 % (Bonferroni), and
// then the ratio of the medians, this run / baseline, lies between low / high and high / low. With
// t the threshold, a kernel is
//
//   slower     when the whole interval of the ratio is above 1, and the ratio at least 1 + t;
//   faster     the same downwards: all below 1, and the ratio at most 1 / (1 + t);
//   same       when the whole interval is within 1 / (1 + t) and 1 + t;
//   ambiguous  else: the samples scatter too much to tell. Measure again, with less beside it.
//
// The whole interval is above 1 exactly when the intervals of the medians are disjoint: the test of
// Georges, Buytaert, Eeckhout, Statistically Rigorous Java Performance Evaluation (OOPSLA
// 2007), 3.3. The effect is given as a ratio with its interval, and must matter as well as be
// significant, after Kalibera, Jones, Rigorous Benchmarking in Reasonable Time (ISMM 2013). A
// kernel that did not change is called slower in at most 2.5 % of comparisons, if only chance
// within the runs is at work.
//
// The threshold is for the rest: samples of one run say nothing about what differs between two runs
// of the same code (clocks, placement in memory). 5 % is a choice, small enough to care about;
// --threshold has another for machines whose runs differ by more.
#ifndef STAX_PROFILER_REGRESSION_REGRESSION_H_
#define STAX_PROFILER_REGRESSION_REGRESSION_H_

#include <string>

#include "absl/status/status.h"
#include "ir/artifact/report.pb.h"
#include "runtime/device.h"

namespace stax {

inline constexpr double kDefaultThreshold = 0.05;  // of the ratio

// Whether times on `device`, taken by `method` (KernelTimer's), can be compared with the baseline:
// to be asked before anything is measured. InvalidArgument for another device, another method, no
// kernels; for kernels of one name or without enough samples. Messages go on from the report's
// name: "was measured on ...".
absl::Status CheckBaseline(const ProfileReport& baseline, const DeviceInfo& device,
                           const std::string& method);

// Fills report.baseline and the regression of each kernel that the baseline has. Kernels are the
// same by name, else by hash (renamed). Both reports come from one device, which CheckBaseline saw.
// InvalidArgument for other sizes and when no kernel is in both.
absl::Status CompareWithBaseline(const ProfileReport& baseline, double threshold,
                                 ProfileReport& report);

int CountSlower(const ProfileReport& report);

// "slower"; "new" for a kernel that the baseline lacks.
std::string RegressionWord(const KernelProfile& kernel);

// One line a kernel, and what is missing. Of a compared report.
std::string RegressionTable(const ProfileReport& report);

}  // namespace stax

#endif  // STAX_PROFILER_REGRESSION_REGRESSION_H_
