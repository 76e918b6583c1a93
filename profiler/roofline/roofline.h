// Roofline: what a kernel must take at least on a device (Williams, Waterman, Patterson 2009).
#ifndef STAX_PROFILER_ROOFLINE_ROOFLINE_H_
#define STAX_PROFILER_ROOFLINE_ROOFLINE_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "ir/artifact/device.pb.h"
#include "ir/artifact/program.pb.h"

namespace stax {

struct RooflinePrediction {
  double read_bytes = 0;  // compulsory
  double write_bytes = 0;
  double flops = 0;
  double intensity = 0;     // flops per byte; 0 when nothing is moved
  double bandwidth = 0;     // bytes/s this mix of reads and writes can reach
  double memory_ns = 0;     // bytes / bandwidth
  double compute_ns = 0;    // flops / peak
  double predicted_ns = 0;  // the larger, but never below the launch cost
  std::string bound;        // "memory", "compute" or "latency"
};

// At the given values of the size symbols. InvalidArgument for a kernel whose formulas cannot be
// evaluated or a spec without bandwidths.
absl::StatusOr<RooflinePrediction> PredictRoofline(const Kernel& kernel,
                                                   const std::map<std::string, int64_t>& sizes,
                                                   const DeviceSpec& spec);

}  // namespace stax

#endif  // STAX_PROFILER_ROOFLINE_ROOFLINE_H_
