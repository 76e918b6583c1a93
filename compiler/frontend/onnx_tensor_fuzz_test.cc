// Runs the fuzz target on mutations of tensors of every type.
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

#include "compiler/frontend/onnx_tensor.h"
#include "gtest/gtest.h"
#include "third_party/onnx/onnx.pb.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace stax {
namespace {

constexpr int kMutations = 30000;
constexpr int64_t kDims[] = {0, 1, 6, -1, INT64_MAX, INT64_MIN, int64_t{1} << 32, int64_t{1} << 40};

TEST(OnnxTensorFuzzTest, Mutations) {
  std::mt19937_64 random(11);
  int parsed = 0;
  for (int i = 0; i < kMutations; ++i) {
    onnx::TensorProto tensor;
    tensor.set_data_type(static_cast<int>(random() % 24));
    tensor.add_dims(3);
    tensor.add_dims(2);
    for (int k = 0; k < 6; ++k) {
      tensor.add_int32_data(k);
      tensor.add_float_data(k);
      tensor.add_int64_data(k);
      tensor.add_uint64_data(k);
      tensor.add_double_data(k);
    }
    if (random() % 2 == 0) tensor.set_raw_data(std::string(6 << random() % 4, '\2'));
    if (random() % 4 == 0) tensor.set_dims(static_cast<int>(random() % 2), kDims[random() % 8]);
    if (random() % 4 == 0) tensor.add_dims(kDims[random() % 8]);
    if (random() % 8 == 0) tensor.add_external_data()->set_key("location");
    if (random() % 8 == 0) tensor.set_data_location(onnx::TensorProto::EXTERNAL);
    std::string bytes = tensor.SerializeAsString();
    if (random() % 8 == 0) bytes[random() % bytes.size()] = static_cast<char>(random());
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    parsed += ParseOnnxTensor(bytes).ok();
  }
  EXPECT_GT(parsed, kMutations / 10);
}

}  // namespace
}  // namespace stax
