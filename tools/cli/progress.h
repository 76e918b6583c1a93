// Progress on stderr: a bar on a terminal, plain lines elsewhere.
#ifndef STAX_TOOLS_CLI_PROGRESS_H_
#define STAX_TOOLS_CLI_PROGRESS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace stax {

class Progress {
 public:
  explicit Progress(bool quiet);

  // Step `done` of `total` of the task, with what happened in it.
  void Show(absl::string_view task, int done, int total, absl::string_view detail);
  // Leaves the terminal's cursor on a new line.
  void Finish();

 private:
  bool quiet_;
  bool terminal_;
  bool open_line_ = false;
};

}  // namespace stax

#endif  // STAX_TOOLS_CLI_PROGRESS_H_
