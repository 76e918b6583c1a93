#include "compiler/service/server.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/service/compile_service.grpc.pb.h"
#include "compiler/service/compiler.h"
#include "grpcpp/grpcpp.h"

namespace stax {
namespace {

// Models carry their weights: as large as protobuf allows.
constexpr int kMaxMessageBytes = INT32_MAX;

// absl's and gRPC's codes are the same numbers.
grpc::Status ToGrpc(const absl::Status& status) {
  return grpc::Status(static_cast<grpc::StatusCode>(status.raw_code()),
                      std::string(status.message()));
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

class Server : public CompileServer {
 public:
  explicit Server(std::string address) : address_(std::move(address)) {}

  absl::Status Start() {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort(address_, grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&service_);
    builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
    builder.SetMaxSendMessageSize(kMaxMessageBytes);
    server_ = builder.BuildAndStart();
    if (server_ == nullptr)
      return absl::InvalidArgumentError(
          absl::StrCat("cannot listen on ", address_, ": in use, or not permitted"));
    if (absl::EndsWith(address_, ":0"))
      address_ = absl::StrCat(address_.substr(0, address_.size() - 1), port);
    return absl::OkStatus();
  }

  void Wait() override { server_->Wait(); }
  void Shutdown() override { server_->Shutdown(); }
  const std::string& address() const override { return address_; }

 private:
  std::string address_;
  Service service_;
  std::unique_ptr<grpc::Server> server_;
};

bool IsLocal(const std::string& address) {
  return absl::StartsWith(address, "unix:") || absl::StartsWith(address, "localhost:") ||
         absl::StartsWith(address, "127.") || absl::StartsWith(address, "[::1]:");
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
