// Loads, stores, atomics, fences and address conversions: each is a call of the launcher.
#include <algorithm>
#include <cstddef>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/emulator/isa/atomic.h"
#include "runtime/emulator/translate/warp_emitter.h"

namespace stax::emulator {

using llvm::Value;

namespace {

// What the modifiers of a memory instruction say.
struct MemoryModifiers {
  ptx::Space space = ptx::Space::kGeneric;
  int elements = 1;
  bool strong = false;
  bool acquire = false;
  bool release = false;
  Scope scope = Scope::kDevice;
  ScalarType type;
  std::string unknown;  // a modifier that is not known, apart from operations of atomics
};

bool IsCacheHint(const std::string& name) {
  static const auto* const hints =
      new std::set<std::string>{"ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "unified"};
  return hints->count(name) > 0 || absl::StartsWith(name, "L1::") || absl::StartsWith(name, "L2::");
}

bool ParseSpace(const std::string& name, ptx::Space& space) {
  static const auto* const spaces = new std::map<std::string, ptx::Space>{
      {"global", ptx::Space::kGlobal},      {"shared", ptx::Space::kShared},
      {"shared::cta", ptx::Space::kShared}, {"shared::cluster", ptx::Space::kShared},
      {"local", ptx::Space::kLocal},        {"const", ptx::Space::kConst},
      {"param", ptx::Space::kParam},        {"param::entry", ptx::Space::kParam},
      {"param::func", ptx::Space::kParam}};
  auto found = spaces->find(name);
  if (found == spaces->end()) return false;
  space = found->second;
  return true;
}

bool ParseScope(const std::string& name, Scope& scope) {
  if (name == "cta") scope = Scope::kBlock;
  if (name == "cluster") scope = Scope::kCluster;
  if (name == "gpu" || name == "gl") scope = Scope::kDevice;
  if (name == "sys") scope = Scope::kSystem;
  return name == "cta" || name == "cluster" || name == "gpu" || name == "gl" || name == "sys";
}

MemoryModifiers ParseModifiers(const ptx::Instruction& instruction) {
  MemoryModifiers parsed;
  const std::vector<std::string>& names = instruction.modifiers;
  for (size_t m = 0; m < names.size(); ++m) {
    const std::string& name = names[m];
    if (ParseSpace(name, parsed.space) || ParseScope(name, parsed.scope) || IsCacheHint(name))
      continue;
    if (name == "weak") continue;
    if (name == "volatile" || name == "relaxed" || name == "mmio") {
      parsed.strong = true;
    } else if (name == "acquire" || name == "release" || name == "acq_rel") {
      parsed.strong = true;
      parsed.acquire = name != "release";
      parsed.release = name != "acquire";
    } else if (name == "v2" || name == "v4" || name == "v8") {
      parsed.elements = name[1] - '0';
    } else if (m + 1 == names.size() && ParseScalarType(name, parsed.type)) {
      continue;
    } else {
      parsed.unknown = name;
    }
  }
  return parsed;
}

}  // namespace

const MemorySite* WarpEmitter::MakeSite(const Instruction& instruction, AccessKind kind,
                                        ptx::Space space, int element_bytes, int elements) {
  auto site = std::make_unique<MemorySite>();
  const MemoryModifiers modifiers = ParseModifiers(instruction);
  site->access.instruction = position_;
  site->access.space = static_cast<Space>(space);
  site->access.kind = kind;
  site->access.element_bytes = element_bytes;
  site->access.elements = elements;
  site->access.strong = modifiers.strong || kind == AccessKind::kAtomic;
  site->access.acquire = modifiers.acquire;
  site->access.release = modifiers.release;
  site->access.scope = modifiers.scope;
  kernel_.sites.push_back(std::move(site));
  return kernel_.sites.back().get();
}

// The place of [symbol+offset] or [register+offset], 64 bits a lane, in scratch memory.
absl::StatusOr<Value*> WarpEmitter::Addresses(const Operand& operand,
                                              const Instruction& instruction) {
  if (operand.kind != Operand::Kind::kAddress)
    return Unsupported(instruction, "its address is no [address]");
  Value* address = Splat(static_cast<uint64_t>(operand.integer), 64);
  if (operand.reg >= 0) {
    // In the width of the register: 32-bit addresses wrap, as with [%r1+192] for s[48 - i].
    const int bits = std::min(RegisterBits(operand.reg), 64);
    Value* base = builder_.CreateZExtOrTrunc(Read(operand.reg), LaneType(bits));
    base = builder_.CreateAdd(base, Splat(static_cast<uint64_t>(operand.integer), bits));
    address = builder_.CreateZExt(base, LaneType(64));
  } else if (!operand.name.empty()) {
    auto place = kernel_.flat.places.find(operand.name);
    if (place == kernel_.flat.places.end())
      return Unsupported(instruction, absl::StrCat("there is no variable ", operand.name));
    address = builder_.CreateAdd(address, Splat(place->second.address, 64));
  }
  Value* scratch = Scratch(0, kWarpLanes * 8);
  builder_.CreateAlignedStore(address, scratch, llvm::Align(64));
  return scratch;
}

ptx::Space WarpEmitter::SpaceFor(const Operand& operand, ptx::Space space) const {
  if (operand.name.empty()) return space;
  auto place = kernel_.flat.places.find(operand.name);
  // Parameters of calls are in the thread's frame; a variable tells its space itself.
  return place == kernel_.flat.places.end() ? space : place->second.space;
}

int64_t WarpEmitter::ParameterOffset(const Operand& operand) const {
  return static_cast<int64_t>(kernel_.flat.places.at(operand.name).address +
                              static_cast<uint64_t>(operand.integer));
}

// Others, whose address is in a register or wrong, go through the launcher.
bool WarpEmitter::IsGoodParameter(const Operand& operand, int bytes) const {
  if (operand.reg >= 0 || operand.name.empty()) return false;
  const int64_t offset = ParameterOffset(operand);
  return offset >= 0 && offset <= kernel_.flat.parameter_bytes - bytes && offset % bytes == 0;
}

absl::Status WarpEmitter::Load(const Instruction& i) {
  const MemoryModifiers modifiers = ParseModifiers(i);
  if (!modifiers.unknown.empty() || i.operands.size() < 2) return Unsupported(i);
  const Operand& to = i.operands[0];
  const Operand& from = i.operands[1];
  const int count = to.kind == Operand::Kind::kVector ? static_cast<int>(to.elements.size()) : 1;
  if (count != modifiers.elements)
    return Unsupported(i, absl::StrCat("it has ", count, " destinations"));
  const ScalarType& type = modifiers.type;
  if (type.bits < 8) return Unsupported(i);
  const bool is_signed = type.kind == ScalarType::Kind::kSigned;
  const ptx::Space space = SpaceFor(from, modifiers.space);
  auto destination = [&](int e) -> const Operand& { return count == 1 ? to : to.elements[e]; };
  if (space == ptx::Space::kParam && IsGoodParameter(from, count * type.bits / 8)) {
    const int64_t offset = ParameterOffset(from);
    Value* parameters =
        builder_.CreateLoad(builder_.getPtrTy(), Member(offsetof(WarpContext, parameters)));
    for (int e = 0; e < count; ++e) {
      Value* at = builder_.CreateConstInBoundsGEP1_64(
          builder_.getInt8Ty(), parameters, static_cast<uint64_t>(offset + e * type.bits / 8));
      Value* scalar = builder_.CreateAlignedLoad(builder_.getIntNTy(type.bits), at, llvm::Align(1));
      Set(destination(e), builder_.CreateVectorSplat(kWarpLanes, scalar), is_signed);
    }
    return absl::OkStatus();
  }
  absl::StatusOr<Value*> addresses = Addresses(from, i);
  if (!addresses.ok()) return addresses.status();
  const int bytes = type.bits / 8;
  const MemorySite* site = MakeSite(i, AccessKind::kLoad, space, bytes, count);
  kernel_.sites.back()->access.unused =
      count == 1 && to.reg >= 0 && uses_[to.reg] != Use::kAny && uses_[to.reg] != Use::kNone;
  Value* values = Scratch(1, kWarpLanes * bytes * count);
  CallRuntime(reinterpret_cast<const void*>(runtime_.load), builder_.getVoidTy(),
              {context_, Pointer(site), active_bits_, *addresses, values});
  for (int e = 0; e < count; ++e) {
    Value* at = builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), values,
                                                    static_cast<uint64_t>(e) * kWarpLanes * bytes);
    Set(destination(e), builder_.CreateAlignedLoad(LaneType(type.bits), at, llvm::Align(32)),
        is_signed);
  }
  return absl::OkStatus();
}

absl::Status WarpEmitter::Store(const Instruction& i) {
  const MemoryModifiers modifiers = ParseModifiers(i);
  if (!modifiers.unknown.empty() || i.operands.size() < 2) return Unsupported(i);
  const Operand& to = i.operands[0];
  const Operand& from = i.operands[1];
  const int count =
      from.kind == Operand::Kind::kVector ? static_cast<int>(from.elements.size()) : 1;
  if (count != modifiers.elements) return Unsupported(i, absl::StrCat("it has ", count, " values"));
  if (modifiers.type.bits < 8) return Unsupported(i);
  const int bytes = modifiers.type.bits / 8;
  Value* values = Scratch(1, kWarpLanes * bytes * count);
  for (int e = 0; e < count; ++e) {
    absl::StatusOr<Value*> value = Get(count == 1 ? from : from.elements[e], modifiers.type.bits);
    if (!value.ok()) return value.status();
    Value* at = builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), values,
                                                    static_cast<uint64_t>(e) * kWarpLanes * bytes);
    builder_.CreateAlignedStore(*value, at, llvm::Align(32));
  }
  absl::StatusOr<Value*> addresses = Addresses(to, i);
  if (!addresses.ok()) return addresses.status();
  const MemorySite* site =
      MakeSite(i, AccessKind::kStore, SpaceFor(to, modifiers.space), bytes, count);
  CallRuntime(reinterpret_cast<const void*>(runtime_.store), builder_.getVoidTy(),
              {context_, Pointer(site), active_bits_, *addresses, values});
  return absl::OkStatus();
}

// atom.op.type d, [a], b [, c]; red.op.type [a], b
absl::Status WarpEmitter::Atomic(const Instruction& i) {
  const bool has_result = i.opcode == "atom";
  const size_t first = has_result ? 1 : 0;
  if (i.operands.size() < first + 2) return Unsupported(i);
  std::string operation;  // what is no modifier of memory: "add", "cas", "inc"
  for (size_t m = 0; m + 1 < i.modifiers.size(); ++m) {
    Instruction one;
    one.modifiers = {i.modifiers[m], i.modifiers.back()};
    if (i.modifiers[m] != "noftz" && !ParseModifiers(one).unknown.empty())
      absl::StrAppend(&operation, i.modifiers[m]);
  }
  const MemoryModifiers modifiers = ParseModifiers(i);
  const ptx::Space space = SpaceFor(i.operands[first], modifiers.space);
  const std::optional<isa::AtomicOperation> found = isa::FindAtomicOperation(
      operation, i.modifiers.back(), /*flush_subnormals=*/space != ptx::Space::kShared);
  if (!found.has_value() || modifiers.elements != 1) return Unsupported(i);
  const int bytes = found->bytes;
  const size_t operands = i.operands.size() - first - 1;
  Value* values[2] = {nullptr, llvm::ConstantPointerNull::get(builder_.getPtrTy())};
  if (static_cast<int>(operands) < found->sources) return Unsupported(i);
  // cas has the value to compare with first.
  for (int o = 0; o < found->sources; ++o) {
    absl::StatusOr<Value*> address = SourceAddress(i.operands[first + 1 + o], bytes, 1 + o);
    if (!address.ok()) return address.status();
    values[found->sources == 2 ? 1 - o : o] = *address;
  }
  absl::StatusOr<Value*> addresses = Addresses(i.operands[first], i);
  if (!addresses.ok()) return addresses.status();
  MakeSite(i, AccessKind::kAtomic, space, bytes, 1);
  MemorySite* site = kernel_.sites.back().get();
  site->atomic = found->function;
  const bool wants_old = has_result && i.operands[0].kind == Operand::Kind::kRegister;
  Value* old = wants_old ? static_cast<Value*>(Scratch(3, kWarpLanes * bytes))
                         : llvm::ConstantPointerNull::get(builder_.getPtrTy());
  CallRuntime(reinterpret_cast<const void*>(runtime_.atomic), builder_.getVoidTy(),
              {context_, Pointer(site), active_bits_, *addresses, values[0], values[1], old});
  if (wants_old)
    Set(i.operands[0], builder_.CreateAlignedLoad(LaneType(8 * bytes), old, llvm::Align(64)));
  return absl::OkStatus();
}

absl::Status WarpEmitter::Fence(const Instruction& i) {
  const MemorySite* site = MakeSite(i, AccessKind::kLoad, ptx::Space::kGeneric, 4, 1);
  CallRuntime(reinterpret_cast<const void*>(runtime_.fence), builder_.getVoidTy(),
              {context_, Pointer(site), active_bits_});
  return absl::OkStatus();
}

// cvta[.to].space.size: global addresses are generic ones; the others have a prefix.
absl::Status WarpEmitter::ConvertAddress(const Instruction& i) {
  ptx::Space space = ptx::Space::kGeneric;
  ScalarType type;
  for (const std::string& name : i.modifiers) {
    if (ParseSpace(name, space)) break;
  }
  if (i.operands.size() != 2 || !ParseScalarType(i.modifiers.back(), type) || type.bits != 64)
    return Unsupported(i);
  absl::StatusOr<Value*> address = Get(i.operands[1], 64);
  if (!address.ok()) return address.status();
  uint64_t window = 0;
  if (space == ptx::Space::kShared) window = kSharedWindow;
  if (space == ptx::Space::kLocal) window = kLocalWindow;
  if (space == ptx::Space::kConst) window = kConstWindow;
  if (space == ptx::Space::kParam) window = kParamWindow;
  Value* result = *address;
  if (window != 0) {
    result = i.Has("to") ? builder_.CreateAnd(result, Splat(kWindowOffsetMask, 64))
                         : builder_.CreateOr(result, Splat(window, 64));
  }
  Set(i.operands[0], result);
  return absl::OkStatus();
}

}  // namespace stax::emulator
