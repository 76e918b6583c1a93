#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
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
constexpr absl::Duration kStartTimeout = absl::Seconds(30);   // of a service of ours
constexpr absl::Duration kConnectTimeout = absl::Seconds(5);  // with one that is there
constexpr absl::Duration kStopTimeout = absl::Seconds(5);
constexpr absl::Duration kStopPoll = absl::Milliseconds(10);
constexpr int kMaxMessageBytes = INT32_MAX;

// What a signal that ends this process must take along: services and their sockets. Handlers may
// use plain memory only.
struct OwnService {
  std::atomic<pid_t> pid = -1;
  char folder[sizeof(sockaddr_un::sun_path)] = "";
  char socket[sizeof(sockaddr_un::sun_path)] = "";
};
constexpr int kMaxServices = 8;
std::atomic<OwnService*> own_services[kMaxServices];

void EndServices(int signal) {
  for (std::atomic<OwnService*>& slot : own_services) {
    OwnService* service = slot.load();
    if (service == nullptr) continue;
    if (service->pid.load() > 0) kill(service->pid.load(), SIGTERM);
    unlink(service->socket);
    rmdir(service->folder);
  }
  struct sigaction usual = {};
  usual.sa_handler = SIG_DFL;
  sigaction(signal, &usual, nullptr);
  raise(signal);
}

// Signals that someone else handles, or that are ignored (nohup), stay as they are.
void EndServicesOnSignals() {
  for (int signal : {SIGTERM, SIGINT, SIGHUP}) {
    struct sigaction action = {};
    if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    action.sa_handler = EndServices;
    sigaction(signal, &action, nullptr);
  }
}

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
    absl::Time deadline = absl::Now() + kStopTimeout;
    while (waitpid(pid_, nullptr, WNOHANG) == 0) {
      if (absl::Now() >= deadline) kill(pid_, SIGKILL);
      absl::SleepFor(kStopPoll);
    }
    pid_ = -1;
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

class ServiceBuilder : public Builder {
 public:
  ServiceBuilder(std::string target, absl::Duration timeout)
      : target_(std::move(target)), timeout_(timeout) {}
  ~ServiceBuilder() override {
    child_.Stop();
    for (std::atomic<OwnService*>& slot : own_services) {
      OwnService* mine = &own_;
      slot.compare_exchange_strong(mine, nullptr);
    }
    if (own_.folder[0] == '\0') return;
    unlink(own_.socket);
    rmdir(own_.folder);
  }

  absl::Status StartOwn();
  absl::Status Connect(const std::string& address);
  absl::StatusOr<Variant> Build(const Kernel& kernel, const TuningConfig& config) override;

 private:
  absl::Status Respawn();
  absl::StatusOr<Variant> Call(const CompileVariantRequest& request);

  std::string target_;
  absl::Duration timeout_;  // of one variant
  std::string binary_;      // empty for a service that is not ours
  OwnService own_;
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
  std::string socket = absl::StrCat(name, "/compile");
  if (socket.size() >= sizeof(own_.socket)) {
    rmdir(name.c_str());
    return absl::InvalidArgumentError(absl::StrCat("TMPDIR is too long for a socket: ", socket,
                                                   " has more than ", sizeof(own_.socket) - 1,
                                                   " bytes"));
  }
  name.copy(own_.folder, name.size());
  socket.copy(own_.socket, socket.size());
  for (std::atomic<OwnService*>& slot : own_services) {
    OwnService* none = nullptr;
    if (slot.compare_exchange_strong(none, &own_)) break;
  }
  EndServicesOnSignals();
  return Respawn();
}

absl::Status ServiceBuilder::Respawn() {
  std::string address = absl::StrCat("unix:", own_.socket);
  absl::Status status = child_.Start(binary_, {absl::StrCat("--serve=", address), "--with-parent"});
  own_.pid = child_.pid();
  if (!status.ok()) return status;
  return Connect(address);
}

absl::Status ServiceBuilder::Connect(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  arguments.SetMaxSendMessageSize(kMaxMessageBytes);
  std::shared_ptr<grpc::Channel> channel =
      grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
  absl::Duration patience = binary_.empty() ? kConnectTimeout : kStartTimeout;
  if (!channel->WaitForConnected(absl::ToChronoTime(absl::Now() + patience)))
    return absl::UnavailableError(absl::StrCat(
        "no compile service answers on ", address, " within ", absl::FormatDuration(patience),
        "; expected unix:PATH or HOST:PORT of a 'stax-compile --serve'"));
  stub_ = CompileService::NewStub(channel);
  return absl::OkStatus();
}

absl::StatusOr<Variant> ServiceBuilder::Call(const CompileVariantRequest& request) {
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + timeout_));
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
  bool late = absl::IsDeadlineExceeded(variant.status());
  bool died = absl::IsUnavailable(variant.status()) && !binary_.empty();
  if (!late && !died) return variant;
  // That costs this configuration only.
  if (!binary_.empty()) {
    if (absl::Status status = Respawn(); !status.ok()) return status;
  }
  if (died) return absl::InternalError("the compiler crashed on this configuration");
  return absl::DeadlineExceededError(absl::StrCat(
      "the compiler took longer than ", absl::FormatDuration(timeout_), " for this configuration"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Builder>> StartServiceBuilder(const std::string& target) {
  auto builder = std::make_unique<ServiceBuilder>(target, kCompileTimeout);
  if (absl::Status status = builder->StartOwn(); !status.ok()) return status;
  return builder;
}

absl::StatusOr<std::unique_ptr<Builder>> ConnectServiceBuilder(const std::string& address,
                                                               const std::string& target,
                                                               absl::Duration timeout) {
  auto builder = std::make_unique<ServiceBuilder>(target, timeout);
  if (absl::Status status = builder->Connect(address); !status.ok()) return status;
  return builder;
}

}  // namespace stax
