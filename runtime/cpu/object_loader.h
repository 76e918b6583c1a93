// Links object code that a compiler made into this process. Not LLJIT: it would bring LLVM's code
// generator along, 30 MB to a program that compiles nothing.
#ifndef STAX_RUNTIME_CPU_OBJECT_LOADER_H_
#define STAX_RUNTIME_CPU_OBJECT_LOADER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace stax {

// The code of one object; unloaded with it.
class LoadedObject {
 public:
  virtual ~LoadedObject() = default;
  virtual void* entry() const = 0;
};

// Thread-safe. Must outlive what it loaded.
class ObjectLoader {
 public:
  static absl::StatusOr<std::unique_ptr<ObjectLoader>> Create();
  virtual ~ObjectLoader() = default;

  // `object`: ELF, relocatable, without undefined symbols. InvalidArgument names the entry when it
  // cannot be linked or has no such symbol.
  virtual absl::StatusOr<std::unique_ptr<LoadedObject>> Load(absl::string_view object,
                                                             const std::string& entry) = 0;
};

}  // namespace stax

#endif  // STAX_RUNTIME_CPU_OBJECT_LOADER_H_
