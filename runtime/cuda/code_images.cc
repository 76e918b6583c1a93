#include "runtime/cuda/code_images.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"

namespace stax::cuda {
namespace {

// "sm_90a".
struct Arch {
  int capability = 0;  // 90
  bool exact = false;  // the code uses features of this one only

  bool PtxRunsOn(int device) const { return exact ? device == capability : device >= capability; }
  bool CubinRunsOn(int device) const { return PtxRunsOn(device) && device / 10 == capability / 10; }
};

absl::StatusOr<Arch> ParseArch(const std::string& text) {
  Arch arch;
  absl::string_view digits = text;
  if (absl::ConsumePrefix(&digits, "sm_")) {
    arch.exact = absl::ConsumeSuffix(&digits, "a");
    if (absl::SimpleAtoi(digits, &arch.capability) && arch.capability > 0) return arch;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the program is compiled for '", text, "', which is no CUDA architecture"));
}

}  // namespace

const char* BestTarget(int capability) { return capability == 90 ? "cuda:sm_90a" : "cuda:sm_80"; }

absl::StatusOr<std::vector<CodeImage>> CodeImagesFor(const Variant& variant, int capability) {
  const Target& target = variant.target();
  if (target.kind() != "cuda")
    return absl::InvalidArgumentError(absl::StrCat("the program is compiled for ", target.kind(),
                                                   "; this device runs cuda programs"));
  absl::StatusOr<Arch> arch = ParseArch(target.arch());
  if (!arch.ok()) return arch.status();
  std::vector<CodeImage> images;
  if (!variant.cubin().empty() && arch->CubinRunsOn(capability))
    images.push_back({"cubin", variant.cubin().data()});
  if (!variant.ptx().empty() && arch->PtxRunsOn(capability))
    images.push_back({"PTX", variant.ptx().c_str()});
  if (!images.empty()) return images;
  return absl::InvalidArgumentError(absl::StrFormat(
      "the program is compiled for %s%s; this device has compute capability %d.%d, compile with "
      "--target=%s",
      target.arch(), variant.ptx().empty() ? " without PTX" : "", capability / 10, capability % 10,
      BestTarget(capability)));
}

}  // namespace stax::cuda
