// Whether a report's times are those of a model.
#ifndef STAX_PROFILER_REPORT_MODELLED_H_
#define STAX_PROFILER_REPORT_MODELLED_H_

#include "ir/artifact/report.pb.h"

namespace stax {

// The emulator has no times of its own; its kernels have counters.
inline bool IsModelled(const ProfileReport& report) { return report.device().kind() == "emu"; }

}  // namespace stax

#endif  // STAX_PROFILER_REPORT_MODELLED_H_
