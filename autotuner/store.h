// Store: every measurement, by identity. A result is reused only for the same kernel, target,
// device, driver, compiler, way of timing, sizes and configuration, so adding a configuration
// measures one.
#ifndef STAX_AUTOTUNER_STORE_H_
#define STAX_AUTOTUNER_STORE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "autotuner/config.h"
#include "ir/artifact/program.pb.h"

namespace stax {

// What a measurement holds for, besides its configuration.
struct TuningIdentity {
  std::string kernel_hash;
  std::string target;  // "cpu:x86-64-v4": the hash is the same for every target
  std::string device;  // runtime/device.h, DeviceIdentity
  std::string driver_version;
  std::string compiler_version;
  std::string timing;  // KernelTimer::method: times taken in other ways do not compare
  std::map<std::string, int64_t> sizes;
};

class Store {
 public:
  virtual ~Store() = default;
  virtual absl::StatusOr<std::optional<Measurement>> Find(const TuningIdentity& identity,
                                                          const TuningConfig& config) = 0;
  // Replaces an older measurement of the same identity and configuration.
  virtual absl::Status Put(const TuningIdentity& identity, const Measurement& measurement) = 0;
};

// A SQLite file, made when it does not exist; ":memory:" for none. Several processes may use one
// file. InvalidArgument or PermissionDenied naming the file when it is no such store or cannot be
// written; another program's database is left as it is.
absl::StatusOr<std::unique_ptr<Store>> OpenSqliteStore(const std::string& path);

}  // namespace stax

#endif  // STAX_AUTOTUNER_STORE_H_
