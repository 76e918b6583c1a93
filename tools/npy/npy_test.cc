#include "tools/npy/npy.h"

#include <cstring>

#include "gtest/gtest.h"

namespace stax {
namespace {

// numpy.save of numpy.array([[1.5, -2]], dtype='<f4'), byte for byte (NumPy 1.24).
std::string SavedByNumpy() {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }";
  header.append(118 - header.size() - 1, ' ');
  header.push_back('\n');
  std::string bytes("\x93NUMPY\x01\x00\x76\x00", 10);
  bytes += header;
  bytes += std::string("\x00\x00\xc0\x3f\x00\x00\x00\xc0", 8);
  return bytes;
}

TEST(Npy, ReadsWhatNumpyWrites) {
  absl::StatusOr<HostTensor> tensor = ParseNpy(SavedByNumpy());
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(tensor->dtype, DType::kF32);
  EXPECT_EQ(tensor->dims, (std::vector<int64_t>{1, 2}));
  float values[2];
  memcpy(values, tensor->bytes.data(), 8);
  EXPECT_EQ(values[0], 1.5f);
  EXPECT_EQ(values[1], -2.0f);
}

TEST(Npy, RoundTripOfEveryTypeAndRank) {
  for (int t = 0; t < kNumDTypes; ++t) {
    for (const std::vector<int64_t>& dims : {std::vector<int64_t>{}, {0}, {3}, {2, 3}, {1, 2, 3}}) {
      HostTensor tensor{static_cast<DType>(t), dims, {}};
      int64_t count = 1;
      for (int64_t dim : dims) count *= dim;
      tensor.bytes.assign(count * DTypeBytes(tensor.dtype), std::byte{1});
      std::string bytes = FormatNpy(tensor);
      EXPECT_EQ((bytes.size() - tensor.bytes.size()) % 64, 0u);
      absl::StatusOr<HostTensor> back = ParseNpy(bytes);
      ASSERT_TRUE(back.ok()) << back.status();
      EXPECT_EQ(back->dtype, tensor.dtype);
      EXPECT_EQ(back->dims, tensor.dims);
      EXPECT_EQ(back->bytes, tensor.bytes);
    }
  }
}

TEST(Npy, EveryTruncationIsAnError) {
  std::string bytes = SavedByNumpy();
  for (size_t n = 0; n < bytes.size(); ++n)
    EXPECT_EQ(ParseNpy(bytes.substr(0, n)).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(Npy, ErrorsNameThePathAndTheProblem) {
  EXPECT_EQ(ReadNpy("/nonexistent.npy").status().message(),
            "cannot read /nonexistent.npy: No such file or directory");
  EXPECT_EQ(ParseNpy("hello").status().message(), "is no .npy file");
}

}  // namespace
}  // namespace stax
