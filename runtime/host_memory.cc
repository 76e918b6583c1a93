#include "runtime/host_memory.h"

#include <unistd.h>

#include "absl/strings/str_cat.h"

namespace stax {

int64_t HostMemoryBytes() {
  static const int64_t bytes = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE);
  return bytes;
}

absl::Status CheckFitsHostMemory(absl::string_view what, int64_t bytes) {
  if (bytes <= HostMemoryBytes()) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("cannot allocate ", bytes, " bytes for ", what,
                                                   ": this machine has ", HostMemoryBytes()));
}

}  // namespace stax
