// From PTX to native code that runs one warp at a time.
//
// Each instruction becomes an operation on vectors of 32 lanes (<32 x T> in LLVM's IR). A block of
// code runs under a mask of lanes; registers that outlive it are kept in memory, one array of 32 a
// register, and written in the lanes of the mask only. Common arithmetic is LLVM's, the rest are
// calls of isa/, and every access to memory is a call of the launcher. One function a kernel, with
// a switch over its blocks at the top (RunFunction).
#ifndef STAX_RUNTIME_EMULATOR_TRANSLATE_TRANSLATE_H_
#define STAX_RUNTIME_EMULATOR_TRANSLATE_TRANSLATE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/emulator/isa/mma.h"
#include "runtime/emulator/translate/control_flow.h"
#include "runtime/emulator/translate/flat_kernel.h"
#include "runtime/emulator/translate/memory_site.h"
#include "runtime/emulator/translate/warp_context.h"

namespace stax::emulator {

enum class Misuse : uint32_t {
  kNotNamed,       // a lane is at an instruction whose member mask does not name it
  kBranchIndex,    // brx.idx: beyond the table, which has `limit` labels
  kSourceBytes,    // cp.async: reads more than the `limit` bytes that it writes
  kMbarrierCount,  // mbarrier.init: the count is 0 or more than `limit`
};

// What translated code calls. `lanes` are those that take part.
struct RuntimeFunctions {
  // Values: elements x 32 of the site's element size.
  void (*load)(WarpContext*, const MemorySite*, uint32_t lanes, const uint64_t* addresses,
               void* values);
  void (*store)(WarpContext*, const MemorySite*, uint32_t lanes, const uint64_t* addresses,
                const void* values);
  // `old` may be null (red).
  void (*atomic)(WarpContext*, const MemorySite*, uint32_t lanes, const uint64_t* addresses,
                 const void* operand, const void* compare, void* old);
  void (*fence)(WarpContext*, const MemorySite*, uint32_t lanes);
  void (*warp_barrier)(WarpContext*, uint32_t lanes);
  // Lanes that do what PTX does not allow. `limit`: the number that Misuse speaks of.
  void (*misuse)(WarpContext*, uint32_t instruction, uint32_t lanes, uint32_t kind, uint32_t limit);
  // isa::Shuffle; gives the lanes whose source is in range.
  uint32_t (*shuffle)(WarpContext*, uint32_t instruction, uint32_t lanes, uint32_t mode,
                      const uint32_t* value, const uint32_t* b, const uint32_t* c,
                      uint32_t* result);
  // isa::RunMma.
  void (*mma)(const isa::MmaOperation*, const void* const* a, const void* const* b,
              const void* const* c, void* const* d);
  // `other`: addresses; of movmatrix the source register.
  void (*tiles)(WarpContext*, const TileSite*, const void* other, uint32_t* const* registers);
  // `stride` may be null.
  void (*wmma)(WarpContext*, const WmmaSite*, const uint64_t* addresses, const uint32_t* stride,
               void* const* registers);
  // `from_bytes` a lane; what is missing is zero.
  void (*copy)(WarpContext*, const CopySite*, uint32_t lanes, const uint64_t* to,
               const uint64_t* from, const uint32_t* from_bytes);
  // `barrier` may be null. `blocks`: a bit for each block of the cluster that gets the bytes, at
  // the place of `to` and `barrier`; null: only the one that these name.
  void (*bulk_copy)(WarpContext*, const CopySite*, uint32_t lanes, const uint64_t* to,
                    const uint64_t* from, const uint32_t* bytes, const uint64_t* barrier,
                    const uint16_t* blocks);
  void (*copy_group)(WarpContext*, const CopyGroupSite*, uint32_t lanes);
  // Of waits: for which lanes the phase is over.
  uint32_t (*mbarrier)(WarpContext*, const MbarrierSite*, uint32_t lanes, const uint64_t* addresses,
                       const uint64_t* operands, uint64_t* states);
};

inline constexpr int kRegisterAlign = 64;  // of a warp's registers

// A count of how often something ran: in counts[2 * counter] the warps, in [2 * counter + 1] the
// lanes.
struct TranslatedKernel {
  FlatKernel flat;
  std::string object;          // ELF; one symbol, `entry`
  std::string entry;           // a RunFunction
  int64_t register_bytes = 0;  // of a warp's registers
  // From one warp's registers to the next one's.
  size_t RegisterStride() const { return static_cast<size_t>(register_bytes) + kRegisterAlign; }
  // The code refers to these by their addresses.
  std::vector<std::unique_ptr<MemorySite>> sites;
  std::vector<std::unique_ptr<TileSite>> tiles;
  std::vector<std::unique_ptr<WmmaSite>> fragments;
  std::vector<std::unique_ptr<CopySite>> copies;
  std::vector<std::unique_ptr<CopyGroupSite>> copy_groups;
  std::vector<std::unique_ptr<MbarrierSite>> barriers;
  std::vector<std::unique_ptr<isa::MmaOperation>> products;
  std::vector<int> counter_of;  // of each instruction; -1: it is never reached
  int counters = 0;
  // Where the launcher writes what a bar.red at a position gives.
  struct BarrierResult {
    int64_t offset;  // in the registers
    int bits;        // 1: a predicate, a word with a bit a lane; 32: an array
  };
  std::map<int, BarrierResult> barrier_results;
  ControlFlow flow;
  // By block: those with the same number begin with an operation for which lanes meet that are in
  // different places; -1: there is one place.
  std::vector<int> meeting_of;
  bool uses_reserved_shared = false;
  bool uses_grid_workspace = false;  // reads its address: %envreg1, %envreg2
};

// InvalidArgument "line N: INSTRUCTION is not supported" for what is not.
absl::StatusOr<TranslatedKernel> Translate(FlatKernel kernel, const RuntimeFunctions& runtime);

}  // namespace stax::emulator

#endif  // STAX_RUNTIME_EMULATOR_TRANSLATE_TRANSLATE_H_
