// Runs the fuzz target on mutations of good files.
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

#include "gtest/gtest.h"
#include "ir/host_tensor.h"
#include "tools/npy/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace stax {
namespace {

constexpr int kMutations = 50000;

void Feed(const std::string& bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

// With a header of `length` bytes in the format of `version`.
std::string Npy(char version, size_t length, const std::string& header, size_t data_bytes) {
  std::string file = "\x93NUMPY";
  file.push_back(version);
  file.push_back('\0');
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    file.push_back(static_cast<char>(length >> (8 * i)));
  return file + header + std::string(data_bytes, '\1');
}

TEST(NpyFuzzTest, Mutations) {
  const std::string kHeaders[] = {
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n",
      "{'descr': '|b1', 'fortran_order': False, 'shape': (5,), }\n",
      "{'descr': '<V2', 'fortran_order': False, 'shape': (), }\n",
      "{'descr': '<i8', 'fortran_order': True, 'shape': (0, 9223372036854775807), }\n"};
  const std::string kPieces[] = {"'",
                                 ":",
                                 "'shape':",
                                 "'descr':",
                                 "(",
                                 ")",
                                 ",",
                                 "-1",
                                 "0",
                                 "9223372036854775807",
                                 "4611686018427387904",
                                 "99999999999999999999",
                                 "{",
                                 "}",
                                 " ",
                                 "True",
                                 "'<f8'"};
  std::mt19937_64 random(3);
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  for (int i = 0; i < kMutations; ++i) {
    std::string header = kHeaders[below(std::size(kHeaders))];
    for (size_t edits = below(4); edits > 0; --edits) {
      const size_t at = below(header.size() + 1);
      if (below(2) == 0)
        header.erase(at, below(6));
      else
        header.insert(at, kPieces[below(std::size(kPieces))]);
    }
    // Mostly the right length.
    const size_t length = below(8) == 0 ? random() : header.size();
    const size_t data[] = {24, 5, 2, 0, below(64)};
    std::string file = Npy(static_cast<char>(1 + below(3)), length, header, data[below(5)]);
    if (below(8) == 0) file.resize(below(file.size()));
    if (below(8) == 0 && !file.empty()) file[below(file.size())] = static_cast<char>(random());
    SCOPED_TRACE(file);
    Feed(file);
  }
}

TEST(NpyFuzzTest, GoodFiles) {
  for (const DType dtype : {DType::kBool, DType::kBF16, DType::kF64, DType::kU64}) {
    HostTensor tensor;
    tensor.dtype = dtype;
    tensor.dims = {3, 1, 2};
    tensor.bytes.resize(6 * DTypeBytes(dtype));
    const std::string file = FormatNpy(tensor);
    EXPECT_TRUE(ParseNpy(file).ok());
    Feed(file);
  }
  Feed("");
}

}  // namespace
}  // namespace stax
