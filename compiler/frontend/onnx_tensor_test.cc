#include "compiler/frontend/onnx_tensor.h"

#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/scalar.h"
#include "third_party/onnx/onnx.pb.h"

namespace stax {
namespace {

using ::testing::ElementsAre;

// ONNX's messages are of the lite runtime, which has no text format.
onnx::TensorProto Tensor(int type, const std::vector<int64_t>& dims, const std::string& name = "") {
  onnx::TensorProto tensor;
  tensor.set_data_type(type);
  for (int64_t d : dims) tensor.add_dims(d);
  if (!name.empty()) tensor.set_name(name);
  return tensor;
}

onnx::TensorProto WithFloats(onnx::TensorProto t, const std::vector<float>& values) {
  for (float v : values) t.add_float_data(v);
  return t;
}

onnx::TensorProto WithInt32s(onnx::TensorProto t, const std::vector<int32_t>& values) {
  for (int32_t v : values) t.add_int32_data(v);
  return t;
}

onnx::TensorProto WithInt64s(onnx::TensorProto t, const std::vector<int64_t>& values) {
  for (int64_t v : values) t.add_int64_data(v);
  return t;
}

onnx::TensorProto WithDouble(onnx::TensorProto t, double value) {
  t.add_double_data(value);
  return t;
}

onnx::TensorProto WithUint64(onnx::TensorProto t, uint64_t value) {
  t.add_uint64_data(value);
  return t;
}

std::vector<double> Values(const OnnxValue& value) {
  std::vector<double> result;
  const int bytes = DTypeBytes(value.dtype);
  for (size_t at = 0; at < value.bytes.size(); at += bytes) {
    const Scalar s = LoadScalar(value.dtype, value.bytes.data() + at);
    result.push_back(IsFloat(value.dtype) ? s.f : static_cast<double>(s.i));
  }
  return result;
}

std::string Error(const onnx::TensorProto& tensor) {
  const absl::StatusOr<OnnxValue> value = OnnxValueFromProto(tensor);
  return value.ok() ? "OK" : value.status().ToString();
}

TEST(OnnxTensorTest, TypedFields) {
  const struct {
    onnx::TensorProto tensor;
    DType dtype;
    std::vector<double> values;
  } kCases[] = {
      {WithFloats(Tensor(1, {2}), {1.5, -2}), DType::kF32, {1.5, -2}},
      {WithDouble(Tensor(11, {1}), 1.5), DType::kF64, {1.5}},
      {WithInt64s(Tensor(7, {1}), {-9000000000}), DType::kI64, {-9e9}},
      {WithInt32s(Tensor(6, {1}), {-7}), DType::kI32, {-7}},
      {WithInt32s(Tensor(5, {1}), {-7}), DType::kI16, {-7}},
      {WithInt32s(Tensor(3, {1}), {-7}), DType::kI8, {-7}},
      {WithInt32s(Tensor(4, {1}), {65535}), DType::kU16, {65535}},
      {WithInt32s(Tensor(2, {1}), {255}), DType::kU8, {255}},
      {WithUint64(Tensor(12, {1}), 4294967295), DType::kU32, {4294967295.0}},
      {WithUint64(Tensor(13, {1}), 5), DType::kU64, {5}},
      {WithInt32s(Tensor(9, {2}), {0, 2}), DType::kBool, {0, 1}},
      {WithInt32s(Tensor(10, {1}), {0x3c00}), DType::kF16, {1}},
      {WithInt32s(Tensor(16, {1}), {0x3f80}), DType::kBF16, {1}},
  };
  for (const auto& c : kCases) {
    const absl::StatusOr<OnnxValue> value = OnnxValueFromProto(c.tensor);
    ASSERT_TRUE(value.ok()) << value.status();
    EXPECT_EQ(value->dtype, c.dtype);
    EXPECT_EQ(Values(*value), c.values) << DTypeName(c.dtype);
  }
}

TEST(OnnxTensorTest, RawData) {
  onnx::TensorProto tensor = Tensor(9, {3}, "w");
  tensor.set_raw_data(std::string("\0\2\1", 3));
  const absl::StatusOr<NamedOnnxValue> parsed = ParseOnnxTensor(tensor.SerializeAsString());
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->name, "w");
  EXPECT_THAT(parsed->value.dims, ElementsAre(3));
  // Any byte but 0 is true, and true is 1.
  EXPECT_THAT(parsed->value.bytes, ElementsAre(std::byte{0}, std::byte{1}, std::byte{1}));
}

TEST(OnnxTensorTest, EmptyAndScalar) {
  EXPECT_TRUE(OnnxValueFromProto(Tensor(1, {0, 5}))->bytes.empty());
  EXPECT_EQ(OnnxValueFromProto(WithFloats(Tensor(1, {}), {2}))->bytes.size(), 4u);
}

TEST(OnnxTensorTest, Errors) {
  onnx::TensorProto raw = Tensor(1, {2, 3}, "w");
  raw.set_raw_data("12345");
  EXPECT_EQ(Error(raw),
            "INVALID_ARGUMENT: tensor 'w': raw_data has 5 bytes, but [2,3] of float need 24");
  EXPECT_EQ(Error(WithFloats(Tensor(1, {3}, "w"), {1})),
            "INVALID_ARGUMENT: tensor 'w': the data field of float has 1 numbers, but [3] need 3");
  EXPECT_EQ(Error(Tensor(1, {2, -3})),
            "INVALID_ARGUMENT: tensor: dims [2,-3] have the negative size -3");
  EXPECT_EQ(
      Error(Tensor(1, {1048576, 1048576})),
      "INVALID_ARGUMENT: tensor: dims [1048576,1048576] make 1099511627776 (2^40) elements or "
      "more");
  EXPECT_EQ(Error(Tensor(1, {INT64_MAX, INT64_MAX, 0})),
            "INVALID_ARGUMENT: tensor: dims [9223372036854775807,9223372036854775807,0] make "
            "1099511627776 (2^40) elements or more");
  EXPECT_EQ(Error(Tensor(8, {1}, "s")), "UNIMPLEMENTED: tensor 's': element type string");
  EXPECT_EQ(Error(Tensor(99, {})),
            "INVALID_ARGUMENT: tensor: 99 is not a TensorProto.DataType of ONNX");
  EXPECT_EQ(ParseOnnxTensor("\x08").status().message(), "not a serialized ONNX TensorProto");
}

TEST(OnnxTensorTest, DataInAnotherFile) {
  onnx::TensorProto tensor = Tensor(1, {1}, "w");
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  onnx::StringStringEntryProto* entry = tensor.add_external_data();
  entry->set_key("location");
  entry->set_value("weights.bin");
  EXPECT_EQ(Error(tensor),
            "INVALID_ARGUMENT: tensor 'w' keeps its data in the file 'weights.bin'; save the model "
            "with its data inside (onnx.save_model with save_as_external_data=False)");
}

TEST(OnnxTensorTest, SparseTensorsBecomeDense) {
  onnx::SparseTensorProto sparse;
  *sparse.mutable_values() = WithFloats(Tensor(1, {2}), {5, 7});
  *sparse.mutable_indices() = WithInt64s(Tensor(7, {2}), {1, 5});
  sparse.add_dims(2);
  sparse.add_dims(3);
  EXPECT_THAT(Values(*OnnxValueFromSparse(sparse)), ElementsAre(0, 5, 0, 0, 0, 7));
  *sparse.mutable_indices() = WithInt64s(Tensor(7, {2, 2}), {0, 2, 1, 0});
  EXPECT_THAT(Values(*OnnxValueFromSparse(sparse)), ElementsAre(0, 0, 5, 7, 0, 0));
  *sparse.mutable_indices() = WithInt64s(Tensor(7, {2}), {1, 6});
  EXPECT_EQ(OnnxValueFromSparse(sparse).status().message(),
            "sparse tensor: index 6 is outside of [0, 6)");
}

TEST(OnnxTensorTest, TypesGoBothWays) {
  for (int t = 0; t < kNumDTypes; ++t) {
    const DType dtype = static_cast<DType>(t);
    EXPECT_EQ(*DTypeFromOnnx(OnnxFromDType(dtype)), dtype);
  }
  EXPECT_EQ(OnnxTypeName(16), "bfloat16");
  EXPECT_EQ(OnnxTypeName(8), "string");
  EXPECT_EQ(OnnxTypeName(77), "type 77");
}

}  // namespace
}  // namespace stax
