// How much memory this machine has: sizes come from files and may be anything.
#ifndef STAX_RUNTIME_HOST_MEMORY_H_
#define STAX_RUNTIME_HOST_MEMORY_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace stax {

int64_t HostMemoryBytes();

// ResourceExhausted "cannot allocate 9 bytes for <what>: ..." when that many bytes are more than
// the machine has. Without the question a vector of them ends the program.
absl::Status CheckFitsHostMemory(absl::string_view what, int64_t bytes);

}  // namespace stax

#endif  // STAX_RUNTIME_HOST_MEMORY_H_
