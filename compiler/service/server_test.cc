#include "compiler/service/server.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "compiler/service/compile_service.grpc.pb.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"

namespace stax {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

grpc::Status Compile(const std::string& address, const std::string& model,
                     CompileResponse* response) {
  auto stub =
      CompileService::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  CompileRequest request;
  request.set_model(model);
  request.set_format("textproto");
  request.set_target("cpu:x86-64-v3");
  return stub->Compile(&context, request, response);
}

std::string Negation(const std::string& op) {
  return absl::StrCat("input { name: 'x' dtype: 'f32' dims: '8' }\nnode { op: '", op,
                      "' input: 'x' output: 'y' }\noutput: 'y'");
}

TEST(CompileServer, CompilesAndSaysWhereItListens) {
  auto server = StartCompileServer("127.0.0.1:0");
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_THAT((*server)->address(), StartsWith("127.0.0.1:"));
  CompileResponse response;
  grpc::Status status = Compile((*server)->address(), Negation("neg"), &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response.program().kernels_size(), 1);
  (*server)->Shutdown();
  (*server)->Wait();
}

TEST(CompileServer, LongMessagesArriveCut) {
  auto server = StartCompileServer("127.0.0.1:0");
  ASSERT_TRUE(server.ok()) << server.status();
  CompileResponse response;
  grpc::Status status = Compile((*server)->address(), Negation(std::string(20000, 'x')), &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), StartsWith("node 'y': unknown op 'xxxx"));
  EXPECT_THAT(status.error_message(), HasSubstr(" bytes more)"));
}

TEST(CompileServer, DoesNotTakeASocketFromAnotherServer) {
  std::string path = absl::StrCat(getenv("TEST_TMPDIR"), "/s");
  if (path.size() > 90) path = absl::StrCat("/tmp/stax-server-test-", getpid());
  std::string address = absl::StrCat("unix:", path);
  auto first = StartCompileServer(address);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(StartCompileServer(address).status().message(),
            absl::StrCat("cannot listen on ", address, ": another service does"));
  CompileResponse response;
  EXPECT_TRUE(Compile(address, Negation("neg"), &response).ok());
  (*first)->Shutdown();
  EXPECT_NE(access(path.c_str(), F_OK), 0);

  // What a server that was killed leaves.
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  strncpy(name.sun_path, path.c_str(), sizeof(name.sun_path) - 1);
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&name), sizeof(name)), 0);
  close(fd);
  auto second = StartCompileServer(address);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_TRUE(Compile(address, Negation("neg"), &response).ok());
  (*second)->Shutdown();
}

TEST(CompileServer, NamesOfSocketsStay) {
  const std::string path = "socket:0";  // relative: the system's limit is 107 characters
  auto server = StartCompileServer("unix:" + path);
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_EQ((*server)->address(), "unix:" + path);
  std::remove(path.c_str());
}

TEST(CompileServer, DoesNotShareAPort) {
  auto server = StartCompileServer("127.0.0.1:0");
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_EQ(StartCompileServer((*server)->address()).status().message(),
            absl::StrCat("cannot listen on ", (*server)->address(), ": in use, or not permitted"));
}

TEST(CompileServer, ListensOnThisMachineOnly) {
  for (const char* address : {"0.0.0.0:0", "127.example.com:0", "example.com:0", "[::]:0",
                              "127.0.0.1.example.com:0", "192.168.0.1:0", ":0", "0"}) {
    absl::Status status = StartCompileServer(address).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message(),
              absl::StrCat("--serve=", address,
                           ": expected unix:PATH or a loopback address such as 127.0.0.1:PORT; "
                           "serving beyond this machine needs TLS, which is not there yet"));
  }
  auto server = StartCompileServer("127.1.2.3:0");
  EXPECT_TRUE(server.ok()) << server.status();
}

}  // namespace
}  // namespace stax
