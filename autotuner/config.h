// Configurations and configuration spaces (definition 9.2 of the specification).
#ifndef STAX_AUTOTUNER_CONFIG_H_
#define STAX_AUTOTUNER_CONFIG_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/artifact/program.pb.h"

namespace stax {

// Parameter name -> value.
using TuningConfig = std::map<std::string, int64_t>;

TuningConfig FromProto(const ConfigProto& proto);
ConfigProto ToProto(const TuningConfig& config);

// "RBLOCK=1024 WARPS=4"; also the key of a configuration in the store.
std::string ToText(const TuningConfig& config);

// All members of the product that meet every constraint, the last parameter varying fastest.
// InvalidArgument for a constraint that is no formula over the parameters or a space of more than
// `limit` members.
absl::StatusOr<std::vector<TuningConfig>> EnumerateSpace(const ConfigSpace& space, int64_t limit);

}  // namespace stax

#endif  // STAX_AUTOTUNER_CONFIG_H_
