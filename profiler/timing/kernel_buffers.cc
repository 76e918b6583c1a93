#include "profiler/timing/kernel_buffers.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/dtype.h"
#include "ir/index_expr.h"
#include "profiler/timing/random_data.h"
#include "runtime/host_memory.h"
#include "runtime/nest_line.h"

namespace stax {
namespace {

constexpr size_t kGuardBytes = 4096;  // before and after each buffer
constexpr std::byte kGuardFill{0xc5};
constexpr std::byte kPoison{0xff};

}  // namespace

absl::StatusOr<std::unique_ptr<KernelBuffers>> KernelBuffers::Make(
    const Kernel& kernel, const std::map<std::string, int64_t>& sizes, Device* device) {
  std::unique_ptr<KernelBuffers> buffers(new KernelBuffers(device));
  if (absl::Status status = buffers->Init(kernel, sizes); !status.ok()) return status;
  return buffers;
}

KernelBuffers::~KernelBuffers() {
  for (void* block : blocks_) device_->Free(block);
}

absl::Status KernelBuffers::Init(const Kernel& kernel,
                                 const std::map<std::string, int64_t>& sizes) {
  absl::StatusOr<LoopNest> nest = ParseLoopNest(kernel.loop_nest());
  if (!nest.ok()) return nest.status();
  nest_ = *std::move(nest);
  sizes_ = sizes;
  for (const SizeSymbol& symbol : nest_.symbols) {
    auto size = sizes_.find(symbol.name);
    if (size == sizes_.end())
      return absl::InvalidArgumentError(absl::StrCat("the size ", symbol.name, " has no value"));
    size_values_.push_back(size->second);
  }
  for (const NestBuffer& buffer : nest_.buffers) {
    if (absl::Status status = Add(buffer); !status.ok()) return status;
  }
  return Poison();
}

absl::Status KernelBuffers::Add(const NestBuffer& buffer) {
  absl::StatusOr<int64_t> count = buffer.numel.Evaluate(sizes_);
  if (!count.ok()) return count.status();
  int64_t bytes = 0;
  if (*count < 0 || __builtin_mul_overflow(*count, DTypeBytes(buffer.dtype), &bytes) ||
      bytes > INT64_MAX - 2 * static_cast<int64_t>(kGuardBytes))
    return absl::InvalidArgumentError(
        absl::StrCat("buffer ", buffer.name, " has ", *count, " elements at these sizes"));
  absl::Status fits = CheckFitsHostMemory(absl::StrCat("buffer ", buffer.name),
                                          bytes + 2 * static_cast<int64_t>(kGuardBytes));
  if (!fits.ok()) return fits;
  absl::StatusOr<void*> block = device_->Allocate(bytes + 2 * kGuardBytes);
  if (!block.ok()) return block.status();
  blocks_.push_back(*block);
  pointers_.push_back(static_cast<char*>(*block) + kGuardBytes);
  bytes_.push_back(bytes);
  std::vector<std::byte> image(bytes + 2 * kGuardBytes, kGuardFill);
  if (!buffer.written && bytes > 0) {
    std::vector<std::byte> content =
        RandomElements(buffer.dtype, *count, /*seed=*/pointers_.size());
    std::memcpy(image.data() + kGuardBytes, content.data(), bytes);
  }
  return device_->CopyIn(*block, image.data(), image.size());
}

absl::Status KernelBuffers::Poison() {
  for (size_t b = 0; b < pointers_.size(); ++b) {
    if (!nest_.buffers[b].written) continue;
    std::vector<std::byte> image(bytes_[b], kPoison);
    absl::Status status = device_->CopyIn(pointers_[b], image.data(), image.size());
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status KernelBuffers::CheckGuards() const {
  std::vector<std::byte> guard(kGuardBytes);
  for (size_t b = 0; b < blocks_.size(); ++b) {
    for (const char* start : {static_cast<const char*>(blocks_[b]),
                              static_cast<const char*>(pointers_[b]) + bytes_[b]}) {
      absl::Status status = device_->CopyOut(guard.data(), start, kGuardBytes);
      if (!status.ok()) return status;
      if (std::any_of(guard.begin(), guard.end(), [](std::byte x) { return x != kGuardFill; }))
        return absl::DataLossError(
            absl::StrCat("bytes outside buffer ", nest_.buffers[b].name, " were overwritten"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::byte>> KernelBuffers::Read(int buffer) const {
  std::vector<std::byte> content(bytes_[buffer]);
  absl::Status status = device_->CopyOut(content.data(), pointers_[buffer], content.size());
  if (!status.ok()) return status;
  return content;
}

absl::Status KernelBuffers::Launch(LoadedKernel& code, int64_t grid) const {
  absl::Status status = code.Launch(pointers_, size_values_, grid, /*stream=*/nullptr);
  return status.ok() ? status : QuoteNestLine(std::move(status), ToText(nest_));
}

absl::StatusOr<int64_t> KernelBuffers::Grid(const Variant& variant) const {
  absl::StatusOr<IndexExpr> grid = IndexExpr::Parse(variant.grid_x());
  if (!grid.ok()) return grid.status();
  absl::StatusOr<int64_t> instances = grid->Evaluate(sizes_);
  if (instances.ok() && *instances <= 0)
    return absl::InvalidArgumentError(
        absl::StrCat(variant.entry(), " has nothing to do at these sizes; give others"));
  return instances;
}

}  // namespace stax
