#include <sqlite3.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "autotuner/store.h"
#include "ir/artifact/artifact_io.h"

namespace stax {
namespace {

constexpr int kBusyTimeoutMs = 30000;

// user_version of the file marks the schema; "STX1".
constexpr int kSchema = 0x53545831;

constexpr char kCreate[] =
    "CREATE TABLE IF NOT EXISTS measurements ("
    "  kernel_hash TEXT NOT NULL, device TEXT NOT NULL, driver_version TEXT NOT NULL,"
    "  compiler_version TEXT NOT NULL, sizes TEXT NOT NULL, config TEXT NOT NULL,"
    "  status TEXT NOT NULL, median_ns REAL NOT NULL, measurement BLOB NOT NULL,"
    "  PRIMARY KEY (kernel_hash, device, driver_version, compiler_version, sizes, config))";

constexpr char kFind[] =
    "SELECT measurement FROM measurements WHERE kernel_hash = ?1 AND device = ?2 AND "
    "driver_version = ?3 AND compiler_version = ?4 AND sizes = ?5 AND config = ?6";

constexpr char kPut[] =
    "INSERT OR REPLACE INTO measurements (kernel_hash, device, driver_version, compiler_version, "
    "sizes, config, status, median_ns, measurement) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";

class SqliteStore : public Store {
 public:
  explicit SqliteStore(std::string path) : path_(std::move(path)) {}
  ~SqliteStore() override {
    sqlite3_finalize(find_);
    sqlite3_finalize(put_);
    sqlite3_close(db_);
  }

  absl::Status Open();
  absl::StatusOr<std::optional<Measurement>> Find(const TuningIdentity& identity,
                                                  const TuningConfig& config) override;
  absl::Status Put(const TuningIdentity& identity, const Measurement& measurement) override;

 private:
  absl::Status Error(int code) const;
  absl::Status Execute(const char* sql);
  absl::StatusOr<int> UserVersion();
  static void BindKey(sqlite3_stmt* statement, const TuningIdentity& identity,
                      const TuningConfig& config);

  std::string path_;
  sqlite3* db_ = nullptr;
  sqlite3_stmt* find_ = nullptr;
  sqlite3_stmt* put_ = nullptr;
};

absl::Status SqliteStore::Error(int code) const {
  std::string text = absl::StrCat("tuning store ", path_, ": ",
                                  db_ != nullptr ? sqlite3_errmsg(db_) : sqlite3_errstr(code));
  switch (code & 0xff) {  // the primary result code
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return absl::PermissionDeniedError(text);
    case SQLITE_FULL:
      return absl::ResourceExhaustedError(text);
    default:
      return absl::InvalidArgumentError(text);
  }
}

absl::Status SqliteStore::Execute(const char* sql) {
  int code = sqlite3_exec(db_, sql, nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? absl::OkStatus() : Error(code);
}

absl::StatusOr<int> SqliteStore::UserVersion() {
  sqlite3_stmt* statement = nullptr;
  int code = sqlite3_prepare_v2(db_, "PRAGMA user_version", -1, &statement, nullptr);
  if (code == SQLITE_OK) code = sqlite3_step(statement);
  int version = code == SQLITE_ROW ? sqlite3_column_int(statement, 0) : 0;
  sqlite3_finalize(statement);
  if (code != SQLITE_ROW) return Error(code);
  return version;
}

absl::Status SqliteStore::Open() {
  int code = sqlite3_open(path_.c_str(), &db_);
  if (code != SQLITE_OK) return Error(code);
  sqlite3_busy_timeout(db_, kBusyTimeoutMs);
  absl::StatusOr<int> version = UserVersion();
  if (!version.ok()) return version.status();
  if (*version != 0 && *version != kSchema)
    return absl::InvalidArgumentError(
        absl::StrCat("tuning store ", path_, ": is a database, but no Stax store of this version"));
  absl::Status status = Execute(kCreate);
  if (status.ok()) status = Execute(absl::StrCat("PRAGMA user_version = ", kSchema).c_str());
  if (!status.ok()) return status;
  code = sqlite3_prepare_v2(db_, kFind, -1, &find_, nullptr);
  if (code == SQLITE_OK) code = sqlite3_prepare_v2(db_, kPut, -1, &put_, nullptr);
  return code == SQLITE_OK ? absl::OkStatus() : Error(code);
}

void BindText(sqlite3_stmt* statement, int position, const std::string& text) {
  sqlite3_bind_text(statement, position, text.data(), static_cast<int>(text.size()),
                    SQLITE_TRANSIENT);
}

void SqliteStore::BindKey(sqlite3_stmt* statement, const TuningIdentity& identity,
                          const TuningConfig& config) {
  BindText(statement, 1, identity.kernel_hash);
  BindText(statement, 2, identity.device);
  BindText(statement, 3, identity.driver_version);
  BindText(statement, 4, identity.compiler_version);
  BindText(statement, 5, absl::StrJoin(identity.sizes, " ", absl::PairFormatter("=")));
  BindText(statement, 6, ToText(config));
}

absl::StatusOr<std::optional<Measurement>> SqliteStore::Find(const TuningIdentity& identity,
                                                             const TuningConfig& config) {
  sqlite3_reset(find_);
  BindKey(find_, identity, config);
  int code = sqlite3_step(find_);
  if (code == SQLITE_DONE) return std::nullopt;
  if (code != SQLITE_ROW) return Error(code);
  Measurement measurement;
  bool parsed =
      measurement.ParseFromArray(sqlite3_column_blob(find_, 0), sqlite3_column_bytes(find_, 0));
  sqlite3_reset(find_);
  if (!parsed)
    return absl::InvalidArgumentError(absl::StrCat("tuning store ", path_, ": a damaged row"));
  return measurement;
}

absl::Status SqliteStore::Put(const TuningIdentity& identity, const Measurement& measurement) {
  sqlite3_reset(put_);
  BindKey(put_, identity, FromProto(measurement.config()));
  std::string blob = SerializeDeterministically(measurement);
  BindText(put_, 7, measurement.status());
  sqlite3_bind_double(put_, 8, measurement.median_ns());
  sqlite3_bind_blob(put_, 9, blob.data(), static_cast<int>(blob.size()), SQLITE_TRANSIENT);
  int code = sqlite3_step(put_);
  sqlite3_reset(put_);
  return code == SQLITE_DONE ? absl::OkStatus() : Error(code);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Store>> OpenSqliteStore(const std::string& path) {
  auto store = std::make_unique<SqliteStore>(path);
  if (absl::Status status = store->Open(); !status.ok()) return status;
  return store;
}

}  // namespace stax
