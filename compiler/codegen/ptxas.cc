#include "compiler/codegen/ptxas.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace stax {
namespace {

bool IsExecutable(const std::string& path) { return access(path.c_str(), X_OK) == 0; }

std::string FindPtxas() {
  if (const char* path = std::getenv("STAX_PTXAS")) return IsExecutable(path) ? path : "";
  std::vector<std::string> folders;
  if (const char* path = std::getenv("PATH")) folders = absl::StrSplit(path, ':');
  if (const char* home = std::getenv("CUDA_HOME")) folders.push_back(absl::StrCat(home, "/bin"));
  folders.emplace_back("/usr/local/cuda/bin");
  for (const std::string& folder : folders) {
    const std::string path = absl::StrCat(folder, "/ptxas");
    if (IsExecutable(path)) return path;
  }
  return "";
}

// A directory of its own that is gone with everything in it at the end.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    const char* base = std::getenv("TMPDIR");
    path_ = absl::StrCat(base == nullptr ? "/tmp" : base, "/stax-ptxas-XXXXXX");
    ok_ = mkdtemp(path_.data()) != nullptr;
  }
  ~TemporaryDirectory() {
    if (!ok_) return;
    for (const char* name : {"kernel.ptx", "kernel.cubin", "report"}) unlink(File(name).c_str());
    rmdir(path_.c_str());
  }
  bool ok() const { return ok_; }
  std::string File(const std::string& name) const { return absl::StrCat(path_, "/", name); }

 private:
  std::string path_;
  bool ok_ = false;
};

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream content;
  content << in.rdbuf();
  return content.str();
}

// Runs a program with stdout and stderr in `output`; its exit code, -1 when it did not start.
int Run(const std::vector<std::string>& args, const std::string& output) {
  std::vector<char*> argv;
  for (const std::string& arg : args) argv.push_back(const_cast<char*>(arg.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return -1;
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// The number that ends right before `what` in `line`, e.g. 40 in "Used 40 registers".
bool NumberBefore(absl::string_view line, absl::string_view what, int32_t* number) {
  const size_t end = line.find(what);
  if (end == absl::string_view::npos) return false;
  size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  return absl::SimpleAtoi(line.substr(begin, end - begin), number);
}

}  // namespace

const std::string& PtxasPath() {
  static const auto& path = *new std::string(FindPtxas());
  return path;
}

void ParsePtxasReport(const std::string& report, PtxasResult* result) {
  for (absl::string_view line : absl::StrSplit(report, '\n')) {
    int32_t number = 0;
    if (NumberBefore(line, " registers", &number)) result->registers = number;
    if (NumberBefore(line, " bytes stack frame", &number)) result->stack_bytes += number;
    if (NumberBefore(line, " bytes spill stores", &number)) result->spill_bytes += number;
    if (NumberBefore(line, " bytes spill loads", &number)) result->spill_bytes += number;
  }
}

absl::StatusOr<PtxasResult> RunPtxas(const std::string& ptx, const std::string& arch) {
  if (PtxasPath().empty()) return absl::FailedPreconditionError("ptxas was not found");
  const TemporaryDirectory directory;
  if (!directory.ok()) return absl::InternalError("no temporary directory for ptxas");
  std::ofstream(directory.File("kernel.ptx"), std::ios::binary) << ptx;
  const int code = Run({PtxasPath(), "-v", "-arch=" + arch, "-o", directory.File("kernel.cubin"),
                        directory.File("kernel.ptx")},
                       directory.File("report"));
  const std::string report = ReadFile(directory.File("report"));
  if (code != 0) return absl::InternalError(absl::StrCat("ptxas: ", report));
  PtxasResult result;
  ParsePtxasReport(report, &result);
  result.cubin = ReadFile(directory.File("kernel.cubin"));
  return result;
}

}  // namespace stax
