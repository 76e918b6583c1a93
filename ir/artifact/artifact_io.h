// Reading and writing artifact files (.stax, .report, .device).
//
// A file is an 8-byte magic, the kind, a checksum of the payload and the payload, a protobuf
// message encoded deterministically: equal messages give equal bytes. Files are replaced
// atomically: written without a name, synced, linked beside the target, renamed. A failed write, or
// a process killed in it, leaves the old file as it was and no partial one.
#ifndef STAX_IR_ARTIFACT_ARTIFACT_IO_H_
#define STAX_IR_ARTIFACT_ARTIFACT_IO_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/message_lite.h"
#include "ir/artifact/device.pb.h"
#include "ir/artifact/program.pb.h"
#include "ir/artifact/report.pb.h"

namespace stax {

inline constexpr uint32_t kSchemaVersion = 1;

enum class ArtifactKind : char { kProgram = 'P', kReport = 'R', kDevice = 'D' };

// Errors name the path. NotFound, PermissionDenied, ResourceExhausted (disk full), Internal.
absl::StatusOr<std::string> ReadFile(const std::string& path);
// Links are followed. Devices, pipes and open descriptors (/dev/stdout) are written in place.
absl::Status WriteFileAtomically(const std::string& path, std::string_view content);

// "program", "report" or "device"; InvalidArgument for bytes that are no artifact.
absl::StatusOr<ArtifactKind> ArtifactKindOf(std::string_view file_bytes);

// Encoding of whole files. Decoding checks magic, kind, checksum, schema version and content
// (ir/artifact/program_verify.h): InvalidArgument says what is wrong ("is truncated or damaged",
// "is no usable program: ...").
std::string SerializeDeterministically(const google::protobuf::MessageLite& message);
std::string EncodeArtifact(ArtifactKind kind, const google::protobuf::MessageLite& message);
absl::StatusOr<Program> DecodeProgram(std::string_view file_bytes);
absl::StatusOr<ProfileReport> DecodeReport(std::string_view file_bytes);
absl::StatusOr<DeviceSpec> DecodeDevice(std::string_view file_bytes);

absl::StatusOr<Program> ReadProgram(const std::string& path);
absl::Status WriteProgram(const std::string& path, const Program& program);
absl::StatusOr<ProfileReport> ReadReport(const std::string& path);
absl::Status WriteReport(const std::string& path, const ProfileReport& report);
absl::StatusOr<DeviceSpec> ReadDevice(const std::string& path);
absl::Status WriteDevice(const std::string& path, const DeviceSpec& device);

}  // namespace stax

#endif  // STAX_IR_ARTIFACT_ARTIFACT_IO_H_
