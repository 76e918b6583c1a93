#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "autotuner/builder.h"
#include "compiler/service/compile_service.grpc.pb.h"
#include "grpcpp/grpcpp.h"

namespace stax {
namespace {

constexpr char kServiceBinary[] = "stax-compile";
constexpr absl::Duration kStartTimeout = absl::Seconds(30);
constexpr int kMaxMessageBytes = INT32_MAX;

// absl's and gRPC's codes are the same numbers.
absl::Status FromGrpc(const grpc::Status& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

// A child process that is ended with its owner.
class Child {
 public:
  ~Child() { Stop(); }

  absl::Status Start(const std::string& binary, std::vector<std::string> arguments) {
    Stop();
    std::vector<char*> argv = {const_cast<char*>(binary.c_str())};
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    // Its greeting on stdout is not ours; its errors are.
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    int error = posix_spawnp(&pid_, binary.c_str(), &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error == 0) return absl::OkStatus();
    pid_ = -1;
    return absl::UnavailableError(absl::StrCat("cannot start ", binary, ": ", strerror(error)));
  }
  void Stop() {
    if (pid_ < 0) return;
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
};

class ServiceBuilder : public Builder {
 public:
  explicit ServiceBuilder(std::string target) : target_(std::move(target)) {}
  ~ServiceBuilder() override {
    child_.Stop();
    if (!folder_.empty()) {
      std::error_code ignored;
      std::filesystem::remove_all(folder_, ignored);
    }
  }

  absl::Status StartOwn();
  absl::Status Connect(const std::string& address);
  absl::StatusOr<Variant> Build(const Kernel& kernel, const TuningConfig& config) override;

 private:
  absl::Status Respawn();
  absl::StatusOr<Variant> Call(const CompileVariantRequest& request);

  std::string target_;
  std::string binary_;  // empty for a service that is not ours
  std::string folder_;  // of our socket
  Child child_;
  std::unique_ptr<CompileService::Stub> stub_;
};

// stax-compile beside this program, as in a bundle or Bazel's output; else what PATH has.
std::string FindServiceBinary() {
  std::error_code error;
  std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  std::filesystem::path beside = self.parent_path() / kServiceBinary;
  return !error && std::filesystem::exists(beside) ? beside.string() : kServiceBinary;
}

absl::Status ServiceBuilder::StartOwn() {
  binary_ = FindServiceBinary();
  std::string name = (std::filesystem::temp_directory_path() / "stax-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr)
    return absl::UnavailableError(absl::StrCat("cannot make a folder ", name, " for a socket"));
  folder_ = name;
  return Respawn();
}

absl::Status ServiceBuilder::Respawn() {
  std::string address = absl::StrCat("unix:", folder_, "/compile");
  absl::Status status = child_.Start(binary_, {absl::StrCat("--serve=", address)});
  if (!status.ok()) return status;
  return Connect(address);
}

absl::Status ServiceBuilder::Connect(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  arguments.SetMaxSendMessageSize(kMaxMessageBytes);
  std::shared_ptr<grpc::Channel> channel =
      grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
  auto deadline = std::chrono::system_clock::now() + absl::ToChronoSeconds(kStartTimeout);
  if (!channel->WaitForConnected(deadline))
    return absl::UnavailableError(absl::StrCat("no compile service answers on ", address,
                                               " within ", absl::FormatDuration(kStartTimeout)));
  stub_ = CompileService::NewStub(channel);
  return absl::OkStatus();
}

absl::StatusOr<Variant> ServiceBuilder::Call(const CompileVariantRequest& request) {
  grpc::ClientContext context;
  CompileVariantResponse response;
  grpc::Status status = stub_->CompileVariant(&context, request, &response);
  if (!status.ok()) return FromGrpc(status);
  return std::move(*response.mutable_variant());
}

absl::StatusOr<Variant> ServiceBuilder::Build(const Kernel& kernel, const TuningConfig& config) {
  CompileVariantRequest request;
  *request.mutable_kernel() = kernel;
  request.mutable_kernel()->clear_variant();
  *request.mutable_config() = ToProto(config);
  request.set_target(target_);
  absl::StatusOr<Variant> variant = Call(request);
  if (!absl::IsUnavailable(variant.status()) || binary_.empty()) return variant;
  // The service died on this configuration: that costs this configuration only.
  if (absl::Status status = Respawn(); !status.ok()) return status;
  return absl::InternalError("the compiler crashed on this configuration");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Builder>> StartServiceBuilder(const std::string& target) {
  auto builder = std::make_unique<ServiceBuilder>(target);
  if (absl::Status status = builder->StartOwn(); !status.ok()) return status;
  return builder;
}

absl::StatusOr<std::unique_ptr<Builder>> ConnectServiceBuilder(const std::string& address,
                                                               const std::string& target) {
  auto builder = std::make_unique<ServiceBuilder>(target);
  if (absl::Status status = builder->Connect(address); !status.ok()) return status;
  return builder;
}

}  // namespace stax
