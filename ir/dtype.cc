#include "ir/dtype.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace stax {
namespace {

enum class Kind : uint8_t { kBool, kSigned, kUnsigned, kFloat };

struct Row {
  std::string_view name;
  int bytes;
  Kind kind;
};

// In the order of the enumerators.
constexpr Row kRows[kNumDTypes] = {
    {"bool", 1, Kind::kBool},    {"i8", 1, Kind::kSigned},    {"i16", 2, Kind::kSigned},
    {"i32", 4, Kind::kSigned},   {"i64", 8, Kind::kSigned},   {"u8", 1, Kind::kUnsigned},
    {"u16", 2, Kind::kUnsigned}, {"u32", 4, Kind::kUnsigned}, {"u64", 8, Kind::kUnsigned},
    {"f16", 2, Kind::kFloat},    {"bf16", 2, Kind::kFloat},   {"f32", 4, Kind::kFloat},
    {"f64", 8, Kind::kFloat},
};

const Row& RowOf(DType t) { return kRows[static_cast<int>(t)]; }

}  // namespace

std::string_view DTypeName(DType t) { return RowOf(t).name; }

absl::StatusOr<DType> ParseDType(std::string_view name) {
  for (int i = 0; i < kNumDTypes; ++i)
    if (kRows[i].name == name) return static_cast<DType>(i);
  std::string known;
  for (const Row& row : kRows) {
    if (!known.empty()) known += ", ";
    known += row.name;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown dtype '", std::string(name), "', expected one of ", known));
}

int DTypeBytes(DType t) { return RowOf(t).bytes; }

bool IsFloat(DType t) { return RowOf(t).kind == Kind::kFloat; }

bool IsHalf(DType t) { return t == DType::kF16 || t == DType::kBF16; }

bool IsInteger(DType t) { return RowOf(t).kind == Kind::kSigned || IsUnsigned(t); }

bool IsSigned(DType t) { return RowOf(t).kind == Kind::kSigned || IsFloat(t); }

bool IsUnsigned(DType t) { return RowOf(t).kind == Kind::kUnsigned; }

}  // namespace stax
