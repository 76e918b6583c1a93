#include "runtime/cuda/code_images.h"

#include <string>

#include "absl/strings/str_join.h"
#include "gtest/gtest.h"

namespace stax::cuda {
namespace {

Variant MakeVariant(const std::string& arch, const std::string& cubin, const std::string& ptx) {
  Variant variant;
  variant.mutable_target()->set_kind("cuda");
  variant.mutable_target()->set_arch(arch);
  variant.set_cubin(cubin);
  variant.set_ptx(ptx);
  return variant;
}

// "cubin PTX", or the error.
std::string Images(const Variant& variant, int capability) {
  absl::StatusOr<std::vector<CodeImage>> images = CodeImagesFor(variant, capability);
  if (!images.ok()) return std::string(images.status().message());
  for (const CodeImage& image : *images) {
    const void* want = image.what == "PTX" ? static_cast<const void*>(variant.ptx().data())
                                           : static_cast<const void*>(variant.cubin().data());
    EXPECT_EQ(image.data, want) << std::string(image.what);
  }
  return absl::StrJoin(*images, " ",
                       [](std::string* out, const CodeImage& i) { out->append(i.what.data()); });
}

TEST(CodeImagesTest, CubinWithinItsMajorVersionOnly) {
  const Variant variant = MakeVariant("sm_80", "ELF", ".version");
  EXPECT_EQ(Images(variant, 80), "cubin PTX");
  EXPECT_EQ(Images(variant, 86), "cubin PTX");
  EXPECT_EQ(Images(variant, 89), "cubin PTX");
  EXPECT_EQ(Images(variant, 90), "PTX");
  EXPECT_EQ(Images(variant, 100), "PTX");
  EXPECT_EQ(Images(variant, 120), "PTX");
}

TEST(CodeImagesTest, NotOlderThanTheCode) {
  const Variant variant = MakeVariant("sm_86", "ELF", ".version");
  EXPECT_EQ(Images(variant, 80),
            "the program is compiled for sm_86; this device has compute capability 8.0, compile "
            "with --target=cuda:sm_80");
  EXPECT_EQ(Images(variant, 89), "cubin PTX");
}

TEST(CodeImagesTest, FeatureSetOfOneArchitectureOnly) {
  const Variant variant = MakeVariant("sm_90a", "ELF", ".version");
  EXPECT_EQ(Images(variant, 90), "cubin PTX");
  EXPECT_EQ(Images(variant, 80),
            "the program is compiled for sm_90a; this device has compute capability 8.0, compile "
            "with --target=cuda:sm_80");
  EXPECT_EQ(Images(variant, 100),
            "the program is compiled for sm_90a; this device has compute capability 10.0, compile "
            "with --target=cuda:sm_80");
}

TEST(CodeImagesTest, WhatIsMissing) {
  EXPECT_EQ(Images(MakeVariant("sm_80", "", ".version"), 80), "PTX");
  EXPECT_EQ(Images(MakeVariant("sm_80", "ELF", ""), 86), "cubin");
  EXPECT_EQ(Images(MakeVariant("sm_80", "ELF", ""), 90),
            "the program is compiled for sm_80 without PTX; this device has compute capability "
            "9.0, compile with --target=cuda:sm_90a");
}

TEST(CodeImagesTest, OtherTargets) {
  Variant variant = MakeVariant("sm_80", "ELF", ".version");
  variant.mutable_target()->set_kind("cpu");
  EXPECT_EQ(Images(variant, 90), "the program is compiled for cpu; this device runs cuda programs");
  for (const char* arch : {"", "sm_", "sm_a", "sm_x80", "80", "sm_80b", "sm_-1"}) {
    EXPECT_EQ(
        Images(MakeVariant(arch, "ELF", ".version"), 90),
        std::string("the program is compiled for '") + arch + "', which is no CUDA architecture");
  }
}

}  // namespace
}  // namespace stax::cuda
