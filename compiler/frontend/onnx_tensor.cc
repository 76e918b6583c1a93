#include "compiler/frontend/onnx_tensor.h"

#include <cstring>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "third_party/onnx/onnx.pb.h"

namespace stax {
namespace {

using onnx::TensorProto;

struct TypeRow {
  int onnx;
  DType dtype;
  const char* name;
};

constexpr TypeRow kTypes[] = {
    {TensorProto::FLOAT, DType::kF32, "float"},        {TensorProto::UINT8, DType::kU8, "uint8"},
    {TensorProto::INT8, DType::kI8, "int8"},           {TensorProto::UINT16, DType::kU16, "uint16"},
    {TensorProto::INT16, DType::kI16, "int16"},        {TensorProto::INT32, DType::kI32, "int32"},
    {TensorProto::INT64, DType::kI64, "int64"},        {TensorProto::BOOL, DType::kBool, "bool"},
    {TensorProto::FLOAT16, DType::kF16, "float16"},    {TensorProto::DOUBLE, DType::kF64, "double"},
    {TensorProto::UINT32, DType::kU32, "uint32"},      {TensorProto::UINT64, DType::kU64, "uint64"},
    {TensorProto::BFLOAT16, DType::kBF16, "bfloat16"},
};

struct OtherTypeRow {
  int onnx;
  const char* name;
};

// Types of ONNX without an element type here.
constexpr OtherTypeRow kOtherTypes[] = {
    {TensorProto::STRING, "string"},
    {TensorProto::COMPLEX64, "complex64"},
    {TensorProto::COMPLEX128, "complex128"},
    {17, "float8e4m3fn"},
    {18, "float8e4m3fnuz"},
    {19, "float8e5m2"},
    {20, "float8e5m2fnuz"},
    {21, "uint4"},
    {22, "int4"},
};

std::string Quoted(const TensorProto& tensor) {
  return tensor.name().empty() ? "tensor" : absl::StrCat("tensor '", tensor.name(), "'");
}

std::string DimsText(const std::vector<int64_t>& dims) {
  return absl::StrCat("[", absl::StrJoin(dims, ","), "]");
}

// Copies a typed field, converting each number to Element.
template <typename Element, typename Field>
std::optional<std::vector<std::byte>> Pack(const Field& field, int64_t numel) {
  if (field.size() != numel) return std::nullopt;
  std::vector<std::byte> bytes(numel * sizeof(Element));
  for (int64_t i = 0; i < numel; ++i) {
    const Element element = static_cast<Element>(field.Get(static_cast<int>(i)));
    std::memcpy(bytes.data() + i * sizeof(Element), &element, sizeof(Element));
  }
  return bytes;
}

// The typed field that onnx.proto assigns to each type; its size in `*found`.
std::optional<std::vector<std::byte>> PackTyped(const TensorProto& t, DType dtype, int64_t numel,
                                                int64_t* found) {
  *found = t.int32_data_size();
  switch (dtype) {
    case DType::kF32:
      *found = t.float_data_size();
      return Pack<float>(t.float_data(), numel);
    case DType::kF64:
      *found = t.double_data_size();
      return Pack<double>(t.double_data(), numel);
    case DType::kI64:
      *found = t.int64_data_size();
      return Pack<int64_t>(t.int64_data(), numel);
    case DType::kU32:
      *found = t.uint64_data_size();
      return Pack<uint32_t>(t.uint64_data(), numel);
    case DType::kU64:
      *found = t.uint64_data_size();
      return Pack<uint64_t>(t.uint64_data(), numel);
    case DType::kI32:
      return Pack<int32_t>(t.int32_data(), numel);
    case DType::kI16:
    case DType::kU16:
    case DType::kF16:  // the bits, in the low half of an int32
    case DType::kBF16:
      return Pack<uint16_t>(t.int32_data(), numel);
    case DType::kI8:
    case DType::kU8:
      return Pack<uint8_t>(t.int32_data(), numel);
    case DType::kBool:
      return Pack<bool>(t.int32_data(), numel);
  }
  return std::nullopt;
}

absl::Status CheckLocation(const TensorProto& tensor) {
  if (tensor.data_location() != TensorProto::EXTERNAL) return absl::OkStatus();
  std::string location = "another file";
  for (const auto& entry : tensor.external_data())
    if (entry.key() == "location") location = absl::StrCat("the file '", entry.value(), "'");
  return absl::InvalidArgumentError(
      absl::StrCat(Quoted(tensor), " keeps its data in ", location,
                   "; save the model with its data inside (onnx.save_model with "
                   "save_as_external_data=False)"));
}

}  // namespace

absl::StatusOr<int64_t> OnnxElements(const std::vector<int64_t>& dims) {
  if (dims.size() > static_cast<size_t>(kMaxOnnxRank))
    return absl::InvalidArgumentError(
        absl::StrCat("rank ", dims.size(), " is above the limit of ", kMaxOnnxRank));
  int64_t numel = 1;
  bool empty = false;
  for (int64_t d : dims) {
    if (d < 0)
      return absl::InvalidArgumentError(
          absl::StrCat("dims ", DimsText(dims), " have the negative size ", d));
    empty |= d == 0;
  }
  for (int64_t d : dims) {
    // Also for empty tensors: their other dims take part in index arithmetic.
    const int64_t factor = d == 0 ? 1 : d;
    if (factor >= kMaxOnnxElements || numel >= kMaxOnnxElements / factor + 1 ||
        numel * factor >= kMaxOnnxElements)
      return absl::InvalidArgumentError(absl::StrCat("dims ", DimsText(dims), " make ",
                                                     kMaxOnnxElements, " (2^40) elements or more"));
    numel *= factor;
  }
  return empty ? 0 : numel;
}

absl::StatusOr<DType> DTypeFromOnnx(int data_type) {
  for (const TypeRow& row : kTypes)
    if (row.onnx == data_type) return row.dtype;
  for (const OtherTypeRow& row : kOtherTypes)
    if (row.onnx == data_type)
      return absl::UnimplementedError(absl::StrCat("element type ", row.name));
  return absl::InvalidArgumentError(
      absl::StrCat(data_type, " is not a TensorProto.DataType of ONNX"));
}

int OnnxFromDType(DType dtype) {
  for (const TypeRow& row : kTypes)
    if (row.dtype == dtype) return row.onnx;
  return TensorProto::UNDEFINED;
}

std::string OnnxTypeName(int data_type) {
  for (const TypeRow& row : kTypes)
    if (row.onnx == data_type) return row.name;
  for (const OtherTypeRow& row : kOtherTypes)
    if (row.onnx == data_type) return row.name;
  return absl::StrCat("type ", data_type);
}

absl::StatusOr<OnnxValue> OnnxValueFromProto(const TensorProto& tensor) {
  auto error = [&](const auto&... what) {
    return absl::InvalidArgumentError(absl::StrCat(Quoted(tensor), ": ", what...));
  };
  absl::StatusOr<DType> dtype = DTypeFromOnnx(tensor.data_type());
  if (!dtype.ok())
    return absl::Status(dtype.status().code(),
                        absl::StrCat(Quoted(tensor), ": ", dtype.status().message()));
  if (absl::Status s = CheckLocation(tensor); !s.ok()) return s;
  if (tensor.has_segment()) return error("data in segments cannot be read");

  OnnxValue value;
  value.dtype = *dtype;
  value.dims.assign(tensor.dims().begin(), tensor.dims().end());
  absl::StatusOr<int64_t> numel = OnnxElements(value.dims);
  if (!numel.ok()) return error(numel.status().message());

  if (tensor.has_raw_data()) {
    const std::string& raw = tensor.raw_data();
    const int64_t want = *numel * DTypeBytes(*dtype);
    if (static_cast<int64_t>(raw.size()) != want)
      return error("raw_data has ", raw.size(), " bytes, but ", DimsText(value.dims), " of ",
                   OnnxTypeName(tensor.data_type()), " need ", want);
    const auto* data = reinterpret_cast<const std::byte*>(raw.data());
    value.bytes.assign(data, data + raw.size());
    if (*dtype == DType::kBool)
      for (std::byte& b : value.bytes) b = std::byte{b != std::byte{0}};
    return value;
  }
  int64_t found = 0;
  std::optional<std::vector<std::byte>> bytes = PackTyped(tensor, *dtype, *numel, &found);
  if (!bytes.has_value())
    return error("the data field of ", OnnxTypeName(tensor.data_type()), " has ", found,
                 " numbers, but ", DimsText(value.dims), " need ", *numel);
  value.bytes = *std::move(bytes);
  return value;
}

absl::StatusOr<OnnxValue> OnnxValueFromSparse(const onnx::SparseTensorProto& sparse) {
  // Dense data may be larger than the file; sparse tensors of models are small.
  constexpr int64_t kMaxDense = int64_t{1} << 26;
  absl::StatusOr<OnnxValue> values = OnnxValueFromProto(sparse.values());
  if (!values.ok()) return values.status();
  absl::StatusOr<OnnxValue> indices = OnnxValueFromProto(sparse.indices());
  if (!indices.ok()) return indices.status();
  auto error = [&](auto... what) {
    return absl::InvalidArgumentError(
        absl::StrCat("sparse ", Quoted(sparse.values()), ": ", what...));
  };

  OnnxValue dense;
  dense.dtype = values->dtype;
  dense.dims.assign(sparse.dims().begin(), sparse.dims().end());
  absl::StatusOr<int64_t> numel = OnnxElements(dense.dims);
  if (!numel.ok()) return error(numel.status().message());
  if (*numel > kMaxDense) return error("more than ", kMaxDense, " elements when made dense");
  const int64_t rank = static_cast<int64_t>(dense.dims.size());
  const int64_t count = values->dims.size() == 1 ? values->dims[0] : -1;
  const bool linear = indices->dims == std::vector<int64_t>{count};
  if (count < 0 || indices->dtype != DType::kI64 ||
      (!linear && indices->dims != std::vector<int64_t>{count, rank}))
    return error("values must be [nnz], and indices int64 [nnz] or [nnz, rank]");

  const int bytes = DTypeBytes(dense.dtype);
  dense.bytes.resize(*numel * bytes);
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = 0;
    for (int64_t d = 0; d < (linear ? 1 : rank); ++d) {
      int64_t index;
      std::memcpy(&index, indices->bytes.data() + (linear ? i : i * rank + d) * 8, 8);
      const int64_t extent = linear ? *numel : dense.dims[d];
      if (index < 0 || index >= extent)
        return error("index ", index, " is outside of [0, ", extent, ")");
      at = at * (linear ? 1 : dense.dims[d]) + index;
    }
    std::memcpy(dense.bytes.data() + at * bytes, values->bytes.data() + i * bytes, bytes);
  }
  return dense;
}

absl::StatusOr<NamedOnnxValue> ParseOnnxTensor(std::string_view serialized) {
  TensorProto tensor;
  if (serialized.size() > INT32_MAX ||
      !tensor.ParseFromArray(serialized.data(), static_cast<int>(serialized.size())))
    return absl::InvalidArgumentError("not a serialized ONNX TensorProto");
  absl::StatusOr<OnnxValue> value = OnnxValueFromProto(tensor);
  if (!value.ok()) return value.status();
  return NamedOnnxValue{tensor.name(), *std::move(value)};
}

}  // namespace stax
