// The report as a page for a browser: one file, without scripts, that loads nothing.
#ifndef STAX_PROFILER_REPORT_HTML_H_
#define STAX_PROFILER_REPORT_HTML_H_

#include <string>

#include "ir/artifact/report.pb.h"

namespace stax {

// Device and calibration, the roofline plot, and a table with one row a kernel.
std::string ReportHtml(const ProfileReport& report);

}  // namespace stax

#endif  // STAX_PROFILER_REPORT_HTML_H_
