#include "runtime/emulator/launch/mbarrier.h"

namespace stax::emulator {
namespace {

// Counts have 20 bits, bytes on their way up to 2^20 - 1 in either direction.
struct Object {
  uint32_t pending = 0;   // bits 0 to 19
  uint32_t expected = 0;  // bits 20 to 39
  int phase = 0;          // bit 40
  int32_t tx = 0;         // bits 41 to 63, signed
};

constexpr int kExpectedShift = 20;
constexpr int kPhaseShift = 40;
constexpr int kTxShift = 41;
constexpr uint32_t kCountMask = (1U << 20) - 1;

Object Unpack(uint64_t bits) {
  return {static_cast<uint32_t>(bits) & kCountMask,
          static_cast<uint32_t>(bits >> kExpectedShift) & kCountMask,
          static_cast<int>(bits >> kPhaseShift & 1),
          static_cast<int32_t>(static_cast<int64_t>(bits) >> kTxShift)};
}

uint64_t Pack(const Object& object) {
  return uint64_t{object.pending & kCountMask} |
         uint64_t{object.expected & kCountMask} << kExpectedShift |
         static_cast<uint64_t>(object.phase) << kPhaseShift |
         static_cast<uint64_t>(static_cast<int64_t>(object.tx)) << kTxShift;
}

// A phase ends when nothing is pending; the next one begins at once.
uint64_t Finish(Object object) {
  if (object.pending == 0 && object.tx == 0) {
    object.phase ^= 1;
    object.pending = object.expected;
  }
  return Pack(object);
}

Object Arrived(Object object, uint64_t count) {
  object.pending -= static_cast<uint32_t>(count) & kCountMask;
  return object;
}

}  // namespace

uint64_t MbarrierInit(uint64_t /*old*/, uint64_t count, uint64_t /*unused*/) {
  Object object;
  object.pending = static_cast<uint32_t>(count) & kCountMask;
  object.expected = object.pending;
  return Pack(object);
}

uint64_t MbarrierArrive(uint64_t old, uint64_t count, uint64_t /*unused*/) {
  return Finish(Arrived(Unpack(old), count));
}

uint64_t MbarrierArriveDrop(uint64_t old, uint64_t count, uint64_t /*unused*/) {
  Object object = Unpack(old);
  object.expected -= static_cast<uint32_t>(count) & kCountMask;
  return Finish(Arrived(object, count));
}

uint64_t MbarrierExpectTx(uint64_t old, uint64_t bytes, uint64_t /*unused*/) {
  Object object = Unpack(old);
  object.tx += static_cast<int32_t>(bytes);
  return Pack(object);
}

uint64_t MbarrierCompleteTx(uint64_t old, uint64_t bytes, uint64_t /*unused*/) {
  Object object = Unpack(old);
  object.tx -= static_cast<int32_t>(bytes);
  return Finish(object);
}

uint64_t MbarrierArriveExpectTx(uint64_t old, uint64_t bytes, uint64_t /*unused*/) {
  Object object = Unpack(old);
  object.tx += static_cast<int32_t>(bytes);
  return Finish(Arrived(object, 1));
}

int MbarrierPhase(uint64_t object) { return Unpack(object).phase; }
uint32_t MbarrierPending(uint64_t object) { return Unpack(object).pending; }

}  // namespace stax::emulator
