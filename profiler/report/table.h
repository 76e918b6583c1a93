// The report as text.
#ifndef STAX_PROFILER_REPORT_TABLE_H_
#define STAX_PROFILER_REPORT_TABLE_H_

#include <string>

#include "ir/artifact/report.pb.h"

namespace stax {

// One line a kernel, of any report.
std::string ReportTable(const ProfileReport& report);

// Of the emulator's report: what was counted beside what the plan needs, one line a kernel.
std::string CountersTable(const ProfileReport& report);

}  // namespace stax

#endif  // STAX_PROFILER_REPORT_TABLE_H_
