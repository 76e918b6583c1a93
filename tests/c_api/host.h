// What a host program does: opens libstax.so, describes its memory as DLPack tensors.
#ifndef STAX_TESTS_C_API_HOST_H_
#define STAX_TESTS_C_API_HOST_H_

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/c_api.h"

namespace stax {

struct Library {
  decltype(&stax_program_load) load;
  decltype(&stax_program_run) run;
  decltype(&stax_last_error) last_error;
  decltype(&stax_program_free) free;
};

// Opened by dlopen, once: $STAX_TEST_LIBRARY, else the one of this build. Ends the process, saying
// why, when it cannot be.
const Library& Stax();

// File of a program of this package's BUILD.
std::string ProgramFile(const std::string& name);

struct FreeProgram {
  void operator()(StaxProgram* program) const { Stax().free(program); }
};
using ProgramHandle = std::unique_ptr<StaxProgram, FreeProgram>;

// A failed test and null when it cannot be loaded.
ProgramHandle LoadProgram(const std::string& name);

// DLPack's type codes: DLDataTypeCode in dlpack.h.
enum DlCode : uint8_t { kDlInt = 0, kDlUInt = 1, kDlFloat = 2, kDlBfloat = 4, kDlBool = 6 };

// Row-major elements with their shape. The view is valid while this lives where it is.
template <typename T>
struct Array {
  static constexpr DlCode kCode = std::is_floating_point_v<T> ? kDlFloat
                                  : std::is_signed_v<T>       ? kDlInt
                                                              : kDlUInt;

  explicit Array(std::vector<int64_t> dims_in, T fill = T()) : dims(std::move(dims_in)) {
    int64_t count = 1;
    for (int64_t dim : dims) count *= dim;
    values.assign(count, fill);
  }
  StaxTensor View(DlCode code = kCode) {
    return {values.data(),
            /*device_type=*/1,
            /*device_id=*/0,
            static_cast<int32_t>(dims.size()),
            code,
            8 * sizeof(T),
            /*lanes=*/1,
            dims.data(),
            /*strides=*/nullptr,
            /*byte_offset=*/0};
  }

  std::vector<int64_t> dims;
  std::vector<T> values;
};

int RunProgram(StaxProgram* program, const std::vector<StaxTensor>& inputs,
               std::vector<StaxTensor> outputs);

}  // namespace stax

#endif  // STAX_TESTS_C_API_HOST_H_
