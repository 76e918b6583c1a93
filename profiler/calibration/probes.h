// Probes: the kernels a calibration times, for each kind of device.
#ifndef STAX_PROFILER_CALIBRATION_PROBES_H_
#define STAX_PROFILER_CALIBRATION_PROBES_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/device.h"

namespace stax {

// Every method launches once, on the default stream.
class Probes {
 public:
  virtual ~Probes() = default;
  // Bytes of the streams; each far larger than the last-level cache.
  virtual int64_t stream_bytes() const = 0;
  virtual absl::Status Read() = 0;   // stream_bytes read
  virtual absl::Status Write() = 0;  // stream_bytes written
  virtual absl::Status Copy() = 0;   // stream_bytes read, as many written
  // A chain of dependent loads through a random cycle of cache lines.
  virtual int64_t chase_loads() const = 0;
  virtual absl::Status Chase() = 0;
  virtual double fma_flops() const = 0;  // of one Fma(); an FMA counts 2
  virtual absl::Status Fma() = 0;
  virtual absl::Status Empty() = 0;
};

absl::StatusOr<std::unique_ptr<Probes>> MakeCudaProbes(Device& device);
absl::StatusOr<std::unique_ptr<Probes>> MakeCpuProbes(Device& device);

}  // namespace stax

#endif  // STAX_PROFILER_CALIBRATION_PROBES_H_
