// Arguments of a kernel as stax-emu takes them on its command line:
//
//   in:x.npy               a buffer with the file's contents
//   out:f32[1024,8]:y.npy  a buffer that nobody has written; afterwards its contents go to the file
//   inout:z.npy            a buffer with the file's contents, which are replaced afterwards
//   value:p.npy            the file's contents themselves, such as a struct
//   i32:5  i64:..  f32:..  a number; any type of ir/dtype.h but 16-bit floats
#ifndef STAX_TOOLS_EMU_ARGUMENTS_H_
#define STAX_TOOLS_EMU_ARGUMENTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ir/host_tensor.h"
#include "runtime/emulator/memory/global_memory.h"
#include "runtime/emulator/translate/flat_kernel.h"

namespace stax {

struct KernelArgument {
  enum class Kind : uint8_t { kIn, kOut, kInOut, kValue };
  Kind kind = Kind::kValue;
  std::string text;   // as given, for messages
  std::string path;   // of buffers
  HostTensor tensor;  // its contents; of a value: its bytes
  void* memory = nullptr;
};

// InvalidArgument quotes the argument and says what is wrong; reads the files.
absl::StatusOr<KernelArgument> ParseKernelArgument(const std::string& text);

// Gives buffers memory, and makes the kernel's parameter bytes. InvalidArgument when there are too
// few or too many, or an argument has not the parameter's size.
absl::StatusOr<std::vector<uint8_t>> PlaceArguments(const emulator::FlatKernel& kernel,
                                                    emulator::GlobalMemory& memory,
                                                    std::vector<KernelArgument>& arguments);

// Writes the buffers' files, after the launch.
absl::Status WriteOutputs(const std::vector<KernelArgument>& arguments);

}  // namespace stax

#endif  // STAX_TOOLS_EMU_ARGUMENTS_H_
