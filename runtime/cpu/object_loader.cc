#include "runtime/cpu/object_loader.h"

#include <atomic>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "llvm/ExecutionEngine/Orc/Core.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h"
#include "llvm/ExecutionEngine/Orc/TaskDispatch.h"
#include "llvm/Support/MemoryBuffer.h"

namespace stax {
namespace {

absl::Status ToStatus(llvm::Error error, absl::string_view doing) {
  return absl::InvalidArgumentError(
      absl::StrCat("cannot ", doing, ": ", llvm::toString(std::move(error))));
}

// A dylib of its own, so that the code can go again.
class DylibObject : public LoadedObject {
 public:
  DylibObject(llvm::orc::ExecutionSession& session, llvm::orc::JITDylib& dylib)
      : session_(session), dylib_(dylib) {}
  ~DylibObject() override { llvm::consumeError(session_.removeJITDylib(dylib_)); }
  DylibObject(const DylibObject&) = delete;
  DylibObject& operator=(const DylibObject&) = delete;

  void set_entry(void* entry) { entry_ = entry; }
  void* entry() const override { return entry_; }

 private:
  llvm::orc::ExecutionSession& session_;
  llvm::orc::JITDylib& dylib_;
  void* entry_ = nullptr;
};

class JitLinkLoader : public ObjectLoader {
 public:
  explicit JitLinkLoader(std::unique_ptr<llvm::orc::ExecutorProcessControl> process)
      : session_(std::move(process)), layer_(session_) {}
  ~JitLinkLoader() override { llvm::consumeError(session_.endSession()); }

  absl::StatusOr<std::unique_ptr<LoadedObject>> Load(absl::string_view object,
                                                     const std::string& entry) override {
    llvm::orc::JITDylib& dylib =
        session_.createBareJITDylib(absl::StrCat(entry, "#", loaded_.fetch_add(1)));
    auto loaded = std::make_unique<DylibObject>(session_, dylib);
    const llvm::StringRef bytes(object.data(), object.size());
    if (llvm::Error error = layer_.add(dylib, llvm::MemoryBuffer::getMemBufferCopy(bytes, entry)))
      return ToStatus(std::move(error), absl::StrCat("load the code of ", entry));
    llvm::Expected<llvm::orc::ExecutorSymbolDef> symbol =
        session_.lookup({&dylib}, session_.intern(entry));
    if (!symbol) return ToStatus(symbol.takeError(), absl::StrCat("find ", entry));
    loaded->set_entry(symbol->getAddress().toPtr<void*>());
    return loaded;
  }

 private:
  llvm::orc::ExecutionSession session_;
  llvm::orc::ObjectLinkingLayer layer_;
  std::atomic<int> loaded_ = 0;  // makes the dylibs' names unique
};

}  // namespace

absl::StatusOr<std::unique_ptr<ObjectLoader>> ObjectLoader::Create() {
  auto process = llvm::orc::SelfExecutorProcessControl::Create(
      nullptr, std::make_unique<llvm::orc::InPlaceTaskDispatcher>());
  if (!process) return ToStatus(process.takeError(), "start the object loader");
  return std::make_unique<JitLinkLoader>(std::move(*process));
}

}  // namespace stax
