// Fuzz target of .npy files: any bytes give a tensor that is written and read back the same, or an
// InvalidArgument.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ir/check.h"
#include "tools/npy/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<stax::HostTensor> tensor = stax::ParseNpy(bytes);
  if (!tensor.ok()) {
    STAX_CHECK(absl::IsInvalidArgument(tensor.status()) && !tensor.status().message().empty(),
               tensor.status().ToString());
    return 0;
  }
  const absl::StatusOr<stax::HostTensor> again = stax::ParseNpy(stax::FormatNpy(*tensor));
  STAX_CHECK(again.ok(), again.status().ToString());
  STAX_CHECK(
      again->dtype == tensor->dtype && again->dims == tensor->dims && again->bytes == tensor->bytes,
      "a tensor that is written reads as another one");
  return 0;
}
