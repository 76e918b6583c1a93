// PTX text to a Module.
//
//   absl::StatusOr<ptx::Module> module = ptx::ParsePtx(text, "kernel.ptx");
//
// Takes what LLVM's NVPTX backend and nvcc write, PTX ISA 7.0 to 9.0. Left out are textures and
// surfaces, parameters in registers, indexing of arrays (`a[3]`) and 32-bit addresses. Debug
// sections, .pragma and the names of inlined functions are skipped; nothing else is.
//
// Errors are InvalidArgument, "FILE:LINE:COLUMN: what is wrong, and what would be right", with the
// first one only. Whatever the text, time and memory are bounded by its length.
#ifndef STAX_RUNTIME_EMULATOR_PTX_PARSER_H_
#define STAX_RUNTIME_EMULATOR_PTX_PARSER_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/emulator/ptx/module.h"

namespace stax::ptx {

// `file_name` is for messages.
absl::StatusOr<Module> ParsePtx(absl::string_view text, absl::string_view file_name);

}  // namespace stax::ptx

#endif  // STAX_RUNTIME_EMULATOR_PTX_PARSER_H_
