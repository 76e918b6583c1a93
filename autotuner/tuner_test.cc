#include "autotuner/tuner.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace stax {
namespace {

// Fakes at the seams: what each configuration costs, or how it fails, is written in a table by its
// XBLOCK.
struct Outcome {
  // A bare time is one, as in {{1, 10.0}, {2, 20.0}}.
  // NOLINTNEXTLINE(google-explicit-constructor)
  Outcome(double ns, int spill_bytes = 0, std::string build_error = "", std::string status = "ok")
      : ns(ns),
        spill_bytes(spill_bytes),
        build_error(std::move(build_error)),
        status(std::move(status)) {}
  double ns;
  int spill_bytes;
  std::string build_error;
  std::string status;
};
using Outcomes = std::map<int64_t, Outcome>;

class FakeBuilder : public Builder {
 public:
  explicit FakeBuilder(const Outcomes* outcomes) : outcomes_(outcomes) {}
  absl::StatusOr<Variant> Build(const Kernel&, const TuningConfig& config) override {
    ++builds;
    const Outcome& outcome = outcomes_->at(config.at("XBLOCK"));
    if (!outcome.build_error.empty()) return absl::ResourceExhaustedError(outcome.build_error);
    Variant variant;
    *variant.mutable_config() = ToProto(config);
    variant.set_spill_bytes(outcome.spill_bytes);
    variant.set_ptx(ToText(config));
    return variant;
  }
  int builds = 0;

 private:
  const Outcomes* outcomes_;
};

class FakeRunner : public Runner {
 public:
  explicit FakeRunner(const Outcomes* outcomes) : outcomes_(outcomes) {}
  absl::StatusOr<std::unique_ptr<KernelBench>> Prepare(
      const Kernel&, const std::map<std::string, int64_t>& sizes) override {
    last_sizes = sizes;
    return std::make_unique<Bench>(this);
  }
  int measurements = 0;
  std::map<std::string, int64_t> last_sizes;

 private:
  class Bench : public KernelBench {
   public:
    explicit Bench(FakeRunner* runner) : runner_(runner) {}
    Measurement Measure(const Variant& variant) override {
      ++runner_->measurements;
      const Outcome& outcome = runner_->outcomes_->at(variant.config().values().at("XBLOCK"));
      Measurement measurement;
      measurement.set_status(outcome.status);
      broken_ = outcome.status == "breaks the device";
      measurement.set_median_ns(outcome.ns);
      return measurement;
    }

    absl::Status Healthy() override {
      return broken_ ? absl::InternalError("illegal address") : absl::OkStatus();
    }

   private:
    FakeRunner* runner_;
    bool broken_ = false;
  };
  const Outcomes* outcomes_;
};

Program SampleProgram(const std::vector<int64_t>& candidates) {
  Program program;
  program.mutable_target()->set_kind("cpu");
  program.mutable_target()->set_arch("x86-64-v3");
  SizeSymbolProto* symbol = program.add_symbols();
  symbol->set_name("n");
  symbol->set_lower(2);
  symbol->set_upper(4096);
  symbol->set_hint(64);
  Kernel* kernel = program.add_kernels();
  kernel->set_name("kernel");
  kernel->set_hash("hash");
  for (int64_t x : candidates) *kernel->add_candidates() = ToProto({{"XBLOCK", x}});
  *kernel->mutable_variant()->mutable_config() = ToProto({{"XBLOCK", candidates[0]}});
  Parameter* parameter = kernel->mutable_config_space()->add_parameters();
  parameter->set_name("XBLOCK");
  for (int64_t x : {1, 2, 4, 8}) parameter->add_values(x);
  return program;
}

struct Bench {
  explicit Bench(Outcomes table)
      : outcomes(std::move(table)),
        builder(&outcomes),
        runner(&outcomes),
        store(*OpenSqliteStore(":memory:")) {}
  absl::Status Tune(const TunerOptions& options, Program& program) {
    return TuneProgram(options, {&builder, &runner, store.get(), "device", "driver", "clock"},
                       program);
  }
  Outcomes outcomes;
  FakeBuilder builder;
  FakeRunner runner;
  std::unique_ptr<Store> store;
};

TEST(Tuner, TheFastestCandidateWinsAndItsCodeIsInTheProgram) {
  Bench bench({{1, {30}}, {2, {10}}, {4, {20}}});
  Program program = SampleProgram({1, 2, 4});
  ASSERT_TRUE(bench.Tune({}, program).ok());
  EXPECT_EQ(program.kernels(0).variant().ptx(), "XBLOCK=2");
  ASSERT_EQ(program.tuning_size(), 1);
  EXPECT_EQ(program.tuning(0).measurements_size(), 3);
  EXPECT_EQ(ToText(FromProto(program.tuning(0).winner())), "XBLOCK=2");
  EXPECT_EQ(bench.runner.last_sizes.at("n"), 64);
}

TEST(Tuner, SpillsFailuresAndWrongOutputsNeverWin) {
  Bench bench(
      {{1, {50}}, {2, {1, 8}}, {4, {1, 0, "does not fit"}}, {8, {1, 0, "", "wrong_output"}}});
  Program program = SampleProgram({1, 2, 4, 8});
  ASSERT_TRUE(bench.Tune({}, program).ok());
  EXPECT_EQ(ToText(FromProto(program.tuning(0).winner())), "XBLOCK=1");
  std::vector<std::string> statuses;
  for (const Measurement& m : program.tuning(0).measurements()) statuses.push_back(m.status());
  EXPECT_EQ(statuses, (std::vector<std::string>{"ok", "spill", "compile_failed", "wrong_output"}));
}

TEST(Tuner, NothingIsMeasuredOnABrokenDevice) {
  Bench bench({{1, {50}}, {2, {1, 0, "", "breaks the device"}}, {4, {10}}});
  Program program = SampleProgram({1, 2, 4});
  absl::Status status = bench.Tune({}, program);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_EQ(status.message(),
            "kernel with XBLOCK=2 broke the device for this process: illegal address; with "
            "--store=FILE the next run leaves this configuration out");
  EXPECT_EQ(bench.runner.measurements, 2);
  // The next run knows.
  ASSERT_TRUE(bench.Tune({}, program).ok());
  EXPECT_EQ(bench.runner.measurements, 3);
  EXPECT_EQ(ToText(FromProto(program.tuning(0).winner())), "XBLOCK=4");
}

TEST(Tuner, TheCodeThatWasMeasuredReplacesThatOfTheSameConfiguration) {
  Bench bench({{1, {30}}});
  Program program = SampleProgram({1});
  program.mutable_kernels(0)->mutable_variant()->set_ptx("of an older compiler");
  ASSERT_TRUE(bench.Tune({}, program).ok());
  EXPECT_EQ(program.kernels(0).variant().ptx(), "XBLOCK=1");
}

TEST(Tuner, TimesOfAnotherTargetsCodeAreNotReused) {
  Bench bench({{1, {30}}});
  Program program = SampleProgram({1});
  ASSERT_TRUE(bench.Tune({}, program).ok());
  program.mutable_target()->set_arch("x86-64-v4");
  ASSERT_TRUE(bench.Tune({}, program).ok());
  EXPECT_EQ(bench.runner.measurements, 2);
}

TEST(Tuner, NothingThatWorksKeepsTheVariantAndHasNoWinner) {
  Bench bench({{1, {1, 8}}});
  Program program = SampleProgram({1});
  ASSERT_TRUE(bench.Tune({}, program).ok());
  EXPECT_FALSE(program.tuning(0).has_winner());
  EXPECT_EQ(program.kernels(0).variant().config().values().at("XBLOCK"), 1);
}

TEST(Tuner, KnownMeasurementsAreNotRepeatedAndNewOnesAreAdded) {
  Bench bench({{1, {30}}, {2, {10}}, {4, {5}}});
  Program program = SampleProgram({1, 2});
  ASSERT_TRUE(bench.Tune({}, program).ok());
  EXPECT_EQ(bench.runner.measurements, 2);
  program = SampleProgram({1, 2, 4});
  ASSERT_TRUE(bench.Tune({}, program).ok());
  EXPECT_EQ(bench.runner.measurements, 3);
  EXPECT_EQ(ToText(FromProto(program.tuning(0).winner())), "XBLOCK=4");
  // Other sizes are another identity.
  TunerOptions options;
  options.sizes["n"] = 128;
  program = SampleProgram({1, 2, 4});
  ASSERT_TRUE(bench.Tune(options, program).ok());
  EXPECT_EQ(bench.runner.measurements, 6);
}

TEST(Tuner, ExhaustiveMeasuresTheWholeSpaceCandidatesFirst) {
  Bench bench({{1, {30}}, {2, {10}}, {4, {5}}, {8, {4}}});
  Program program = SampleProgram({4});
  TunerOptions options;
  options.strategy = "exhaustive";
  ASSERT_TRUE(bench.Tune(options, program).ok());
  ASSERT_EQ(program.tuning(0).measurements_size(), 4);
  EXPECT_EQ(ToText(FromProto(program.tuning(0).measurements(0).config())), "XBLOCK=4");
  EXPECT_EQ(ToText(FromProto(program.tuning(0).winner())), "XBLOCK=8");
}

TEST(Tuner, StopsAtTheNumberOfTrials) {
  Bench bench({{1, {30}}, {2, {10}}, {4, {5}}});
  Program program = SampleProgram({1, 2, 4});
  TunerOptions options;
  options.trials = 2;
  ASSERT_TRUE(bench.Tune(options, program).ok());
  EXPECT_EQ(program.tuning(0).measurements_size(), 2);
}

TEST(Tuner, AnUnknownStrategyIsAnError) {
  Bench bench({{1, {30}}});
  Program program = SampleProgram({1});
  TunerOptions options;
  options.strategy = "genetic";
  EXPECT_EQ(bench.Tune(options, program).message(),
            "--strategy=genetic is not there; this version has candidates and exhaustive");
}

}  // namespace
}  // namespace stax
