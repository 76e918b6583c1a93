#include "tools/cli/output_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace stax {
namespace {

// 0 or errno.
int WhyNotWritable(const std::string& path) {
  // Devices and open descriptors say it themselves; their folders need not be writable.
  if (absl::StartsWith(path, "/dev/") || absl::StartsWith(path, "/proc/")) return 0;
  struct stat info;
  const bool is_link = lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode);
  const bool exists = stat(path.c_str(), &info) == 0;
  if (!exists && (is_link || errno != ENOENT)) return errno;
  if (exists && S_ISDIR(info.st_mode)) return EISDIR;
  // A file is replaced, for which its folder counts; what is no file is written to.
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const bool replaced = !is_link && (!exists || S_ISREG(info.st_mode));
  if (replaced) return access(folder.c_str(), W_OK | X_OK) == 0 ? 0 : errno;
  return is_link || access(path.c_str(), W_OK) == 0 ? 0 : errno;
}

}  // namespace

absl::Status CheckKeepsInput(const std::string& input, const std::string& output) {
  struct stat in;
  struct stat out;
  const bool both = stat(input.c_str(), &in) == 0 && stat(output.c_str(), &out) == 0;
  if (!both || !S_ISREG(in.st_mode) || in.st_dev != out.st_dev || in.st_ino != out.st_ino)
    return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(output, " is the input itself and would be lost; give the output another name"));
}

absl::Status CheckOutputFiles(const std::vector<std::string>& paths) {
  std::set<std::string> files;
  for (const std::string& path : paths) {
    if (path.empty()) continue;
    if (int error = WhyNotWritable(path); error != 0)
      return absl::InvalidArgumentError(absl::StrCat("cannot write ", path, ": ", strerror(error)));
    if (!absl::StartsWith(path, "/dev/") && !files.insert(path).second)
      return absl::InvalidArgumentError(absl::StrCat("two outputs would both be ", path));
  }
  return absl::OkStatus();
}

}  // namespace stax
