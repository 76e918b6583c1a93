#include "tools/npy/npy.h"

#include <cstdint>
#include <cstring>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "ir/artifact/artifact_io.h"

namespace stax {
namespace {

constexpr absl::string_view kMagic = "\x93NUMPY";
constexpr size_t kHeaderAlignment = 64;  // of the data in the file

struct TypeRow {
  DType dtype;
  absl::string_view descr;
};
// The first row of a type is what is written.
constexpr TypeRow kTypes[] = {
    {DType::kBool, "|b1"}, {DType::kI8, "|i1"},   {DType::kU8, "|u1"},        {DType::kI16, "<i2"},
    {DType::kI32, "<i4"},  {DType::kI64, "<i8"},  {DType::kU16, "<u2"},       {DType::kU32, "<u4"},
    {DType::kU64, "<u8"},  {DType::kF16, "<f2"},  {DType::kF32, "<f4"},       {DType::kF64, "<f8"},
    {DType::kBF16, "<V2"}, {DType::kBF16, "|V2"}, {DType::kBF16, "bfloat16"},
};

// Text after `key` in the header's Python dictionary, which NumPy writes in one canonical way.
std::optional<absl::string_view> ValueOf(absl::string_view header, absl::string_view key) {
  size_t at = header.find(absl::StrCat("'", key, "':"));
  if (at == absl::string_view::npos) return std::nullopt;
  return absl::StripLeadingAsciiWhitespace(header.substr(at + key.size() + 3));
}

absl::StatusOr<DType> ParseDescr(absl::string_view header) {
  std::optional<absl::string_view> value = ValueOf(header, "descr");
  if (!value.has_value() || value->empty() || (*value)[0] != '\'')
    return absl::InvalidArgumentError("the .npy header has no 'descr' of one plain type");
  absl::string_view descr = value->substr(1, value->find('\'', 1) - 1);
  for (const TypeRow& row : kTypes) {
    if (row.descr == descr) return row.dtype;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("element type '", descr, "' is not supported; known are ",
                   absl::StrJoin(kTypes, ", ", [](std::string* out, const TypeRow& row) {
                     absl::StrAppend(out, row.descr);
                   })));
}

absl::StatusOr<std::vector<int64_t>> ParseShape(absl::string_view header) {
  std::optional<absl::string_view> value = ValueOf(header, "shape");
  size_t close = value.has_value() ? value->find(')') : absl::string_view::npos;
  if (close == absl::string_view::npos || (*value)[0] != '(')
    return absl::InvalidArgumentError("the .npy header has no 'shape'");
  std::vector<int64_t> dims;
  for (absl::string_view part : absl::StrSplit(value->substr(1, close - 1), ',')) {
    part = absl::StripAsciiWhitespace(part);
    if (part.empty()) continue;  // after the last comma
    int64_t dim = 0;
    if (!absl::SimpleAtoi(part, &dim) || dim < 0)
      return absl::InvalidArgumentError(
          absl::StrCat("the .npy shape has a dimension '", part, "'"));
    dims.push_back(dim);
  }
  return dims;
}

}  // namespace

absl::StatusOr<HostTensor> ParseNpy(std::string_view file) {
  absl::string_view bytes(file.data(), file.size());
  if (!absl::StartsWith(bytes, kMagic) || bytes.size() < 10)
    return absl::InvalidArgumentError("is no .npy file");
  bool version1 = bytes[6] == 1;
  size_t prefix = version1 ? 10 : 12;
  if (bytes.size() < prefix) return absl::InvalidArgumentError("is truncated in its header");
  uint32_t length = 0;
  memcpy(&length, bytes.data() + 8, version1 ? 2 : 4);
  if (bytes.size() - prefix < length)
    return absl::InvalidArgumentError("is truncated in its header");
  absl::string_view header = bytes.substr(prefix, length);
  absl::string_view data = bytes.substr(prefix + length);
  if (std::optional<absl::string_view> order = ValueOf(header, "fortran_order");
      order.has_value() && absl::StartsWith(*order, "True"))
    return absl::InvalidArgumentError("is in Fortran order; save it with numpy.ascontiguousarray");
  HostTensor tensor;
  absl::StatusOr<DType> dtype = ParseDescr(header);
  if (!dtype.ok()) return dtype.status();
  tensor.dtype = *dtype;
  absl::StatusOr<std::vector<int64_t>> dims = ParseShape(header);
  if (!dims.ok()) return dims.status();
  tensor.dims = *std::move(dims);
  int64_t expected = DTypeBytes(tensor.dtype);
  for (int64_t dim : tensor.dims) {
    if (__builtin_mul_overflow(expected, dim, &expected))
      return absl::InvalidArgumentError("has a shape too large for memory");
  }
  if (expected != static_cast<int64_t>(data.size()))
    return absl::InvalidArgumentError(
        absl::StrCat("holds ", data.size(), " bytes of data; its shape and type say ", expected));
  tensor.bytes.resize(data.size());
  if (!data.empty()) memcpy(tensor.bytes.data(), data.data(), data.size());
  return tensor;
}

std::string FormatNpy(const HostTensor& tensor) {
  absl::string_view descr;
  for (const TypeRow& row : kTypes) {
    if (row.dtype == tensor.dtype && descr.empty()) descr = row.descr;
  }
  std::string header =
      absl::StrCat("{'descr': '", descr, "', 'fortran_order': False, 'shape': (",
                   absl::StrJoin(tensor.dims, ", "), tensor.dims.size() == 1 ? ",), }" : "), }");
  // Version 1 prefix is 10 bytes; the header is padded with spaces and ends in a newline.
  size_t unpadded = 10 + header.size() + 1;
  header.append((kHeaderAlignment - unpadded % kHeaderAlignment) % kHeaderAlignment, ' ');
  header.push_back('\n');
  std::string bytes(kMagic);
  bytes.push_back(1);
  bytes.push_back(0);
  bytes.push_back(static_cast<char>(header.size() & 0xff));
  bytes.push_back(static_cast<char>(header.size() >> 8));
  bytes.append(header);
  bytes.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
  return bytes;
}

absl::StatusOr<HostTensor> ReadNpy(const std::string& path) {
  absl::StatusOr<std::string> bytes = ReadFile(path);
  if (!bytes.ok()) return bytes.status();
  absl::StatusOr<HostTensor> tensor = ParseNpy(*bytes);
  if (!tensor.ok())
    return absl::InvalidArgumentError(absl::StrCat(path, " ", tensor.status().message()));
  return tensor;
}

absl::Status WriteNpy(const std::string& path, const HostTensor& tensor) {
  return WriteFileAtomically(path, FormatNpy(tensor));
}

}  // namespace stax
