#include "compiler/codegen/testing/run_cpu.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/index_expr.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"

namespace stax {
namespace {

constexpr unsigned char kGuardByte = 0xA5;
constexpr size_t kGuardBytes = 64;

// Memory that ends where an unreadable page begins, with guard bytes before it.
class GuardedBuffer {
 public:
  explicit GuardedBuffer(size_t bytes) : bytes_(bytes) {
    const size_t page = sysconf(_SC_PAGESIZE);
    const size_t used = (bytes + kGuardBytes + page - 1) / page * page;
    mapped_ = used + page;
    base_ = static_cast<unsigned char*>(
        mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(base_ + used, page, PROT_NONE);
    data_ = base_ + used - bytes;
    std::memset(data_ - kGuardBytes, kGuardByte, kGuardBytes + bytes);
  }
  ~GuardedBuffer() { munmap(base_, mapped_); }
  GuardedBuffer(const GuardedBuffer&) = delete;

  unsigned char* data() { return data_; }
  size_t size() const { return bytes_; }
  bool GuardIntact() const {
    for (size_t i = 1; i <= kGuardBytes; ++i)
      if (data_[-static_cast<ptrdiff_t>(i)] != kGuardByte) return false;
    return true;
  }

 private:
  size_t bytes_, mapped_;
  unsigned char* base_;
  unsigned char* data_;
};

absl::Status FromLlvm(llvm::Error error) {
  return absl::InternalError(llvm::toString(std::move(error)));
}

using Entry = void (*)(void* const* buffers, const int64_t* sizes, int64_t begin, int64_t end);

absl::StatusOr<std::unique_ptr<llvm::orc::LLJIT>> LoadObject(const Variant& variant) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>> jit = llvm::orc::LLJITBuilder().create();
  if (!jit) return FromLlvm(jit.takeError());
  auto object = llvm::MemoryBuffer::getMemBufferCopy(variant.object(), variant.entry());
  if (llvm::Error error = (*jit)->addObjectFile(std::move(object)))
    return FromLlvm(std::move(error));
  return std::move(*jit);
}

}  // namespace

bool HostRuns(const std::string& arch) {
  if (arch == "x86-64-v4") return __builtin_cpu_supports("x86-64-v4");
  return __builtin_cpu_supports("x86-64-v3");
}

absl::Status RunOnCpu(const Variant& variant, const LoopNest& nest,
                      const std::map<std::string, int64_t>& sizes,
                      std::map<std::string, Bytes>& memory) {
  absl::StatusOr<std::unique_ptr<llvm::orc::LLJIT>> jit = LoadObject(variant);
  if (!jit.ok()) return jit.status();
  llvm::Expected<llvm::orc::ExecutorAddr> address = (*jit)->lookup(variant.entry());
  if (!address) return FromLlvm(address.takeError());

  std::vector<std::unique_ptr<GuardedBuffer>> buffers;
  std::vector<void*> pointers;
  for (const NestBuffer& b : nest.buffers) {
    absl::StatusOr<int64_t> numel = b.numel.Evaluate(sizes);
    if (!numel.ok()) return numel.status();
    buffers.push_back(std::make_unique<GuardedBuffer>(*numel * DTypeBytes(b.dtype)));
    pointers.push_back(buffers.back()->data());
    const Bytes& from = memory[b.name];
    if (!b.written && !from.empty()) std::memcpy(buffers.back()->data(), from.data(), from.size());
  }
  std::vector<int64_t> size_values;
  for (const SizeSymbol& s : nest.symbols) size_values.push_back(sizes.at(s.name));
  absl::StatusOr<IndexExpr> grid = IndexExpr::Parse(variant.grid_x());
  if (!grid.ok()) return grid.status();
  absl::StatusOr<int64_t> instances = grid->Evaluate(sizes);
  if (!instances.ok()) return instances.status();

  const Entry entry = address->toPtr<Entry>();
  // In two parts, as threads of a pool would.
  entry(pointers.data(), size_values.data(), 0, *instances / 2);
  entry(pointers.data(), size_values.data(), *instances / 2, *instances);

  for (size_t i = 0; i < nest.buffers.size(); ++i) {
    if (!buffers[i]->GuardIntact())
      return absl::InternalError(absl::StrCat("write before the start of ", nest.buffers[i].name));
    if (!nest.buffers[i].written) continue;
    Bytes& to = memory[nest.buffers[i].name];
    const auto* from = reinterpret_cast<const Bytes::value_type*>(buffers[i]->data());
    to.assign(from, from + buffers[i]->size());
  }
  return absl::OkStatus();
}

}  // namespace stax
