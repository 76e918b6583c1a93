// Which code of a Variant a GPU can run, decided without a GPU.
//
//   variant for sm_80 with cubin and PTX, on an H100 (9.0)  ->  {PTX}
//   the same on an RTX 3090 (8.6)                           ->  {cubin, PTX}
#ifndef STAX_RUNTIME_CUDA_CODE_IMAGES_H_
#define STAX_RUNTIME_CUDA_CODE_IMAGES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ir/artifact/program.pb.h"

namespace stax::cuda {

struct CodeImage {
  absl::string_view what;      // "cubin" or "PTX"
  const void* data = nullptr;  // within the variant; PTX ends with a zero byte
};

// Images in the order to try: the cubin first, since it needs no compilation, then PTX, for the
// driver's compiler. `capability` is 90 for 9.0. What the architecture rules out is left out (CUDA
// C++ Programming Guide, "Binary Compatibility", "PTX Compatibility", "Feature Set Compiler
// Targets"): a cubin for X.y runs on X.z with z >= y, PTX on that and everything newer, and code
// for an architecture that ends in "a" on that one alone.
// InvalidArgument when nothing is left; it names a target that would run.
absl::StatusOr<std::vector<CodeImage>> CodeImagesFor(const Variant& variant, int capability);

// The target to compile for on a GPU of this capability: "cuda:sm_90a".
const char* BestTarget(int capability);

}  // namespace stax::cuda

#endif  // STAX_RUNTIME_CUDA_CODE_IMAGES_H_
