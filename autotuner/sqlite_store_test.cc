#include <cstdlib>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "autotuner/store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stax {
namespace {

using ::testing::HasSubstr;

std::string TempPath(absl::string_view name) {
  return absl::StrCat(getenv("TEST_TMPDIR"), "/", name);
}

TuningIdentity SampleIdentity() { return {"hash", "NVIDIA H200", "580", "0.1.0", {{"n", 64}}}; }

Measurement Measured(const TuningConfig& config, double ns) {
  Measurement m;
  *m.mutable_config() = ToProto(config);
  m.set_status("ok");
  m.set_median_ns(ns);
  m.add_samples_ns(ns);
  return m;
}

TEST(SqliteStore, KeepsMeasurementsAcrossOpenings) {
  std::string path = TempPath("keep.db");
  TuningConfig config = {{"XBLOCK", 8}};
  {
    auto store = OpenSqliteStore(path);
    ASSERT_TRUE(store.ok()) << store.status();
    ASSERT_TRUE((*store)->Put(SampleIdentity(), Measured(config, 120.5)).ok());
    ASSERT_TRUE((*store)->Put(SampleIdentity(), Measured(config, 110.25)).ok());
  }
  auto store = OpenSqliteStore(path);
  ASSERT_TRUE(store.ok());
  auto found = (*store)->Find(SampleIdentity(), config);
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_EQ((*found)->median_ns(), 110.25);
}

TEST(SqliteStore, EveryPartOfTheIdentityCounts) {
  auto store = OpenSqliteStore(":memory:");
  ASSERT_TRUE(store.ok());
  TuningConfig config = {{"XBLOCK", 8}};
  ASSERT_TRUE((*store)->Put(SampleIdentity(), Measured(config, 1)).ok());
  std::vector<TuningIdentity> others(5, SampleIdentity());
  others[0].kernel_hash = "other";
  others[1].device = "other";
  others[2].driver_version = "other";
  others[3].compiler_version = "other";
  others[4].sizes["n"] = 65;
  for (const TuningIdentity& other : others) {
    auto found = (*store)->Find(other, config);
    ASSERT_TRUE(found.ok());
    EXPECT_FALSE(found->has_value());
  }
  auto found = (*store)->Find(SampleIdentity(), {{"XBLOCK", 16}});
  ASSERT_TRUE(found.ok());
  EXPECT_FALSE(found->has_value());
}

TEST(SqliteStore, ErrorsNameTheFile) {
  std::string path = TempPath("text.db");
  std::ofstream(path) << "this is no database, but it is long enough to be looked at as one\n";
  absl::Status status = OpenSqliteStore(path).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), absl::StrCat("tuning store ", path, ": file is not a database"));
  status = OpenSqliteStore("/nonexistent/x.db").status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("/nonexistent/x.db"));
}

}  // namespace
}  // namespace stax
