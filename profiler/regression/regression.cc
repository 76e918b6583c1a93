#include "profiler/regression/regression.h"

#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "profiler/timing/statistics.h"

namespace stax {
namespace {

// Of each median, so that both intervals hold with 95 %.
constexpr double kMedianConfidence = 0.975;
// 2 / 2^7 = 1.6 %: fewer samples cannot give an interval of 97.5 %.
constexpr int kMinSamples = 7;

absl::Status CheckSamples(const KernelProfile& kernel) {
  if (kernel.samples_ns_size() < kMinSamples)
    return absl::InvalidArgumentError(absl::StrCat("has ", kernel.samples_ns_size(),
                                                   " samples of kernel ", kernel.name(), "; ",
                                                   kMinSamples, " are needed"));
  for (double sample : kernel.samples_ns()) {
    if (!(sample > 0) || !std::isfinite(sample))
      return absl::InvalidArgumentError(
          absl::StrCat("has a sample of ", sample, " ns of kernel ", kernel.name()));
  }
  return absl::OkStatus();
}

std::string DeviceText(const std::string& name, const std::string& kind, int multiprocessors) {
  return absl::StrCat(name, " (", kind, ", ", multiprocessors,
                      kind == "cpu" ? " cores)" : " multiprocessors)");
}

std::string MapText(const google::protobuf::Map<std::string, int64_t>& values) {
  const std::map<std::string, int64_t> sorted(values.begin(), values.end());
  return sorted.empty() ? "none" : absl::StrJoin(sorted, " ", absl::PairFormatter("="));
}

// What explains a change, or makes it one of another kernel.
std::string Note(const KernelProfile& was, const KernelProfile& now) {
  std::vector<std::string> notes;
  if (was.name() != now.name()) notes.push_back(absl::StrCat("was ", was.name()));
  if (was.hash() != now.hash()) notes.emplace_back("other kernel or compiler");
  std::string was_config = MapText(was.config().values());
  std::string now_config = MapText(now.config().values());
  if (was_config != now_config)
    notes.push_back(absl::StrCat("configuration ", now_config, ", was ", was_config));
  return absl::StrJoin(notes, "; ");
}

// What differs between the runs but does not make them incomparable.
void AddNotes(const ProfileReport& was, const ProfileReport& now, Baseline& baseline) {
  auto note = [&](absl::string_view what, const std::string& now_text,
                  const std::string& was_text) {
    if (now_text != was_text)
      baseline.add_notes(absl::StrCat(what, " ", now_text, ", was ", was_text));
  };
  note("program", now.program_name(), was.program_name());
  note("compiler", now.program().compiler_version(), was.program().compiler_version());
  note("driver", now.device().driver_version(), was.device().driver_version());
}

// The threshold is symmetric on the logarithmic scale of a ratio: 5 % slower, then as much faster
// again is no change.
KernelRegression::Verdict Judge(const KernelRegression& r, double threshold) {
  const double most = 1 + threshold;
  if (r.ratio_low() > 1 && r.ratio() >= most) return KernelRegression::SLOWER;
  if (r.ratio_high() < 1 && r.ratio() <= 1 / most) return KernelRegression::FASTER;
  if (r.ratio_low() >= 1 / most && r.ratio_high() <= most) return KernelRegression::SAME;
  return KernelRegression::AMBIGUOUS;
}

KernelRegression Compare(const KernelProfile& was, const KernelProfile& now, double threshold) {
  const std::vector<double> was_ns(was.samples_ns().begin(), was.samples_ns().end());
  const std::vector<double> now_ns(now.samples_ns().begin(), now.samples_ns().end());
  const MedianInterval was_interval = MedianConfidence(was_ns, kMedianConfidence);
  const MedianInterval now_interval = MedianConfidence(now_ns, kMedianConfidence);
  KernelRegression regression;
  regression.set_baseline_ns(Median(was_ns));
  regression.set_ratio(Median(now_ns) / regression.baseline_ns());
  regression.set_ratio_low(now_interval.low / was_interval.high);
  regression.set_ratio_high(now_interval.high / was_interval.low);
  regression.set_verdict(Judge(regression, threshold));
  regression.set_note(Note(was, now));
  return regression;
}

// For each kernel of `now` the same one of `was`, or null. Names first, so that a renamed kernel
// cannot take the place of one that kept its name.
std::vector<const KernelProfile*> Match(const ProfileReport& was, const ProfileReport& now) {
  std::vector<const KernelProfile*> matches(now.kernels_size(), nullptr);
  std::set<const KernelProfile*> taken;
  auto match = [&](auto same) {
    for (int k = 0; k < now.kernels_size(); ++k) {
      for (const KernelProfile& candidate : was.kernels()) {
        if (matches[k] != nullptr) break;
        if (taken.count(&candidate) != 0 || !same(candidate, now.kernels(k))) continue;
        matches[k] = &candidate;
        taken.insert(&candidate);
      }
    }
  };
  match([](const KernelProfile& a, const KernelProfile& b) { return a.name() == b.name(); });
  match([](const KernelProfile& a, const KernelProfile& b) {
    return !a.hash().empty() && a.hash() == b.hash();
  });
  return matches;
}

}  // namespace

absl::Status CheckBaseline(const ProfileReport& baseline, const DeviceInfo& device,
                           const std::string& method) {
  const DeviceSpec& was = baseline.device();
  const std::string was_device = DeviceText(was.name(), was.kind(), was.multiprocessors());
  const std::string now_device = DeviceText(device.name, device.kind, device.multiprocessors);
  if (was_device != now_device)
    return absl::InvalidArgumentError(
        absl::StrCat("was measured on ", was_device, ", and this device is ", now_device,
                     ": times of different devices cannot be compared"));
  if (baseline.method() != method)
    return absl::InvalidArgumentError(
        absl::StrCat("was timed by '", baseline.method(), "', and this run is by '", method,
                     "': times taken in different ways cannot be compared"));
  if (baseline.kernels().empty()) return absl::InvalidArgumentError("has no kernels");
  std::set<std::string> names;
  for (const KernelProfile& kernel : baseline.kernels()) {
    if (!names.insert(kernel.name()).second)
      return absl::InvalidArgumentError(absl::StrCat("has two kernels named ", kernel.name()));
    if (absl::Status status = CheckSamples(kernel); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status CompareWithBaseline(const ProfileReport& baseline, double threshold,
                                 ProfileReport& report) {
  if (MapText(baseline.sizes()) != MapText(report.sizes()))
    return absl::InvalidArgumentError(absl::StrCat("was measured at sizes ",
                                                   MapText(baseline.sizes()), ", and this run at ",
                                                   MapText(report.sizes())));
  const std::vector<const KernelProfile*> matches = Match(baseline, report);
  std::set<const KernelProfile*> found;
  for (int k = 0; k < report.kernels_size(); ++k) {
    if (matches[k] == nullptr) continue;
    if (absl::Status status = CheckSamples(report.kernels(k)); !status.ok()) return status;
    KernelProfile& now = *report.mutable_kernels(k);
    *now.mutable_regression() = Compare(*matches[k], now, threshold);
    found.insert(matches[k]);
  }
  if (found.empty())
    return absl::InvalidArgumentError(absl::StrCat("is of program '", baseline.program_name(),
                                                   "' and has no kernel of '",
                                                   report.program_name(), "'"));
  Baseline& summary = *report.mutable_baseline();
  summary.set_date(baseline.date());
  summary.set_threshold(threshold);
  for (const KernelProfile& kernel : baseline.kernels()) {
    if (found.count(&kernel) == 0) summary.add_missing_kernels(kernel.name());
  }
  AddNotes(baseline, report, summary);
  return absl::OkStatus();
}

int CountSlower(const ProfileReport& report) {
  int count = 0;
  for (const KernelProfile& kernel : report.kernels())
    count += kernel.regression().verdict() == KernelRegression::SLOWER;
  return count;
}

std::string RegressionWord(const KernelProfile& kernel) {
  if (!kernel.has_regression()) return "new";
  switch (kernel.regression().verdict()) {
    case KernelRegression::SAME:
      return "same";
    case KernelRegression::FASTER:
      return "faster";
    case KernelRegression::SLOWER:
      return "slower";
    default:
      return "ambiguous";
  }
}

std::string RegressionTable(const ProfileReport& report) {
  std::string text = absl::StrFormat(
      "against the baseline of %s, threshold %g %%\n%-40s %10s %10s %8s %9s %7s  %s\n",
      report.baseline().date(), 100 * report.baseline().threshold(), "kernel", "baseline", "now",
      "ratio", "95% from", "to", "verdict");
  for (const KernelProfile& k : report.kernels()) {
    const KernelRegression& r = k.regression();
    if (!k.has_regression()) {
      absl::StrAppendFormat(&text, "%-40s %10s %7.2f us %8s %9s %7s  new\n", k.name(), "",
                            k.measured_ns() / 1e3, "", "", "");
      continue;
    }
    absl::StrAppendFormat(&text, "%-40s %7.2f us %7.2f us %8.3f %9.3f %7.3f  %s%s%s\n", k.name(),
                          r.baseline_ns() / 1e3, k.measured_ns() / 1e3, r.ratio(), r.ratio_low(),
                          r.ratio_high(), RegressionWord(k), r.note().empty() ? "" : "; ",
                          r.note());
  }
  for (const std::string& name : report.baseline().missing_kernels())
    absl::StrAppendFormat(&text, "%-40s missing: in the baseline only\n", name);
  for (const std::string& note : report.baseline().notes()) absl::StrAppend(&text, note, "\n");
  return text;
}

}  // namespace stax
