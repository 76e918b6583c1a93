// Tuner: algorithm 9.1 around injected seams.
#ifndef STAX_AUTOTUNER_TUNER_H_
#define STAX_AUTOTUNER_TUNER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "autotuner/builder.h"
#include "autotuner/runner.h"
#include "autotuner/store.h"
#include "ir/artifact/program.pb.h"

namespace stax {

struct TunerOptions {
  std::string strategy = "candidates";
  absl::Duration budget = absl::InfiniteDuration();  // for the whole program
  int64_t trials = INT64_MAX;                        // measurements of one kernel
  std::map<std::string, int64_t> sizes;              // symbols; their hints by default
  // Called after each measurement: kernel, measurements done and known so far, the latest.
  std::function<void(const Kernel&, int done, int known, const Measurement&)> progress;
};

struct TunerSeams {
  Builder* builder;
  Runner* runner;
  Store* store;
  std::string device;  // runtime/device.h, DeviceIdentity
  std::string driver_version;
  std::string timing;  // KernelTimer::method of the runner
};

// Tunes every kernel of `program`, replaces its variant by the fastest right one, and adds one
// TuningRecord a kernel. A configuration that spills, does not compile, or computes something else
// costs infinity. Kernels where nothing works keep their variant, with a record that says so.
// Internal when a configuration broke the device; it is stored as failed, so that the next run
// leaves it out.
absl::Status TuneProgram(const TunerOptions& options, const TunerSeams& seams, Program& program);

}  // namespace stax

#endif  // STAX_AUTOTUNER_TUNER_H_
