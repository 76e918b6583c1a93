#include "ir/artifact/artifact_io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "ir/artifact/content_hash.h"
#include "ir/artifact/program_verify.h"

namespace stax {
namespace {

constexpr std::string_view kMagic = "STAXART";  // then the kind, 8 bytes together
constexpr size_t kHeaderBytes = 16;             // magic, kind, 64-bit checksum of the payload
// Most that is read from a pipe or a device, which may never end: what protobuf takes in a message.
constexpr size_t kMaxStreamBytes = INT32_MAX;

absl::Status FileError(absl::string_view doing, const std::string& path, int error) {
  std::string text = absl::StrCat("cannot ", doing, " ", path, ": ", strerror(error));
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return absl::NotFoundError(text);
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::PermissionDeniedError(text);
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return absl::ResourceExhaustedError(text);
    default:  // folders, loops of links, names too long, devices: the request's fault
      return absl::InvalidArgumentError(text);
  }
}

// Writes all of `content` and makes it durable; 0 or errno.
int WriteAll(int fd, std::string_view content) {
  while (!content.empty()) {
    ssize_t n = write(fd, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    content.remove_prefix(static_cast<size_t>(n));
  }
  return fsync(fd) == 0 || errno == EINVAL ? 0 : errno;  // EINVAL: a file that cannot be synced
}

// Where to write: into an open descriptor, or a file that is to be replaced.
struct Destination {
  int fd = -1;
  std::string path;
};

// The descriptor N of /proc/self/fd/N, /dev/fd/N and of links to these (/dev/stdout), else -1.
int DescriptorOf(const std::string& path) {
  char link[64];
  ssize_t length = readlink(path.c_str(), link, sizeof(link));
  for (absl::string_view text :
       {absl::string_view(path), absl::string_view(link, length > 0 ? length : 0)}) {
    int fd = -1;
    if ((absl::ConsumePrefix(&text, "/proc/self/fd/") || absl::ConsumePrefix(&text, "/dev/fd/")) &&
        absl::SimpleAtoi(text, &fd))
      return fd;
  }
  return -1;
}

absl::StatusOr<Destination> DestinationOf(const std::string& path) {
  if (int fd = DescriptorOf(path); fd >= 0) {
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);  // with the offset of whoever opened it
    if (copy < 0) return FileError("write", path, errno);
    return Destination{copy, ""};
  }
  struct stat info;
  if (lstat(path.c_str(), &info) != 0) return Destination{-1, path};
  std::string target = path;
  if (S_ISLNK(info.st_mode)) {
    // The link stays; the file it names is replaced.
    char* real = realpath(path.c_str(), nullptr);
    if (real == nullptr) return FileError("write", path, errno);
    target = real;
    free(real);
    if (stat(path.c_str(), &info) != 0) return FileError("write", path, errno);
  }
  if (S_ISREG(info.st_mode) || S_ISDIR(info.st_mode)) return Destination{-1, target};
  // A device or pipe cannot be replaced.
  int fd = open(target.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return FileError("write", path, errno);
  return Destination{fd, ""};
}

// Takes `fd`. 0 or errno, like those below.
int WriteInPlace(int fd, std::string_view content) {
  int error = WriteAll(fd, content);
  return close(fd) != 0 && error == 0 ? errno : error;
}

// A name beside `path` that no other write uses.
std::string TemporaryName(const std::string& path) {
  static std::atomic<int> count = 0;
  return absl::StrCat(path, ".", getpid(), ".", count.fetch_add(1));
}

// A file without a name in the folder of `path`, so that a process that is killed leaves nothing;
// where the file system has no such files, one under the name that is returned in `temporary`.
int OpenTemporary(const std::string& path, std::string& temporary) {
  size_t slash = path.rfind('/');
  std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  int fd = open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (fd >= 0) return fd;
  temporary = TemporaryName(path);
  return open(temporary.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
}

int ReplaceFile(const std::string& path, std::string_view content) {
  std::string temporary;
  int fd = OpenTemporary(path, temporary);
  if (fd < 0) return errno;
  int error = WriteAll(fd, content);
  if (error == 0 && temporary.empty()) {
    temporary = TemporaryName(path);
    std::string self = absl::StrCat("/proc/self/fd/", fd);
    if (linkat(AT_FDCWD, self.c_str(), AT_FDCWD, temporary.c_str(), AT_SYMLINK_FOLLOW) != 0)
      error = errno;
  }
  if (close(fd) != 0 && error == 0) error = errno;
  if (error == 0 && rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0 && !temporary.empty()) unlink(temporary.c_str());
  return error;
}

absl::string_view KindName(ArtifactKind kind) {
  switch (kind) {
    case ArtifactKind::kProgram:
      return "program";
    case ArtifactKind::kReport:
      return "profile report";
    case ArtifactKind::kDevice:
      return "device description";
  }
  return "unknown artifact";
}

absl::Status Verify(const Program& program) { return VerifyProgram(program); }
absl::Status Verify(const DeviceSpec& device) { return VerifyDevice(device); }
// What compares with a report looks at it (profiler/regression).
absl::Status Verify(const ProfileReport&) { return absl::OkStatus(); }

template <typename Message>
absl::StatusOr<Message> Decode(ArtifactKind wanted, std::string_view bytes) {
  absl::StatusOr<ArtifactKind> kind = ArtifactKindOf(bytes);
  if (!kind.ok()) return kind.status();
  if (*kind != wanted) {
    return absl::InvalidArgumentError(
        absl::StrCat("is a ", KindName(*kind), ", not a ", KindName(wanted)));
  }
  uint64_t stored;
  memcpy(&stored, bytes.data() + kMagic.size() + 1, sizeof(stored));
  std::string_view payload = bytes.substr(kHeaderBytes);
  if (uint64_t actual = Checksum(payload); actual != stored) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "is truncated or damaged: its checksum is %016x, not %016x", actual, stored));
  }
  Message message;
  if (payload.size() > INT32_MAX || !message.ParseFromArray(payload.data(), payload.size()))
    return absl::InvalidArgumentError("is no valid protobuf message");
  if (message.schema_version() != kSchemaVersion) {
    return absl::InvalidArgumentError(absl::StrCat("has schema version ", message.schema_version(),
                                                   "; this Stax reads version ", kSchemaVersion));
  }
  if (absl::Status status = Verify(message); !status.ok())
    return absl::InvalidArgumentError(
        absl::StrCat("is no usable ", KindName(wanted), ": ", status.message()));
  return message;
}

template <typename Message>
absl::StatusOr<Message> Read(ArtifactKind kind, const std::string& path) {
  absl::StatusOr<std::string> bytes = ReadFile(path);
  if (!bytes.ok()) return bytes.status();
  absl::StatusOr<Message> message = Decode<Message>(kind, *bytes);
  if (!message.ok())
    return absl::InvalidArgumentError(absl::StrCat(path, " ", message.status().message()));
  return message;
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return FileError("read", path, errno);
  auto closer = absl::MakeCleanup([fd] { close(fd); });
  std::string content;
  struct stat info;
  const bool ends = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  if (ends) content.reserve(info.st_size);
  char chunk[1 << 16];
  while (true) {
    ssize_t n = read(fd, chunk, sizeof(chunk));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FileError("read", path, errno);
    if (n == 0) return content;
    content.append(chunk, static_cast<size_t>(n));
    if (!ends && content.size() > kMaxStreamBytes)
      return absl::InvalidArgumentError(absl::StrCat(
          "cannot read ", path, ": it has not ended after ", kMaxStreamBytes, " bytes"));
  }
}

absl::Status WriteFileAtomically(const std::string& path, std::string_view content) {
  absl::StatusOr<Destination> to = DestinationOf(path);
  if (!to.ok()) return to.status();
  int error = to->fd >= 0 ? WriteInPlace(to->fd, content) : ReplaceFile(to->path, content);
  return error == 0 ? absl::OkStatus() : FileError("write", path, error);
}

absl::StatusOr<ArtifactKind> ArtifactKindOf(std::string_view file_bytes) {
  if (file_bytes.substr(0, kMagic.size()) != kMagic)
    return absl::InvalidArgumentError("is no Stax artifact: it does not begin with STAXART");
  if (file_bytes.size() < kHeaderBytes)
    return absl::InvalidArgumentError("is truncated: it ends within its 16-byte header");
  auto kind = static_cast<ArtifactKind>(file_bytes[kMagic.size()]);
  switch (kind) {
    case ArtifactKind::kProgram:
    case ArtifactKind::kReport:
    case ArtifactKind::kDevice:
      return kind;
  }
  return absl::InvalidArgumentError("is damaged: its header names no kind of artifact");
}

std::string SerializeDeterministically(const google::protobuf::MessageLite& message) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  message.SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

std::string EncodeArtifact(ArtifactKind kind, const google::protobuf::MessageLite& message) {
  std::string payload = SerializeDeterministically(message);
  uint64_t checksum = Checksum(payload);
  std::string bytes(kMagic);
  bytes.push_back(static_cast<char>(kind));
  bytes.append(reinterpret_cast<const char*>(&checksum), sizeof(checksum));
  bytes.append(payload);
  return bytes;
}

absl::StatusOr<Program> DecodeProgram(std::string_view file_bytes) {
  return Decode<Program>(ArtifactKind::kProgram, file_bytes);
}
absl::StatusOr<ProfileReport> DecodeReport(std::string_view file_bytes) {
  return Decode<ProfileReport>(ArtifactKind::kReport, file_bytes);
}
absl::StatusOr<DeviceSpec> DecodeDevice(std::string_view file_bytes) {
  return Decode<DeviceSpec>(ArtifactKind::kDevice, file_bytes);
}

absl::StatusOr<Program> ReadProgram(const std::string& path) {
  return Read<Program>(ArtifactKind::kProgram, path);
}
absl::Status WriteProgram(const std::string& path, const Program& program) {
  return WriteFileAtomically(path, EncodeArtifact(ArtifactKind::kProgram, program));
}
absl::StatusOr<ProfileReport> ReadReport(const std::string& path) {
  return Read<ProfileReport>(ArtifactKind::kReport, path);
}
absl::Status WriteReport(const std::string& path, const ProfileReport& report) {
  return WriteFileAtomically(path, EncodeArtifact(ArtifactKind::kReport, report));
}
absl::StatusOr<DeviceSpec> ReadDevice(const std::string& path) {
  return Read<DeviceSpec>(ArtifactKind::kDevice, path);
}
absl::Status WriteDevice(const std::string& path, const DeviceSpec& device) {
  return WriteFileAtomically(path, EncodeArtifact(ArtifactKind::kDevice, device));
}

}  // namespace stax
