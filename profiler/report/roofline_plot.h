// The roofline plot: achieved flop/s of each kernel over its flop/byte, both logarithmic, under the
// roof of the device.
#ifndef STAX_PROFILER_REPORT_ROOFLINE_PLOT_H_
#define STAX_PROFILER_REPORT_ROOFLINE_PLOT_H_

#include <string>

#include "ir/artifact/report.pb.h"

namespace stax {

// A kernel without operations, bytes or time has no place on logarithmic axes.
bool HasPoint(const KernelProfile& kernel);

double AchievedFlopsPerS(const KernelProfile& kernel);

// An <svg> element, styled by the page; empty for a device without rates. The roof is the copy
// bandwidth, then the f32 FMA rate. Point and label of kernel i bear the number i + 1; the point
// has the id "point-N" and links to
// "#kernel-N". A label that finds no room is left out.
std::string RooflineSvg(const ProfileReport& report);

}  // namespace stax

#endif  // STAX_PROFILER_REPORT_ROOFLINE_PLOT_H_
