#include "tools/emu/arguments.h"

#include <cmath>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "ir/dtype.h"
#include "runtime/host_memory.h"
#include "tools/npy/npy.h"

namespace stax {
namespace {

using Kind = KernelArgument::Kind;

absl::Status Bad(const std::string& text, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(
      "--arg=", text, ": ", why,
      "; expected in:FILE.npy, inout:FILE.npy, out:TYPE[DIMS]:FILE.npy, value:FILE.npy or "
      "TYPE:NUMBER"));
}

template <typename T>
void SetBytes(T value, HostTensor& tensor) {
  tensor.bytes.resize(sizeof(value));
  std::memcpy(tensor.bytes.data(), &value, sizeof(value));
}

absl::Status ParseReal(const std::string& text, absl::string_view value, HostTensor& tensor) {
  double real = 0;
  if (!absl::SimpleAtod(value, &real)) return Bad(text, "it is no number");
  const bool narrow = tensor.dtype == DType::kF32;
  // What rounds to the largest number or below it is in range.
  constexpr double kEndOfF32 = 0x1.ffffffp127;
  const bool too_large = std::isinf(real) ? value.find_first_of("iI") == absl::string_view::npos
                                          : narrow && std::abs(real) >= kEndOfF32;
  if (too_large) return Bad(text, absl::StrCat("it is too large for ", narrow ? "f32" : "f64"));
  if (narrow) {
    SetBytes(static_cast<float>(real), tensor);
  } else {
    SetBytes(real, tensor);
  }
  return absl::OkStatus();
}

// One number of a type, from its text.
absl::Status ParseNumber(const std::string& text, absl::string_view value, HostTensor& tensor) {
  if (tensor.dtype == DType::kF32 || tensor.dtype == DType::kF64)
    return ParseReal(text, value, tensor);
  if (IsFloat(tensor.dtype)) return Bad(text, "numbers of 16-bit floats are not supported");
  const bool is_signed = IsSigned(tensor.dtype);
  const int bytes = DTypeBytes(tensor.dtype);
  const int bits = tensor.dtype == DType::kBool ? 1 : 8 * bytes;
  const uint64_t highest = ~uint64_t{0} >> (64 - bits + (is_signed ? 1 : 0));
  const int64_t lowest = is_signed ? -static_cast<int64_t>(highest) - 1 : 0;
  int64_t negative = 0;
  uint64_t word = 0;
  bool fits = false;
  if (absl::SimpleAtoi(value, &word)) {
    fits = word <= highest;
  } else if (absl::SimpleAtoi(value, &negative)) {
    fits = negative >= lowest;
    word = static_cast<uint64_t>(negative);
  } else {
    return Bad(text, "it is no integer of 64 bits");
  }
  if (!fits) return Bad(text, absl::StrCat("it is not between ", lowest, " and ", highest));
  tensor.bytes.resize(static_cast<size_t>(bytes));
  std::memcpy(tensor.bytes.data(), &word, static_cast<size_t>(bytes));
  return absl::OkStatus();
}

// "f32[1024,8]:y.npy"
absl::Status ParseOut(const std::string& text, absl::string_view rest, KernelArgument& argument) {
  const size_t open = rest.find('[');
  const size_t close = rest.find("]:");
  if (open == absl::string_view::npos || close == absl::string_view::npos || close < open)
    return Bad(text, "it has no TYPE[DIMS]:");
  absl::StatusOr<DType> dtype = ParseDType(std::string(rest.substr(0, open)));
  if (!dtype.ok()) return Bad(text, dtype.status().message());
  argument.tensor.dtype = *dtype;
  argument.path = std::string(rest.substr(close + 2));
  if (argument.path.empty()) return Bad(text, "it names no file");
  int64_t bytes = DTypeBytes(*dtype);
  const absl::string_view dims = rest.substr(open + 1, close - open - 1);
  for (absl::string_view dim : absl::StrSplit(dims, ',')) {
    if (dims.empty()) break;  // one element
    int64_t size = 0;
    if (!absl::SimpleAtoi(dim, &size) || size < 0) return Bad(text, "a dimension is no size");
    argument.tensor.dims.push_back(size);
    if (__builtin_mul_overflow(bytes, size, &bytes)) return Bad(text, "it is too large");
  }
  if (absl::Status fits = CheckFitsHostMemory(text, bytes); !fits.ok()) return fits;
  argument.tensor.bytes.resize(static_cast<size_t>(bytes));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<KernelArgument> ParseKernelArgument(const std::string& text) {
  KernelArgument argument;
  argument.text = text;
  absl::string_view rest = text;
  const bool in = absl::ConsumePrefix(&rest, "in:");
  const bool value = !in && absl::ConsumePrefix(&rest, "value:");
  if (in || value || absl::ConsumePrefix(&rest, "inout:")) {
    argument.kind = in ? Kind::kIn : value ? Kind::kValue : Kind::kInOut;
    argument.path = std::string(rest);
    if (rest.empty()) return Bad(text, "it names no file");
    absl::StatusOr<HostTensor> tensor = ReadNpy(argument.path);
    if (!tensor.ok()) return tensor.status();
    argument.tensor = *std::move(tensor);
    return argument;
  }
  if (absl::ConsumePrefix(&rest, "out:")) {
    argument.kind = Kind::kOut;
    absl::Status status = ParseOut(text, rest, argument);
    if (!status.ok()) return status;
    return argument;
  }
  const std::pair<std::string, std::string> parts = absl::StrSplit(text, absl::MaxSplits(':', 1));
  absl::StatusOr<DType> dtype = ParseDType(parts.first);
  if (!dtype.ok() || !absl::StrContains(text, ":"))
    return Bad(text, "it is neither a buffer nor a number");
  argument.tensor.dtype = *dtype;
  absl::Status status = ParseNumber(text, parts.second, argument.tensor);
  if (!status.ok()) return status;
  return argument;
}

absl::StatusOr<std::vector<uint8_t>> PlaceArguments(const emulator::FlatKernel& kernel,
                                                    emulator::GlobalMemory& memory,
                                                    std::vector<KernelArgument>& arguments) {
  if (arguments.size() != kernel.parameter_sizes.size())
    return absl::InvalidArgumentError(absl::StrCat(kernel.name, " takes ",
                                                   kernel.parameter_sizes.size(),
                                                   " parameters, got ", arguments.size()));
  std::vector<uint8_t> bytes(static_cast<size_t>(kernel.parameter_bytes), 0);
  for (size_t i = 0; i < arguments.size(); ++i) {
    KernelArgument& argument = arguments[i];
    const HostTensor& tensor = argument.tensor;
    const bool is_buffer = argument.kind != Kind::kValue;
    const int64_t size =
        is_buffer ? int64_t{sizeof(void*)} : static_cast<int64_t>(tensor.bytes.size());
    if (size != kernel.parameter_sizes[i])
      return absl::InvalidArgumentError(
          absl::StrCat("--arg=", argument.text, " has ", size, " bytes; parameter ", i + 1, " of ",
                       kernel.name, " has ", kernel.parameter_sizes[i]));
    uint8_t* at = bytes.data() + kernel.parameter_offsets[i];
    if (!is_buffer) {
      std::memcpy(at, tensor.bytes.data(), tensor.bytes.size());
      continue;
    }
    absl::StatusOr<void*> buffer = memory.Allocate(tensor.bytes.size());
    if (!buffer.ok()) return buffer.status();
    argument.memory = *buffer;
    if (argument.kind != Kind::kOut && !tensor.bytes.empty()) {
      std::memcpy(argument.memory, tensor.bytes.data(), tensor.bytes.size());
      memory.MarkWritten(argument.memory, tensor.bytes.size());
    }
    const auto address = reinterpret_cast<uintptr_t>(argument.memory);
    std::memcpy(at, &address, sizeof(address));
  }
  return bytes;
}

absl::Status WriteOutputs(const std::vector<KernelArgument>& arguments) {
  for (const KernelArgument& argument : arguments) {
    if (argument.kind != Kind::kOut && argument.kind != Kind::kInOut) continue;
    HostTensor tensor = argument.tensor;
    if (!tensor.bytes.empty())
      std::memcpy(tensor.bytes.data(), argument.memory, tensor.bytes.size());
    absl::Status status = WriteNpy(argument.path, tensor);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace stax
