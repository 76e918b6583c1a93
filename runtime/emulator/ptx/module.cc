#include "runtime/emulator/ptx/module.h"

#include <algorithm>
#include <cstddef>

namespace stax::ptx {
namespace {

struct TypeTraits {
  const char* name;
  int size_bytes;
};

// In the order of Type.
constexpr TypeTraits kTypes[kTypeCount] = {
    {"pred", 0}, {"b8", 1},    {"b16", 2},  {"b32", 4},    {"b64", 8}, {"b128", 16}, {"u8", 1},
    {"u16", 2},  {"u32", 4},   {"u64", 8},  {"s8", 1},     {"s16", 2}, {"s32", 4},   {"s64", 8},
    {"f16", 2},  {"f16x2", 4}, {"bf16", 2}, {"bf16x2", 4}, {"f32", 4}, {"f64", 8},
};

}  // namespace

int SizeBytes(Type type) { return kTypes[static_cast<size_t>(type)].size_bytes; }

const char* TypeName(Type type) { return kTypes[static_cast<size_t>(type)].name; }

bool Instruction::Has(const char* modifier) const {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

std::string Instruction::Name() const {
  std::string name = opcode;
  for (const std::string& modifier : modifiers) {
    name += '.';
    name += modifier;
  }
  return name;
}

const Function* Module::FindFunction(const std::string& name) const {
  for (const Function& function : functions) {
    if (function.name != name) continue;
    // The parser makes sure that an alias stands for a function with a body.
    return function.alias_of.empty() ? &function : FindFunction(function.alias_of);
  }
  return nullptr;
}

}  // namespace stax::ptx
