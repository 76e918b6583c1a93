// What is known about instructions that access memory before they run.
#ifndef STAX_RUNTIME_EMULATOR_TRANSLATE_MEMORY_SITE_H_
#define STAX_RUNTIME_EMULATOR_TRANSLATE_MEMORY_SITE_H_

#include <cstdint>

#include "runtime/emulator/isa/atomic.h"
#include "runtime/emulator/isa/matrix_tiles.h"
#include "runtime/emulator/isa/wmma.h"
#include "runtime/emulator/memory/access.h"
#include "runtime/emulator/memory/async_copies.h"

namespace stax::emulator {

struct MemorySite {
  AccessSite access;
  isa::AtomicFunction atomic = nullptr;
};

// ldmatrix, stmatrix, movmatrix (without a site).
struct TileSite {
  isa::TileOperation tiles;
  const MemorySite* site = nullptr;  // of rows of 16 bytes
};

// wmma.load and wmma.store.
struct WmmaSite {
  isa::WmmaOperation operation;
  const MemorySite* site = nullptr;  // of single elements
};

// cp.async, cp.async.bulk, cp.reduce.async.bulk.
struct CopySite {
  const MemorySite* from = nullptr;
  const MemorySite* to = nullptr;       // an atomic one: of a reduction
  const MemorySite* barrier = nullptr;  // of the mbarrier that a bulk copy completes; may be null
};

// cp.async[.bulk].commit_group and wait_group.
struct CopyGroupSite {
  CopyKind kind = CopyKind::kSmall;
  bool commits = false;  // wait_all: commits and waits
  bool waits = false;
  uint32_t pending = 0;  // groups that need not be complete
};

enum class MbarrierOp : uint8_t {
  kInit,
  kInvalidate,
  kArrive,
  kArriveDrop,
  kExpectTx,
  kCompleteTx,
  kArriveExpectTx,
  kTestWait,    // of a state that arrive returned
  kTestParity,  // of a parity
  // cp.async.mbarrier.arrive: for what the thread has copied so far.
  kArriveCopies,  // expects one arrival more before it arrives
  kArriveCopiesNoIncrement,
};
struct MbarrierSite {
  MbarrierOp op = MbarrierOp::kInit;
  const MemorySite* site = nullptr;
};

}  // namespace stax::emulator

#endif  // STAX_RUNTIME_EMULATOR_TRANSLATE_MEMORY_SITE_H_
