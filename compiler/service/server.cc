#include "compiler/service/server.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "compiler/service/compile_service.grpc.pb.h"
#include "compiler/service/compiler.h"
#include "grpcpp/grpcpp.h"

namespace stax {
namespace {

// Models carry their weights: as large as protobuf allows.
constexpr int kMaxMessageBytes = INT32_MAX;

// Messages travel in headers, of which clients take 8 KiB; three bytes there for one that is no
// ASCII. A longer one would replace the error by one about its length.
constexpr size_t kMaxErrorBytes = 2000;

// Time for requests under way when the server is shut down.
constexpr std::chrono::seconds kGrace(1);

// absl's and gRPC's codes are the same numbers.
grpc::Status ToGrpc(const absl::Status& status) {
  std::string message(status.message());
  if (message.size() > kMaxErrorBytes) {
    size_t more = message.size() - kMaxErrorBytes;
    message.resize(kMaxErrorBytes);
    absl::StrAppend(&message, " ... (", more, " bytes more)");
  }
  return grpc::Status(static_cast<grpc::StatusCode>(status.raw_code()), message);
}

class Service : public CompileService::Service {
 public:
  grpc::Status Compile(grpc::ServerContext*, const CompileRequest* request,
                       CompileResponse* response) override {
    absl::StatusOr<Program> program =
        CompileModel(request->model(), request->format(), request->target());
    if (!program.ok()) return ToGrpc(program.status());
    *response->mutable_program() = *std::move(program);
    return grpc::Status::OK;
  }

  grpc::Status CompileVariant(grpc::ServerContext*, const CompileVariantRequest* request,
                              CompileVariantResponse* response) override {
    absl::StatusOr<Variant> variant =
        CompileKernelVariant(request->kernel(), request->config(), request->target());
    if (!variant.ok()) return ToGrpc(variant.status());
    *response->mutable_variant() = *std::move(variant);
    return grpc::Status::OK;
  }
};

constexpr char kUnix[] = "unix:";
bool IsSocketFile(const std::string& address) { return absl::StartsWith(address, kUnix); }

absl::Status CannotListen(const std::string& address, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("cannot listen on ", address, ": ", why));
}

// gRPC takes a Unix socket's path over from whoever has it: rightly from a server that died and
// left it, not from one that is there. Of what is wrong with a path it tells its log only.
absl::Status CheckSocketFile(const std::string& address) {
  sockaddr_un to = {};
  to.sun_family = AF_UNIX;
  const std::string path = address.substr(strlen(kUnix));
  if (path.empty() || path.size() >= sizeof(to.sun_path))
    return CannotListen(address, absl::StrCat("a socket's path has 1 to ", sizeof(to.sun_path) - 1,
                                              " bytes, this one ", path.size()));
  path.copy(to.sun_path, path.size());
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return CannotListen(address, strerror(errno));
  auto closer = absl::MakeCleanup([fd] { close(fd); });
  if (connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof(to)) == 0)
    return CannotListen(address, "another service does");
  struct stat info;
  if (lstat(path.c_str(), &info) == 0)
    return S_ISSOCK(info.st_mode) ? absl::OkStatus()
                                  : CannotListen(address, "a file that is no socket is there");
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  if (access(folder.c_str(), W_OK | X_OK) != 0) return CannotListen(address, strerror(errno));
  return absl::OkStatus();
}

class Server : public CompileServer {
 public:
  explicit Server(std::string address) : address_(std::move(address)) {}

  absl::Status Start() {
    if (IsSocketFile(address_)) {
      if (absl::Status status = CheckSocketFile(address_); !status.ok()) return status;
    }
    setenv("GRPC_VERBOSITY", "NONE", 0);  // errors are reported here
    grpc::ServerBuilder builder;
    int port = 0;
    // Without this gRPC shares a taken port, and requests go to either server.
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.AddListeningPort(address_, grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&service_);
    builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
    builder.SetMaxSendMessageSize(kMaxMessageBytes);
    server_ = builder.BuildAndStart();
    if (server_ == nullptr) return CannotListen(address_, "in use, or not permitted");
    if (!IsSocketFile(address_) && absl::EndsWith(address_, ":0"))
      address_ = absl::StrCat(address_.substr(0, address_.size() - 1), port);
    return absl::OkStatus();
  }

  void Wait() override { server_->Wait(); }
  void Shutdown() override { server_->Shutdown(std::chrono::system_clock::now() + kGrace); }
  const std::string& address() const override { return address_; }

 private:
  std::string address_;
  Service service_;
  std::unique_ptr<grpc::Server> server_;
};

// Numbers only: a host's name such as 127.example.com may be any machine's. Without a port gRPC
// takes one of its own, and a large one modulo 65536.
bool IsLocal(const std::string& address) {
  if (IsSocketFile(address)) return true;
  size_t colon = address.rfind(':');
  if (colon == std::string::npos) return false;
  std::string host = address.substr(0, colon);
  absl::string_view port = absl::string_view(address).substr(colon + 1);
  const bool digits = std::all_of(port.begin(), port.end(), absl::ascii_isdigit);
  int number = 0;
  if (!digits || !absl::SimpleAtoi(port, &number) || number > UINT16_MAX) return false;
  in_addr ip;
  return host == "localhost" || host == "[::1]" ||
         (inet_pton(AF_INET, host.c_str(), &ip) == 1 && ntohl(ip.s_addr) >> 24 == 127);
}

}  // namespace

absl::StatusOr<std::unique_ptr<CompileServer>> StartCompileServer(const std::string& address) {
  if (!IsLocal(address))
    return absl::InvalidArgumentError(
        absl::StrCat("--serve=", address,
                     ": expected unix:PATH or a loopback address such as 127.0.0.1:PORT; "
                     "serving beyond this machine needs TLS, which is not there yet"));
  auto server = std::make_unique<Server>(address);
  if (absl::Status status = server->Start(); !status.ok()) return status;
  return server;
}

}  // namespace stax
