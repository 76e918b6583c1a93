#include "ir/artifact/content_hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "absl/strings/str_format.h"

namespace stax {

std::string ContentHash(std::string_view content) {
  XXH128_hash_t hash = XXH3_128bits(content.data(), content.size());
  return absl::StrFormat("%016x%016x", hash.high64, hash.low64);
}

uint64_t Checksum(std::string_view content) { return XXH3_64bits(content.data(), content.size()); }

}  // namespace stax
