#include "runtime/c_api.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "ir/artifact/artifact_io.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/cuda/cuda_device.h"
#include "runtime/device.h"
#include "runtime/executor.h"

struct StaxProgram {
  stax::Program program;  // until the executor takes it
  int device_type = 0;
  int device_id = 0;  // once there is an executor
  std::unique_ptr<stax::Device> device;
  std::unique_ptr<stax::Executor> executor;  // gone before its device
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

std::string DeviceText(int type, int id) {
  switch (type) {
    case kDlCpu:
      return "the CPU";
    case kDlCuda:
      return absl::StrCat("CUDA device ", id);
    default:
      return absl::StrCat("a device of DLPack's type ", type);
  }
}

absl::StatusOr<DType> DTypeOf(absl::string_view what, const StaxTensor& tensor) {
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
  return absl::InvalidArgumentError(absl::StrCat(
      what, " has DLPack type (code ", tensor.code, ", bits ", tensor.bits, ", lanes ",
      tensor.lanes, "), which no program takes: int, uint, float, bfloat or bool of one lane"));
}

// Where the program runs (or, before its first run, would run), by its first tensor.
int DeviceIdFor(const StaxProgram& program, absl::Span<const StaxTensor> inputs,
                absl::Span<const StaxTensor> outputs) {
  if (program.executor != nullptr || program.device_type == kDlCpu) return program.device_id;
  if (!inputs.empty()) return inputs[0].device_id;
  return outputs.empty() ? 0 : outputs[0].device_id;
}

absl::StatusOr<TensorRef> FromDlpack(absl::string_view what, const StaxTensor& tensor,
                                     int device_type, int device_id) {
  // DLPack leaves the CPU's number open.
  if (tensor.device_type != device_type || (device_type != kDlCpu && tensor.device_id != device_id))
    return absl::InvalidArgumentError(
        absl::StrCat(what, " is on ", DeviceText(tensor.device_type, tensor.device_id),
                     "; the program runs on ", DeviceText(device_type, device_id)));
  if (tensor.ndim < 0 || (tensor.ndim > 0 && tensor.shape == nullptr))
    return absl::InvalidArgumentError(
        absl::StrCat(what, " has no shape: ndim is ", tensor.ndim,
                     tensor.ndim < 0 ? "" : ", and shape is a null pointer"));
  absl::StatusOr<DType> dtype = DTypeOf(what, tensor);
  if (!dtype.ok()) return dtype.status();
  TensorRef ref;
  ref.dtype = *dtype;
  if (tensor.data != nullptr) ref.data = static_cast<char*>(tensor.data) + tensor.byte_offset;
  ref.dims.assign(tensor.shape, tensor.shape + tensor.ndim);
  if (tensor.strides != nullptr) ref.strides.assign(tensor.strides, tensor.strides + tensor.ndim);
  return ref;
}

absl::StatusOr<std::vector<TensorRef>> FromDlpack(absl::string_view what,
                                                  absl::Span<const StaxTensor> tensors,
                                                  int device_type, int device_id) {
  std::vector<TensorRef> refs;
  for (size_t i = 0; i < tensors.size(); ++i) {
    absl::StatusOr<TensorRef> ref =
        FromDlpack(absl::StrCat(what, " ", i), tensors[i], device_type, device_id);
    if (!ref.ok()) return ref.status();
    refs.push_back(*std::move(ref));
  }
  return refs;
}

absl::Status Open(StaxProgram& program, int device_id) {
  absl::StatusOr<std::unique_ptr<Device>> device =
      program.device_type == kDlCuda ? OpenCudaDevice(device_id) : OpenCpuDevice(/*threads=*/0);
  if (!device.ok()) return device.status();
  absl::StatusOr<std::unique_ptr<Executor>> executor =
      Executor::Create(program.program, device->get());
  if (!executor.ok()) return executor.status();
  (*executor)->UseGraphs();
  program.device_id = device_id;
  program.device = *std::move(device);
  program.executor = *std::move(executor);
  program.program.Clear();  // the executor has its own
  return absl::OkStatus();
}

absl::Status Run(StaxProgram& program, absl::Span<const StaxTensor> inputs,
                 absl::Span<const StaxTensor> outputs, void* stream) {
  const int device_id = DeviceIdFor(program, inputs, outputs);
  absl::StatusOr<std::vector<TensorRef>> in =
      FromDlpack("input", inputs, program.device_type, device_id);
  if (!in.ok()) return in.status();
  absl::StatusOr<std::vector<TensorRef>> out =
      FromDlpack("output", outputs, program.device_type, device_id);
  if (!out.ok()) return out.status();
  if (program.executor == nullptr) {
    if (absl::Status status = Open(program, device_id); !status.ok()) return status;
  }
  return program.executor->Run(*in, *out, stream);
}

absl::Status CheckArray(absl::string_view what, int count, const StaxTensor* tensors) {
  if (count < 0)
    return absl::InvalidArgumentError(absl::StrCat("stax_program_run: num_", what, " is ", count));
  if (count > 0 && tensors == nullptr)
    return absl::InvalidArgumentError(absl::StrCat("stax_program_run: num_", what, " is ", count,
                                                   ", and ", what, " a null pointer"));
  return absl::OkStatus();
}

absl::Status Run(StaxProgram* program, int num_inputs, const StaxTensor* inputs, int num_outputs,
                 const StaxTensor* outputs, void* stream) {
  if (program == nullptr)
    return absl::InvalidArgumentError("stax_program_run: program is a null pointer");
  if (absl::Status status = CheckArray("inputs", num_inputs, inputs); !status.ok()) return status;
  if (absl::Status status = CheckArray("outputs", num_outputs, outputs); !status.ok())
    return status;
  return Run(*program, absl::MakeSpan(inputs, num_inputs), absl::MakeSpan(outputs, num_outputs),
             stream);
}

absl::Status Load(const char* path, StaxProgram** out) {
  if (out == nullptr) return absl::InvalidArgumentError("stax_program_load: out is a null pointer");
  *out = nullptr;
  if (path == nullptr)
    return absl::InvalidArgumentError("stax_program_load: path is a null pointer");
  absl::StatusOr<Program> program = ReadProgram(path);
  if (!program.ok()) return program.status();
  auto loaded = std::make_unique<StaxProgram>();
  loaded->device_type = program->target().kind() == "cuda" ? kDlCuda : kDlCpu;
  loaded->program = *std::move(program);
  *out = loaded.release();
  return absl::OkStatus();
}

}  // namespace
}  // namespace stax

int stax_program_load(const char* path, StaxProgram** out) {
  return stax::Report(stax::Load(path, out));
}

int stax_program_run(StaxProgram* program, int num_inputs, const StaxTensor* inputs,
                     int num_outputs, StaxTensor* outputs, void* cu_stream) {
  return stax::Report(stax::Run(program, num_inputs, inputs, num_outputs, outputs, cu_stream));
}

const char* stax_last_error(void) { return stax::last_error.c_str(); }

void stax_program_free(StaxProgram* program) { delete program; }
