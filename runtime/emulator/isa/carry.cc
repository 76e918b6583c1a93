#include "runtime/emulator/isa/carry.h"

#include <cstdint>
#include <optional>
#include <type_traits>

#include "absl/strings/string_view.h"
#include "runtime/emulator/isa/instruction_name.h"
#include "runtime/emulator/isa/integer_types.h"
#include "runtime/emulator/isa/lanes.h"
#include "runtime/emulator/isa/warp_operation.h"

namespace stax::isa {
namespace {

enum class Op { kAdd, kSub, kMadLo, kMadHi };

// Variant bits: takes the carry (addc), sets it (.cc).
template <typename T, Op kOp, bool kTakes, bool kSets>
uint32_t Run(uint32_t lanes, uint32_t carry, const void* a, const void* b, const void* c, void* d) {
  using U = std::make_unsigned_t<T>;
  constexpr int kBits = 8 * sizeof(T);
  uint32_t result = carry;
  ForEachLane(lanes, [&](int i) {
    const unsigned in = kTakes ? carry >> i & 1 : 0;
    unsigned __int128 sum = 0;
    if constexpr (kOp == Op::kAdd) {
      sum = static_cast<unsigned __int128>(Lane<U>(a, i)) + Lane<U>(b, i) + in;
    } else if constexpr (kOp == Op::kSub) {
      // A borrow shows as ones above the register.
      sum = static_cast<unsigned __int128>(Lane<U>(a, i)) - Lane<U>(b, i) - in;
    } else {
      const Widest<T> product = static_cast<Widest<T>>(Lane<T>(a, i)) * Lane<T>(b, i);
      const U part = static_cast<U>(kOp == Op::kMadHi ? product >> kBits : product);
      sum = static_cast<unsigned __int128>(part) + Lane<U>(c, i) + in;
    }
    static_cast<U*>(d)[i] = static_cast<U>(sum);
    const auto out = static_cast<uint32_t>(sum >> kBits & 1);
    if constexpr (kSets) result = (result & ~(uint32_t{1} << i)) | out << i;
  });
  return result;
}

template <typename T, Op kOp>
CarryFunction Pick(bool takes, bool sets) {
  if (takes) return sets ? &Run<T, kOp, true, true> : &Run<T, kOp, true, false>;
  return &Run<T, kOp, false, true>;
}

template <typename T>
CarryOperation PickType(Op op, bool takes, bool sets) {
  switch (op) {
    case Op::kAdd:
      return {Pick<T, Op::kAdd>(takes, sets), 2, sizeof(T)};
    case Op::kSub:
      return {Pick<T, Op::kSub>(takes, sets), 2, sizeof(T)};
    case Op::kMadLo:
      return {Pick<T, Op::kMadLo>(takes, sets), 3, sizeof(T)};
    case Op::kMadHi:
      break;
  }
  return {Pick<T, Op::kMadHi>(takes, sets), 3, sizeof(T)};
}

}  // namespace

std::optional<CarryOperation> FindCarryOperation(absl::string_view text) {
  if (text.empty() || text.back() == '.') return std::nullopt;
  InstructionName name(text);
  const absl::string_view opcode = name.opcode();
  const bool takes = opcode == "addc" || opcode == "subc" || opcode == "madc";
  Op op = Op::kAdd;
  if (opcode == "sub" || opcode == "subc") {
    op = Op::kSub;
  } else if (opcode == "mad" || opcode == "madc") {
    const int half = name.TakeOneOf({"lo", "hi"});
    if (half < 0) return std::nullopt;
    op = half == 0 ? Op::kMadLo : Op::kMadHi;
  } else if (opcode != "add" && opcode != "addc") {
    return std::nullopt;
  }
  const bool sets = name.Take("cc");
  if (!takes && !sets) return std::nullopt;
  const int type = name.TakeOneOf({"u32", "s32", "b32", "u64", "s64", "b64"});
  if (type < 0 || !name.done()) return std::nullopt;
  switch (type) {
    case 1:
      return PickType<int32_t>(op, takes, sets);
    case 3:
    case 5:
      return PickType<uint64_t>(op, takes, sets);
    case 4:
      return PickType<int64_t>(op, takes, sets);
    default:
      return PickType<uint32_t>(op, takes, sets);
  }
}

}  // namespace stax::isa
