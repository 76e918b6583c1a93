#include <sqlite3.h>

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "autotuner/store.h"
#include "ir/artifact/artifact_io.h"

namespace stax {
namespace {

constexpr int kBusyTimeoutMs = 30000;

// user_version of the file marks the schema; "STX2".
constexpr int kSchema = 0x53545832;

constexpr char kCreate[] =
    "CREATE TABLE measurements ("
    "  kernel_hash TEXT NOT NULL, target TEXT NOT NULL, device TEXT NOT NULL,"
    "  driver_version TEXT NOT NULL, compiler_version TEXT NOT NULL, timing TEXT NOT NULL,"
    "  sizes TEXT NOT NULL, config TEXT NOT NULL, status TEXT NOT NULL, median_ns REAL NOT NULL,"
    "  measurement BLOB NOT NULL, PRIMARY KEY (kernel_hash, target, device, driver_version,"
    "  compiler_version, timing, sizes, config))";

constexpr char kFind[] =
    "SELECT measurement FROM measurements WHERE kernel_hash = ?1 AND target = ?2 AND device = ?3 "
    "AND driver_version = ?4 AND compiler_version = ?5 AND timing = ?6 AND sizes = ?7 AND config = "
    "?8";

constexpr char kPut[] =
    "INSERT OR REPLACE INTO measurements (kernel_hash, target, device, driver_version, "
    "compiler_version, timing, sizes, config, status, median_ns, measurement) VALUES (?1, ?2, ?3, "
    "?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";

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
  absl::StatusOr<int> Number(const char* sql);
  absl::Status CreateIfEmpty();
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

// The one number that a query gives.
absl::StatusOr<int> SqliteStore::Number(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  int code = sqlite3_prepare_v2(db_, sql, -1, &statement, nullptr);
  if (code == SQLITE_OK) code = sqlite3_step(statement);
  int number = code == SQLITE_ROW ? sqlite3_column_int(statement, 0) : 0;
  sqlite3_finalize(statement);
  if (code != SQLITE_ROW) return Error(code);
  return number;
}

// Within a transaction that writes: of several processes that open a new file one makes the table.
absl::Status SqliteStore::CreateIfEmpty() {
  absl::StatusOr<int> version = Number("PRAGMA user_version");
  if (!version.ok()) return version.status();
  if (*version == kSchema) return absl::OkStatus();
  absl::StatusOr<int> things = Number("SELECT count(*) FROM sqlite_master");
  if (!things.ok()) return things.status();
  if (*version != 0 || *things != 0)
    return absl::InvalidArgumentError(
        absl::StrCat("tuning store ", path_, ": is a database, but no Stax store of this version"));
  absl::Status status = Execute(kCreate);
  if (status.ok()) status = Execute(absl::StrCat("PRAGMA user_version = ", kSchema).c_str());
  return status;
}

absl::Status SqliteStore::Open() {
  int code = sqlite3_open(path_.c_str(), &db_);
  if (code != SQLITE_OK) return Error(code);
  sqlite3_busy_timeout(db_, kBusyTimeoutMs);
  absl::StatusOr<int> version = Number("PRAGMA user_version");
  if (!version.ok()) return version.status();
  if (*version != kSchema) {
    absl::Status status = Execute("BEGIN IMMEDIATE");
    if (status.ok()) status = CreateIfEmpty();
    if (status.ok()) status = Execute("COMMIT");
    if (!status.ok()) return status;  // closing takes the transaction back
  }
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
  BindText(statement, 2, identity.target);
  BindText(statement, 3, identity.device);
  BindText(statement, 4, identity.driver_version);
  BindText(statement, 5, identity.compiler_version);
  BindText(statement, 6, identity.timing);
  BindText(statement, 7, absl::StrJoin(identity.sizes, " ", absl::PairFormatter("=")));
  BindText(statement, 8, ToText(config));
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
  // A winner is taken from here: it must be what was asked for, with a time that can be compared.
  if (!parsed || FromProto(measurement.config()) != config || !(measurement.median_ns() >= 0) ||
      std::isinf(measurement.median_ns()))
    return absl::InvalidArgumentError(absl::StrCat("tuning store ", path_, ": a damaged row"));
  return measurement;
}

absl::Status SqliteStore::Put(const TuningIdentity& identity, const Measurement& measurement) {
  sqlite3_reset(put_);
  BindKey(put_, identity, FromProto(measurement.config()));
  std::string blob = SerializeDeterministically(measurement);
  BindText(put_, 9, measurement.status());
  sqlite3_bind_double(put_, 10, measurement.median_ns());
  sqlite3_bind_blob(put_, 11, blob.data(), static_cast<int>(blob.size()), SQLITE_TRANSIENT);
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
