// What stax-cat prints.
#ifndef STAX_TOOLS_CAT_PRINT_ARTIFACT_H_
#define STAX_TOOLS_CAT_PRINT_ARTIFACT_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace stax {

enum class ArtifactView { kText, kJson, kPtx, kLlvm };

// A file's bytes in one of the forms. InvalidArgument when they are no artifact ("is ..."), or when
// it has no code of that form.
absl::StatusOr<std::string> PrintArtifact(std::string_view file_bytes, ArtifactView view);

}  // namespace stax

#endif  // STAX_TOOLS_CAT_PRINT_ARTIFACT_H_
