#include "profiler/report/junit.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "profiler/regression/regression.h"
#include "profiler/report/xml_escape.h"

namespace stax {
namespace {

// Of a kernel that was compared, in words.
std::string Change(const KernelProfile& kernel) {
  const KernelRegression& r = kernel.regression();
  return absl::StrFormat("%.3f times the baseline (95 %% from %.3f to %.3f): %.2f us, was %.2f us",
                         r.ratio(), r.ratio_low(), r.ratio_high(), kernel.measured_ns() / 1e3,
                         r.baseline_ns() / 1e3);
}

std::string TestCase(const std::string& suite, const std::string& name, double ns, bool skipped,
                     const std::string& content) {
  return absl::StrFormat(
      "    <testcase name=\"%s\" classname=\"%s\" time=\"%.9f\" result=\"%s\">%s</testcase>\n",
      EscapeXml(name), EscapeXml(suite), ns / 1e9, skipped ? "skipped" : "completed", content);
}

std::string Skipped(const std::string& why) {
  return absl::StrCat("<skipped message=\"", why, "\"/>");
}

std::string KernelContent(const KernelProfile& kernel) {
  const std::string change = EscapeXml(Change(kernel));
  const std::string note = EscapeXml(kernel.regression().note());
  if (kernel.regression().verdict() == KernelRegression::SLOWER)
    return absl::StrCat(R"(<failure type="slower" message=")", change, "\">", note, "</failure>");
  return absl::StrCat("<system-out>", RegressionWord(kernel), ": ", change,
                      note.empty() ? "" : "; ", note, "</system-out>");
}

}  // namespace

std::string JunitXml(const ProfileReport& report) {
  const std::string& suite = report.program_name();
  std::string cases;
  double ns = 0;
  int skipped = report.baseline().missing_kernels_size();
  for (const KernelProfile& kernel : report.kernels()) {
    const bool is_new = report.has_baseline() && !kernel.has_regression();
    std::string content = is_new                    ? Skipped("new: the baseline lacks it")
                          : kernel.has_regression() ? KernelContent(kernel)
                                                    : "";
    absl::StrAppend(&cases, TestCase(suite, kernel.name(), kernel.measured_ns(), is_new, content));
    ns += kernel.measured_ns();
    skipped += is_new;
  }
  for (const std::string& name : report.baseline().missing_kernels())
    absl::StrAppend(&cases,
                    TestCase(suite, name, 0, true, Skipped("missing: only the baseline has it")));
  const std::string counts =
      absl::StrFormat(R"(tests="%d" failures="%d" errors="0" skipped="%d" time="%.9f")",
                      report.kernels_size() + report.baseline().missing_kernels_size(),
                      CountSlower(report), skipped, ns / 1e9);
  return absl::StrCat(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"stax-profile\" ", counts,
      ">\n  <testsuite name=\"", EscapeXml(suite), "\" ", counts, " timestamp=\"",
      EscapeXml(report.date()), "\">\n", cases, "  </testsuite>\n</testsuites>\n");
}

}  // namespace stax
