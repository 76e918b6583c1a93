#include <sqlite3.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "autotuner/store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/artifact/artifact_io.h"

namespace stax {
namespace {

using ::testing::HasSubstr;

std::string TempPath(absl::string_view name) {
  return absl::StrCat(getenv("TEST_TMPDIR"), "/", name);
}

TuningIdentity SampleIdentity() {
  return {"hash", "cuda:sm_90a", "NVIDIA H200", "580", "0.1.0", "CUPTI", {{"n", 64}}};
}

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
  std::vector<TuningIdentity> others(7, SampleIdentity());
  others[0].kernel_hash = "other";
  others[1].device = "other";
  others[2].driver_version = "other";
  others[3].compiler_version = "other";
  others[4].sizes["n"] = 65;
  others[5].target = "cuda:sm_80";
  others[6].timing = "events";
  for (const TuningIdentity& other : others) {
    auto found = (*store)->Find(other, config);
    ASSERT_TRUE(found.ok());
    EXPECT_FALSE(found->has_value());
  }
  auto found = (*store)->Find(SampleIdentity(), {{"XBLOCK", 16}});
  ASSERT_TRUE(found.ok());
  EXPECT_FALSE(found->has_value());
}

// Every thread is a connection of its own, as every process is.
TEST(SqliteStore, SeveralTunersMayMakeAndFillOneFile) {
  std::string path = TempPath("shared.db");
  constexpr int kTuners = 4, kEach = 10;
  std::vector<std::thread> tuners;
  for (int t = 0; t < kTuners; ++t) {
    tuners.emplace_back([&path, t] {
      auto store = OpenSqliteStore(path);
      ASSERT_TRUE(store.ok()) << store.status();
      for (int i = 0; i < kEach; ++i) {
        absl::Status status = (*store)->Put(SampleIdentity(), Measured({{"T", t}, {"I", i}}, 1));
        EXPECT_TRUE(status.ok()) << status;
      }
    });
  }
  for (std::thread& tuner : tuners) tuner.join();
  auto store = OpenSqliteStore(path);
  ASSERT_TRUE(store.ok()) << store.status();
  for (int t = 0; t < kTuners; ++t) {
    for (int i = 0; i < kEach; ++i) {
      auto found = (*store)->Find(SampleIdentity(), {{"T", t}, {"I", i}});
      EXPECT_TRUE(found.ok() && found->has_value()) << t << " " << i;
    }
  }
}

TEST(SqliteStore, AnotherProgramsDatabaseIsLeftAlone) {
  std::string path = TempPath("other.db");
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, "CREATE TABLE theirs (a)", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(db);
  std::string before = *ReadFile(path);
  EXPECT_EQ(
      OpenSqliteStore(path).status().message(),
      absl::StrCat("tuning store ", path, ": is a database, but no Stax store of this version"));
  EXPECT_EQ(*ReadFile(path), before);
}

// What another program wrote there.
TEST(SqliteStore, RowsThatAreNotWhatWasAskedForAreDamage) {
  const std::string path = TempPath("rows.db");
  const TuningConfig config = {{"XBLOCK", 8}};
  Measurement other = Measured({{"XBLOCK", 16}}, 5);
  const std::string blobs[] = {"no message", other.SerializeAsString(),
                               Measured(config, -1).SerializeAsString(),
                               Measured(config, std::nan("")).SerializeAsString(),
                               Measured(config, INFINITY).SerializeAsString()};
  for (const std::string& blob : blobs) {
    auto store = OpenSqliteStore(path);
    ASSERT_TRUE(store.ok()) << store.status();
    ASSERT_TRUE((*store)->Put(SampleIdentity(), Measured(config, 5)).ok());
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
    sqlite3_stmt* update = nullptr;
    ASSERT_EQ(
        sqlite3_prepare_v2(db, "UPDATE measurements SET measurement = ?1", -1, &update, nullptr),
        SQLITE_OK);
    sqlite3_bind_blob(update, 1, blob.data(), static_cast<int>(blob.size()), SQLITE_TRANSIENT);
    ASSERT_EQ(sqlite3_step(update), SQLITE_DONE);
    sqlite3_finalize(update);
    sqlite3_close(db);
    const absl::Status status = (*store)->Find(SampleIdentity(), config).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message(), absl::StrCat("tuning store ", path, ": a damaged row"));
  }
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
