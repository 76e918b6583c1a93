#include "runtime/emulator/ptx/special_registers.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"

namespace stax::ptx {
namespace {

using Map = absl::flat_hash_map<std::string, SpecialRegister>;

Map MakeMap() {
  Map map;
  for (const char* name : {"%tid", "%ntid", "%ctaid", "%nctaid", "%clusterid", "%nclusterid",
                           "%cluster_ctaid", "%cluster_nctaid"}) {
    map[name] = SpecialRegister::kVector;
  }
  for (const char* name : {"%laneid",
                           "%warpid",
                           "%nwarpid",
                           "%smid",
                           "%nsmid",
                           "%gridid",
                           "%is_explicit_cluster",
                           "%cluster_ctarank",
                           "%cluster_nctarank",
                           "%lanemask_eq",
                           "%lanemask_le",
                           "%lanemask_lt",
                           "%lanemask_ge",
                           "%lanemask_gt",
                           "%clock",
                           "%clock_hi",
                           "%clock64",
                           "%globaltimer",
                           "%globaltimer_lo",
                           "%globaltimer_hi",
                           "%reserved_smem_offset_begin",
                           "%reserved_smem_offset_end",
                           "%reserved_smem_offset_cap",
                           "%reserved_smem_offset_0",
                           "%reserved_smem_offset_1",
                           "%total_smem_size",
                           "%aggr_smem_size",
                           "%dynamic_smem_size",
                           "%current_graph_exec",
                           "WARP_SZ"}) {
    map[name] = SpecialRegister::kScalar;
  }
  for (int i = 0; i < 32; ++i) map[absl::StrCat("%envreg", i)] = SpecialRegister::kScalar;
  for (int i = 0; i < 8; ++i) {
    map[absl::StrCat("%pm", i)] = SpecialRegister::kScalar;
    map[absl::StrCat("%pm", i, "_64")] = SpecialRegister::kScalar;
  }
  return map;
}

}  // namespace

SpecialRegister FindSpecialRegister(absl::string_view name) {
  static const Map& map = *new Map(MakeMap());
  const auto it = map.find(name);
  return it == map.end() ? SpecialRegister::kNone : it->second;
}

}  // namespace stax::ptx
