#include "tests/c_api/host.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "gtest/gtest.h"

namespace stax {
namespace {

void* OpenLibrary() {
  const char* path = std::getenv("STAX_TEST_LIBRARY");
  void* library = dlopen(path != nullptr ? path : "runtime/libstax.so", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  return library;
}

template <typename Function>
Function Find(void* library, const char* name) {
  void* address = dlsym(library, name);
  if (address == nullptr) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  return reinterpret_cast<Function>(address);
}

}  // namespace

const Library& Stax() {
  static const Library library = [] {
    void* handle = OpenLibrary();
    return Library{Find<decltype(Library::load)>(handle, "stax_program_load"),
                   Find<decltype(Library::run)>(handle, "stax_program_run"),
                   Find<decltype(Library::last_error)>(handle, "stax_last_error"),
                   Find<decltype(Library::free)>(handle, "stax_program_free")};
  }();
  return library;
}

std::string ProgramFile(const std::string& name) { return "tests/c_api/" + name + ".stax"; }

ProgramHandle LoadProgram(const std::string& name) {
  StaxProgram* program = nullptr;
  EXPECT_EQ(Stax().load(ProgramFile(name).c_str(), &program), STAX_OK) << Stax().last_error();
  return ProgramHandle(program);
}

int RunProgram(StaxProgram* program, const std::vector<StaxTensor>& inputs,
               std::vector<StaxTensor> outputs) {
  return Stax().run(program, static_cast<int>(inputs.size()), inputs.data(),
                    static_cast<int>(outputs.size()), outputs.data(), /*cu_stream=*/nullptr);
}

}  // namespace stax
