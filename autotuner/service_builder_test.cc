#include <cstdlib>
#include <string>
#include <thread>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "autotuner/builder.h"
#include "autotuner/config.h"
#include "compiler/service/compile_service.grpc.pb.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"

namespace stax {
namespace {

// Answers with the request's own configuration; fails or hangs where XBLOCK says so.
class FakeService : public CompileService::Service {
 public:
  grpc::Status CompileVariant(grpc::ServerContext* context, const CompileVariantRequest* request,
                              CompileVariantResponse* response) override {
    last = *request;
    int64_t x = request->config().values().at("XBLOCK");
    if (x == 2) return grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "does not fit");
    while (x == 4 && !context->IsCancelled()) absl::SleepFor(absl::Milliseconds(5));
    *response->mutable_variant()->mutable_config() = request->config();
    return grpc::Status::OK;
  }
  CompileVariantRequest last;
};

class ServiceBuilderTest : public testing::Test {
 protected:
  void SetUp() override {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    auto connected = ConnectServiceBuilder("127.0.0.1:" + std::to_string(port), "cpu:x86-64-v3",
                                           absl::Milliseconds(300));
    ASSERT_TRUE(connected.ok()) << connected.status();
    builder_ = *std::move(connected);
    kernel_.set_name("k");
    kernel_.mutable_variant()->set_ptx("of no use to the compiler");
  }

  FakeService service_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<Builder> builder_;
  Kernel kernel_;
};

TEST_F(ServiceBuilderTest, SendsKernelConfigurationAndTarget) {
  auto variant = builder_->Build(kernel_, {{"XBLOCK", 8}});
  ASSERT_TRUE(variant.ok()) << variant.status();
  EXPECT_EQ(FromProto(variant->config()), (TuningConfig{{"XBLOCK", 8}}));
  EXPECT_EQ(service_.last.kernel().name(), "k");
  EXPECT_FALSE(service_.last.kernel().has_variant());
  EXPECT_EQ(service_.last.target(), "cpu:x86-64-v3");
}

TEST_F(ServiceBuilderTest, ErrorsKeepCodeAndMessage) {
  absl::Status status = builder_->Build(kernel_, {{"XBLOCK", 2}}).status();
  EXPECT_EQ(status, absl::ResourceExhaustedError("does not fit"));
}

TEST_F(ServiceBuilderTest, ACompilerThatHangsCostsOneConfiguration) {
  absl::Status status = builder_->Build(kernel_, {{"XBLOCK", 4}}).status();
  EXPECT_EQ(status, absl::DeadlineExceededError(
                        "the compiler took longer than 300ms for this configuration"));
  EXPECT_TRUE(builder_->Build(kernel_, {{"XBLOCK", 8}}).ok());
}

TEST_F(ServiceBuilderTest, AServiceThatIsGoneIsUnavailable) {
  server_->Shutdown();
  EXPECT_EQ(builder_->Build(kernel_, {{"XBLOCK", 8}}).status().code(),
            absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace stax
