// The contents of an mbarrier object (PTX ISA, "Parallel Synchronization and Communication
// Instructions: mbarrier"), opaque in PTX: 8 bytes of shared memory that change atomically.
#ifndef STAX_RUNTIME_EMULATOR_LAUNCH_MBARRIER_H_
#define STAX_RUNTIME_EMULATOR_LAUNCH_MBARRIER_H_

#include <cstdint>

namespace stax::emulator {

// As isa::AtomicFunction: what an operation makes of the object. `operand` is a number of arrivals
// or bytes.
uint64_t MbarrierInit(uint64_t old, uint64_t count, uint64_t unused);
uint64_t MbarrierArrive(uint64_t old, uint64_t count, uint64_t unused);
// As arrive, and one less is expected in all further phases.
uint64_t MbarrierArriveDrop(uint64_t old, uint64_t count, uint64_t unused);
uint64_t MbarrierExpectTx(uint64_t old, uint64_t bytes, uint64_t unused);
uint64_t MbarrierCompleteTx(uint64_t old, uint64_t bytes, uint64_t unused);
uint64_t MbarrierArriveExpectTx(uint64_t old, uint64_t bytes, uint64_t unused);

// 0 or 1: the parity of the phase that is under way.
int MbarrierPhase(uint64_t object);
// Arrivals that the phase still waits for.
uint32_t MbarrierPending(uint64_t object);

}  // namespace stax::emulator

#endif  // STAX_RUNTIME_EMULATOR_LAUNCH_MBARRIER_H_
