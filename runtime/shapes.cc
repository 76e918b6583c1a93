#include "runtime/shapes.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace stax {

std::string BufferShape::ToString() const {
  return absl::StrCat(
      std::string(DTypeName(dtype)), "[",
      absl::StrJoin(dims, ", ",
                    [](std::string* out, const IndexExpr& e) { out->append(e.ToString()); }),
      "]");
}

absl::StatusOr<std::vector<int64_t>> BufferShape::Evaluate(const SizeMap& sizes) const {
  std::vector<int64_t> result;
  result.reserve(dims.size());
  for (const IndexExpr& dim : dims) {
    absl::StatusOr<int64_t> value = dim.Evaluate(sizes);
    if (!value.ok()) return value.status();
    if (*value < 0)
      return absl::InvalidArgumentError(
          absl::StrCat(name, ": dimension ", dim.ToString(), " is ", *value, " for these sizes"));
    result.push_back(*value);
  }
  return result;
}

absl::StatusOr<BufferShape> ParseBufferShape(const Buffer& buffer) {
  BufferShape shape;
  shape.name = buffer.name();
  absl::StatusOr<DType> dtype = ParseDType(buffer.dtype());
  if (!dtype.ok()) return dtype.status();
  shape.dtype = *dtype;
  for (const std::string& dim : buffer.dims()) {
    absl::StatusOr<IndexExpr> e = IndexExpr::Parse(dim);
    if (!e.ok()) return e.status();
    shape.dims.push_back(*e);
  }
  return shape;
}

absl::Status BindShape(const BufferShape& shape, absl::Span<const int64_t> dims,
                       const std::map<std::string, SizeSymbolProto>& symbols, bool final,
                       SizeMap& sizes) {
  auto error = [&](const auto&... parts) {
    return absl::InvalidArgumentError(absl::StrCat("input '", shape.name, "' of shape [",
                                                   absl::StrJoin(dims, ", "), "]: ", parts...,
                                                   "; expected ", shape.ToString()));
  };
  if (dims.size() != shape.dims.size())
    return error("has ", dims.size(), " dimensions instead of ", shape.dims.size());
  for (size_t d = 0; d < dims.size(); ++d) {
    std::optional<std::string> symbol = shape.dims[d].AsVar();
    if (symbol.has_value() && sizes.count(*symbol) == 0) {
      auto range = symbols.find(*symbol);
      if (range == symbols.end()) return error("the program does not declare ", *symbol);
      if (dims[d] < range->second.lower() || dims[d] > range->second.upper())
        return error("dimension ", d, " is ", dims[d], ", outside ", *symbol, "'s range [",
                     range->second.lower(), ", ", range->second.upper(), "]");
      sizes[*symbol] = dims[d];
      continue;
    }
    absl::StatusOr<int64_t> wanted = shape.dims[d].Evaluate(sizes);
    if (!wanted.ok()) {
      if (!final) continue;  // a symbol is bound by a later input
      return error("dimension ", d, ": ", wanted.status().message());
    }
    if (*wanted != dims[d]) {
      return symbol.has_value() ? error("dimension ", d, " is ", dims[d], ", but ", *symbol, " is ",
                                        *wanted, " by another dimension")
                                : error("dimension ", d, " is ", dims[d], " instead of ", *wanted);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> ByteSize(DType dtype, absl::Span<const int64_t> dims) {
  int64_t bytes = DTypeBytes(dtype);
  bool empty = false;
  for (int64_t dim : dims) {
    if (dim == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(bytes, dim, &bytes)) {
      return absl::OutOfRangeError(
          absl::StrCat("a tensor of shape [", absl::StrJoin(dims, ", "), "] is too large"));
    }
  }
  return empty ? 0 : bytes;
}

}  // namespace stax
