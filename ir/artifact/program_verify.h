// Whether a decoded artifact is one that can be used. A right checksum only says that nothing was
// changed since the file was written: the content may come from anywhere.
//
// What is not looked at: a Variant's code, and the grid and block size that it was made for. They
// are trusted as any executable is; who runs a .stax file runs its code.
#ifndef STAX_IR_ARTIFACT_PROGRAM_VERIFY_H_
#define STAX_IR_ARTIFACT_PROGRAM_VERIFY_H_

#include "absl/status/status.h"
#include "ir/artifact/device.pb.h"
#include "ir/artifact/program.pb.h"

namespace stax {

// InvalidArgument says what is wrong and where. After OK:
// - positions (kernels of launches, buffers of launches, inputs and outputs) are inside their
// tables;
// - formulas parse, use declared symbols only, and have values, sizes none below 0, at the hints;
// - a launch gives its kernel the buffers that the nest declares, in number, type and direction,
//   and large enough at the hints (other sizes can only be checked when they are known);
// - what is read was written before: by the caller, as a constant, or by an earlier launch;
// - constants and required values have the bytes that their shapes say;
// - every kernel has code for the program's target, a configuration space, and candidates in it.
absl::Status VerifyProgram(const Program& program);

// InvalidArgument naming the field for a number that no device has: negative, infinite or NaN.
absl::Status VerifyDevice(const DeviceSpec& device);

}  // namespace stax

#endif  // STAX_IR_ARTIFACT_PROGRAM_VERIFY_H_
