#include "ir/artifact/artifact_io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/artifact/content_hash.h"
#include "ir/artifact/testing/sample_programs.h"

namespace stax {
namespace {

using ::testing::HasSubstr;

Program SampleProgram() {
  Program program = SymbolicSampleProgram();
  auto& values = *program.mutable_kernels(0)->mutable_candidates(0)->mutable_values();
  for (int i = 0; i < 50; ++i) values[absl::StrCat("P", i)] = i + 1;
  return program;
}

// A map's iteration order differs between objects filled in different orders.
TEST(ArtifactIo, EqualMessagesGiveEqualBytes) {
  Program a = SampleProgram();
  Program b = SampleProgram();
  auto& values = *b.mutable_kernels(0)->mutable_candidates(0)->mutable_values();
  values.clear();
  for (int i = 49; i >= 0; --i) values[absl::StrCat("P", i)] = i + 1;
  values["RBLOCK"] = 8;
  values["XBLOCK"] = 4;
  EXPECT_EQ(EncodeArtifact(ArtifactKind::kProgram, a), EncodeArtifact(ArtifactKind::kProgram, b));
}

TEST(ArtifactIo, RoundTrip) {
  std::string bytes = EncodeArtifact(ArtifactKind::kProgram, SampleProgram());
  absl::StatusOr<Program> back = DecodeProgram(bytes);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(SerializeDeterministically(*back), SerializeDeterministically(SampleProgram()));
}

TEST(ArtifactIo, EveryFlippedBitAndEveryTruncationIsRejected) {
  const std::string bytes = EncodeArtifact(ArtifactKind::kProgram, SampleProgram());
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      EXPECT_EQ(DecodeProgram(damaged).status().code(), absl::StatusCode::kInvalidArgument)
          << "byte " << i << " bit " << bit;
    }
    EXPECT_EQ(DecodeProgram(bytes.substr(0, i)).status().code(), absl::StatusCode::kInvalidArgument)
        << "length " << i;
  }
}

TEST(ArtifactIo, ErrorsSayWhatIsWrong) {
  EXPECT_EQ(DecodeProgram("ELF...").status().message(),
            "is no Stax artifact: it does not begin with STAXART");
  DeviceSpec device;
  device.set_schema_version(kSchemaVersion);
  EXPECT_EQ(DecodeProgram(EncodeArtifact(ArtifactKind::kDevice, device)).status().message(),
            "is a device description, not a program");
  Program newer = SampleProgram();
  newer.set_schema_version(7);
  EXPECT_EQ(DecodeProgram(EncodeArtifact(ArtifactKind::kProgram, newer)).status().message(),
            "has schema version 7; this Stax reads version 1");
}

// A right checksum does not make the content right.
TEST(ArtifactIo, ContentIsVerified) {
  Program program = SampleProgram();
  program.set_inputs(0, 17);
  EXPECT_EQ(DecodeProgram(EncodeArtifact(ArtifactKind::kProgram, program)).status().message(),
            "is no usable program: input 0: there is no buffer 17, the program has 5");
  DeviceSpec device = SampleDevice();
  device.set_latency_ns(-1);
  EXPECT_EQ(DecodeDevice(EncodeArtifact(ArtifactKind::kDevice, device)).status().message(),
            "is no usable device description: latency_ns is -1, expected a number from 0");
}

TEST(ArtifactIo, FilesAreReplacedWholeOrNotAtAll) {
  std::string path = absl::StrCat(getenv("TEST_TMPDIR"), "/p.stax");
  ASSERT_TRUE(WriteProgram(path, SampleProgram()).ok());
  ASSERT_TRUE(ReadProgram(path).ok());
  absl::Status status = WriteFileAtomically("/nonexistent/p.stax", "x");
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status.message(), "cannot write /nonexistent/p.stax: No such file or directory");
  status = WriteFileAtomically("/dev/full", "x");
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("No space left on device"));
}

std::string FreshFolder(const std::string& name) {
  std::string folder = absl::StrCat(getenv("TEST_TMPDIR"), "/", name);
  EXPECT_EQ(mkdir(folder.c_str(), 0755), 0);
  return folder;
}

std::vector<std::string> Names(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

TEST(WriteFileAtomically, KilledInTheMiddleLeavesNothingBehind) {
  std::string folder = FreshFolder("killed");
  std::string path = absl::StrCat(folder, "/p.stax");
  ASSERT_TRUE(WriteFileAtomically(path, "old").ok());
  const std::string content(size_t{64} << 20, 'x');
  for (int trial = 0; trial < 10; ++trial) {
    pid_t child = fork();
    if (child == 0) _exit(WriteFileAtomically(path, content).ok() ? 0 : 1);
    usleep(1000 * (trial + 1));  // far less than it takes
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    EXPECT_EQ(Names(folder), std::vector<std::string>{"p.stax"});
  }
}

TEST(WriteFileAtomically, FollowsLinks) {
  std::string folder = FreshFolder("links");
  std::string link = absl::StrCat(folder, "/link");
  ASSERT_TRUE(WriteFileAtomically(absl::StrCat(folder, "/file"), "old").ok());
  ASSERT_EQ(symlink("file", link.c_str()), 0);
  ASSERT_TRUE(WriteFileAtomically(link, "new").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(*ReadFile(absl::StrCat(folder, "/file")), "new");
}

// As /dev/stdout does when the shell sends stdout into a file.
TEST(WriteFileAtomically, ALinkToAnOpenDescriptorIsWrittenThroughIt) {
  std::string folder = FreshFolder("descriptors");
  std::string file = absl::StrCat(folder, "/file");
  int fd = open(file.c_str(), O_CREAT | O_WRONLY, 0644);
  ASSERT_EQ(write(fd, "before ", 7), 7);
  std::string link = absl::StrCat(folder, "/link");
  ASSERT_EQ(symlink(absl::StrCat("/proc/self/fd/", fd).c_str(), link.c_str()), 0);
  ASSERT_TRUE(WriteFileAtomically(link, "new").ok());
  ASSERT_TRUE(WriteFileAtomically(absl::StrCat("/dev/fd/", fd), "er").ok());
  close(fd);
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(*ReadFile(file), "before newer");
  EXPECT_EQ(Names(folder), (std::vector<std::string>{"file", "link"}));
}

TEST(WriteFileAtomically, NewFilesHaveTheModeThatTheUserWants) {
  std::string folder = FreshFolder("modes");
  std::string path = absl::StrCat(folder, "/p");
  mode_t old = umask(0027);
  ASSERT_TRUE(WriteFileAtomically(path, "x").ok());
  umask(old);
  struct stat info;
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

TEST(ContentHash, KnownValueOfTheEmptyString) {
  // XXH3_128bits of no bytes, from the xxHash specification.
  EXPECT_EQ(ContentHash(""), "99aa06d3014798d86001c324468d497f");
}

}  // namespace
}  // namespace stax
