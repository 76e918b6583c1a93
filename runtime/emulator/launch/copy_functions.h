// What translated code calls for asynchronous copies and mbarriers; see RuntimeFunctions.
#ifndef STAX_RUNTIME_EMULATOR_LAUNCH_COPY_FUNCTIONS_H_
#define STAX_RUNTIME_EMULATOR_LAUNCH_COPY_FUNCTIONS_H_

#include <cstdint>

#include "runtime/emulator/translate/memory_site.h"
#include "runtime/emulator/translate/warp_context.h"

namespace stax::emulator {

// For contexts whose `block` is a ClusterRunner's.
void Copy(WarpContext* warp, const CopySite* site, uint32_t lanes, const uint64_t* to,
          const uint64_t* from, const uint32_t* from_bytes);
void BulkCopy(WarpContext* warp, const CopySite* site, uint32_t lanes, const uint64_t* to,
              const uint64_t* from, const uint32_t* bytes, const uint64_t* barrier,
              const uint16_t* blocks);
void CopyGroup(WarpContext* warp, const CopyGroupSite* site, uint32_t lanes);
uint32_t Mbarrier(WarpContext* warp, const MbarrierSite* site, uint32_t lanes,
                  const uint64_t* addresses, const uint64_t* operands, uint64_t* states);

}  // namespace stax::emulator

#endif  // STAX_RUNTIME_EMULATOR_LAUNCH_COPY_FUNCTIONS_H_
