#include "runtime/c_api.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/artifact/artifact_io.h"
#include "runtime/device.h"
#include "runtime/executor.h"

struct StaxProgram {
  stax::Program program;  // until the executor takes it
  std::unique_ptr<stax::Device> device;
  std::unique_ptr<stax::Executor> executor;
  int device_type = 0;
  int device_id = 0;
};

namespace stax {
namespace {

constexpr int kDlCpu = 1;
constexpr int kDlCuda = 2;

thread_local std::string last_error;

int Report(const absl::Status& status) {
  last_error = std::string(status.message());
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return STAX_OK;
    case absl::StatusCode::kUnavailable:
      return STAX_MISSING;
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kResourceExhausted:
      return STAX_FAILED;
    default:
      return STAX_BAD_REQUEST;
  }
}

absl::StatusOr<DType> FromDlpack(const StaxTensor& tensor) {
  struct Row {
    int code;
    int bits;
    DType dtype;
  };
  static constexpr Row kRows[] = {
      {0, 8, DType::kI8},   {0, 16, DType::kI16}, {0, 32, DType::kI32}, {0, 64, DType::kI64},
      {1, 8, DType::kU8},   {1, 16, DType::kU16}, {1, 32, DType::kU32}, {1, 64, DType::kU64},
      {2, 16, DType::kF16}, {2, 32, DType::kF32}, {2, 64, DType::kF64}, {4, 16, DType::kBF16},
      {6, 8, DType::kBool},
  };
  for (const Row& row : kRows) {
    if (row.code == tensor.code && row.bits == tensor.bits && tensor.lanes == 1) return row.dtype;
  }
  return absl::InvalidArgumentError(absl::StrCat("DLPack type (code ", tensor.code, ", bits ",
                                                 tensor.bits, ", lanes ", tensor.lanes,
                                                 ") is not supported"));
}

absl::StatusOr<std::vector<TensorRef>> FromDlpack(const StaxProgram& program, int count,
                                                  const StaxTensor* tensors,
                                                  absl::string_view what) {
  if (count < 0 || (count > 0 && tensors == nullptr))
    return absl::InvalidArgumentError(absl::StrCat("no ", what, "s were given"));
  std::vector<TensorRef> refs(count);
  for (int i = 0; i < count; ++i) {
    const StaxTensor& tensor = tensors[i];
    if (tensor.device_type != program.device_type || tensor.device_id != program.device_id)
      return absl::InvalidArgumentError(absl::StrCat(
          what, " ", i, " is on DLPack device (", tensor.device_type, ", ", tensor.device_id,
          "); the program runs on (", program.device_type, ", ", program.device_id, ")"));
    if (tensor.ndim < 0 || (tensor.ndim > 0 && tensor.shape == nullptr))
      return absl::InvalidArgumentError(absl::StrCat(what, " ", i, " has no shape"));
    absl::StatusOr<DType> dtype = FromDlpack(tensor);
    if (!dtype.ok()) return dtype.status();
    refs[i].dtype = *dtype;
    refs[i].data = static_cast<char*>(tensor.data) + tensor.byte_offset;
    refs[i].dims.assign(tensor.shape, tensor.shape + tensor.ndim);
    if (tensor.strides != nullptr)
      refs[i].strides.assign(tensor.strides, tensor.strides + tensor.ndim);
  }
  return refs;
}

absl::Status OpenFor(StaxProgram& program, int num_inputs, const StaxTensor* inputs,
                     int num_outputs, const StaxTensor* outputs) {
  bool cuda = program.program.target().kind() == "cuda";
  program.device_type = cuda ? kDlCuda : kDlCpu;
  if (num_inputs > 0 && inputs != nullptr) {
    program.device_id = inputs[0].device_id;
  } else if (num_outputs > 0 && outputs != nullptr) {
    program.device_id = outputs[0].device_id;
  }
  absl::StatusOr<std::unique_ptr<Device>> device =
      OpenDevice(cuda ? absl::StrCat("cuda:", program.device_id) : "cpu");
  if (!device.ok()) return device.status();
  program.device = *std::move(device);
  absl::StatusOr<std::unique_ptr<Executor>> executor =
      Executor::Create(program.program, program.device.get());
  if (!executor.ok()) return executor.status();
  program.executor = *std::move(executor);
  program.program.Clear();  // the executor has its own
  return absl::OkStatus();
}

absl::Status Run(StaxProgram& program, int num_inputs, const StaxTensor* inputs, int num_outputs,
                 const StaxTensor* outputs, void* stream) {
  if (program.executor == nullptr) {
    absl::Status status = OpenFor(program, num_inputs, inputs, num_outputs, outputs);
    if (!status.ok()) return status;
  }
  absl::StatusOr<std::vector<TensorRef>> in = FromDlpack(program, num_inputs, inputs, "input");
  if (!in.ok()) return in.status();
  absl::StatusOr<std::vector<TensorRef>> out = FromDlpack(program, num_outputs, outputs, "output");
  if (!out.ok()) return out.status();
  return program.executor->Run(*in, *out, stream);
}

absl::Status Load(const char* path, StaxProgram** out) {
  if (path == nullptr || out == nullptr)
    return absl::InvalidArgumentError("stax_program_load: a null pointer was given");
  absl::StatusOr<Program> program = ReadProgram(path);
  if (!program.ok()) return program.status();
  *out = new StaxProgram{*std::move(program), nullptr, nullptr};
  return absl::OkStatus();
}

}  // namespace
}  // namespace stax

int stax_program_load(const char* path, StaxProgram** out) {
  return stax::Report(stax::Load(path, out));
}

int stax_program_run(StaxProgram* program, int num_inputs, const StaxTensor* inputs,
                     int num_outputs, StaxTensor* outputs, void* cu_stream) {
  if (program == nullptr)
    return stax::Report(absl::InvalidArgumentError("stax_program_run: program is a null pointer"));
  return stax::Report(stax::Run(*program, num_inputs, inputs, num_outputs, outputs, cu_stream));
}

const char* stax_last_error(void) { return stax::last_error.c_str(); }

void stax_program_free(StaxProgram* program) {
  if (program == nullptr) return;
  program->executor.reset();  // before its device
  delete program;
}
