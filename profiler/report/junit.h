// A profile as JUnit XML, the form in which build servers show tests.
#ifndef STAX_PROFILER_REPORT_JUNIT_H_
#define STAX_PROFILER_REPORT_JUNIT_H_

#include <string>

#include "ir/artifact/report.pb.h"

namespace stax {

// One test case a kernel, its time the median in seconds: a failure when the kernel is slower than
// the baseline, skipped when only one of the two runs has it, else passed, its output saying
// what was compared. Attributes are those of GoogleTest's XML, and what tools make of both is
// equal.
//
//   <testcase name="red_fused_sum_0" classname="model" time="0.000035640" result="completed">
//     <failure type="slower" message="...">...</failure>
std::string JunitXml(const ProfileReport& report);

}  // namespace stax

#endif  // STAX_PROFILER_REPORT_JUNIT_H_
