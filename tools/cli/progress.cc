#include "tools/cli/progress.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "ir/printable.h"

namespace stax {
namespace {

constexpr int kBarWidth = 24;

std::string Bar(int done, int total) {
  int filled = total > 0 ? std::min(kBarWidth, kBarWidth * done / total) : kBarWidth;
  return absl::StrCat("[", std::string(filled, '#'), std::string(kBarWidth - filled, '.'), "]");
}

}  // namespace

Progress::Progress(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1) {}

void Progress::Show(absl::string_view task, int done, int total, absl::string_view detail) {
  if (quiet_) return;
  const std::string count = absl::StrCat(done, "/", total);
  if (terminal_) {
    // Back to the line's start, and clear what the last text left.
    std::cerr << "\r\x1b[K" << Bar(done, total) << " " << count << " " << Printable(task) << "  "
              << Printable(detail) << std::flush;
    open_line_ = true;
  } else {
    std::cerr << Printable(task) << " " << count << " " << Printable(detail) << "\n";
  }
}

void Progress::Finish() {
  if (open_line_) std::cerr << "\n";
  open_line_ = false;
}

}  // namespace stax
