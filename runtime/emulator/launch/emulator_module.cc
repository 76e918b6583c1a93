#include "runtime/emulator/launch/emulator_module.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/emulator/launch/runtime_functions.h"
#include "runtime/emulator/memory/access.h"
#include "runtime/emulator/translate/flat_kernel.h"

namespace stax::emulator {
namespace {

uint64_t AlignUp(uint64_t offset, int64_t align) {
  const auto a = static_cast<uint64_t>(align);
  return (offset + a - 1) / a * a;
}

}  // namespace

absl::StatusOr<std::unique_ptr<EmulatorModule>> EmulatorModule::Load(ptx::Module module,
                                                                     GlobalMemory* memory) {
  auto loaded = std::unique_ptr<EmulatorModule>(new EmulatorModule(std::move(module), memory));
  absl::StatusOr<std::unique_ptr<ObjectLoader>> loader = ObjectLoader::Create();
  if (!loader.ok()) return loader.status();
  loaded->loader_ = *std::move(loader);
  absl::Status status = loaded->PlaceVariables();
  if (!status.ok()) return status;
  return loaded;
}

EmulatorModule::~EmulatorModule() {
  kernels_.clear();
  for (void* memory : globals_) memory_->Free(memory);
}

absl::Status EmulatorModule::PlaceVariables() {
  std::vector<std::pair<std::string, const ptx::Variable*>> variables;
  for (const ptx::Variable& variable : module_.variables)
    variables.emplace_back(variable.name, &variable);
  for (const ptx::Function& function : module_.functions) {
    for (const ptx::Variable& variable : function.variables)
      variables.emplace_back(NameInModule(function, variable), &variable);
  }
  for (const auto& [name, variable] : variables) {
    if (variable->space != ptx::Space::kConst) continue;
    const uint64_t offset = AlignUp(constant_bytes_, variable->align_bytes);
    places_[name] = {ptx::Space::kConst, offset};
    constant_bytes_ = offset + static_cast<uint64_t>(variable->size_bytes);
  }
  constants_.assign(constant_bytes_ / sizeof(uint64_t) + 1, 0);
  for (const auto& [name, variable] : variables) {
    if (variable->space != ptx::Space::kGlobal) continue;
    if (variable->IsExtern())
      return absl::InvalidArgumentError(
          absl::StrCat("line ", variable->line, ": ", name, " is defined in another file"));
    const auto bytes = static_cast<size_t>(variable->size_bytes);
    absl::StatusOr<void*> memory = memory_->Allocate(bytes);
    if (!memory.ok()) return memory.status();
    globals_.push_back(*memory);
    memory_->MarkWritten(*memory, bytes);  // without an initializer a variable is zero
    places_[name] = {ptx::Space::kGlobal, reinterpret_cast<uint64_t>(*memory)};
  }
  for (const auto& [name, variable] : variables) {
    auto place = places_.find(name);
    if (place == places_.end()) continue;
    uint8_t* data = place->second.space == ptx::Space::kConst
                        ? reinterpret_cast<uint8_t*>(constants_.data()) + place->second.address
                        : reinterpret_cast<uint8_t*>(place->second.address);
    absl::Status status = Initialize(*variable, data);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status EmulatorModule::Initialize(const ptx::Variable& variable, uint8_t* data) {
  for (const ptx::Initializer& piece : variable.initial) {
    std::copy(piece.bytes.begin(), piece.bytes.end(), data + piece.offset);
    if (piece.symbol.empty()) continue;
    auto place = places_.find(piece.symbol);
    if (place == places_.end())
      return absl::InvalidArgumentError(absl::StrCat("line ", variable.line, ": ", variable.name,
                                                     " holds the address of ", piece.symbol,
                                                     ", which is not supported"));
    uint64_t value = place->second.address + static_cast<uint64_t>(piece.addend);
    if (piece.generic && place->second.space == ptx::Space::kConst) value |= kConstWindow;
    value >>= piece.shift;
    std::memcpy(data + piece.offset, &value, static_cast<size_t>(piece.size));
  }
  return absl::OkStatus();
}

absl::StatusOr<const CompiledKernel*> EmulatorModule::Kernel(const std::string& name) {
  std::unique_ptr<CompiledKernel>& kernel = kernels_[name];
  if (kernel != nullptr) return kernel.get();
  const ptx::Function* entry = module_.FindFunction(name);
  if (entry == nullptr || !entry->is_entry || entry->is_declaration) {
    std::string known;
    for (const ptx::Function& function : module_.functions) {
      if (function.is_entry) absl::StrAppend(&known, known.empty() ? "" : ", ", function.name);
    }
    kernels_.erase(name);
    return absl::NotFoundError(absl::StrCat("there is no kernel ", name, "; the file has ",
                                            known.empty() ? "none" : known));
  }
  absl::StatusOr<FlatKernel> flat = Flatten(module_, *entry, places_);
  if (!flat.ok()) return flat.status();
  absl::StatusOr<TranslatedKernel> translated = Translate(*std::move(flat), LaunchFunctions());
  if (!translated.ok()) return translated.status();
  auto compiled = std::make_unique<CompiledKernel>();
  compiled->entry = entry;
  compiled->translated = *std::move(translated);
  absl::StatusOr<std::unique_ptr<LoadedObject>> code =
      loader_->Load(compiled->translated.object, compiled->translated.entry);
  if (!code.ok()) return code.status();
  compiled->code = *std::move(code);
  compiled->run = reinterpret_cast<RunFunction>(compiled->code->entry());
  kernel = std::move(compiled);
  return kernel.get();
}

}  // namespace stax::emulator
