// Content hashes: the identity of kernels, graphs and artifacts.
#ifndef STAX_IR_ARTIFACT_CONTENT_HASH_H_
#define STAX_IR_ARTIFACT_CONTENT_HASH_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace stax {

// Part of every identity: results of another compiler version are never reused.
inline constexpr char kCompilerVersion[] = "0.1.0";

// 128-bit XXH3 as 32 hex digits. Equal content, equal hash, on every machine.
std::string ContentHash(std::string_view content);

// 64-bit XXH3: checksum of artifact files.
uint64_t Checksum(std::string_view content);

}  // namespace stax

#endif  // STAX_IR_ARTIFACT_CONTENT_HASH_H_
