// Whether a file can be written, before the work that makes its content.
#ifndef STAX_TOOLS_CLI_OUTPUT_FILE_H_
#define STAX_TOOLS_CLI_OUTPUT_FILE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace stax {

// InvalidArgument when a file cannot be written (a folder, no such folder, no permission) or two
// are one; empty names are left out. Changes nothing. Writing can still fail, on a full disk say.
absl::Status CheckOutputFiles(const std::vector<std::string>& paths);

// InvalidArgument when the output is the input, by whatever name: it would be lost.
absl::Status CheckKeepsInput(const std::string& input, const std::string& output);

}  // namespace stax

#endif  // STAX_TOOLS_CLI_OUTPUT_FILE_H_
