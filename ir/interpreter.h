// Executes LoopNests in double precision: the oracle of all numeric tests.
//
// Floating values are computed in f64 and rounded only where the nest says so: results of f16 and
// bf16 ops, casts to a narrower type, and stores. f32 values still have the range of f32, and ops
// that jump see them rounded (Precision::kDouble in ir/op_semantics.h). With Precision::kTyped
// every f32 result is rounded, so nests of exactly rounded ops must come out bit for bit the same
// on any target. Sums and products are accumulated in f64 in either case. Integers are exact and
// wrap in their width. Slow by design (one point at a time); meant for up to about 10^7 operations.
#ifndef STAX_IR_INTERPRETER_H_
#define STAX_IR_INTERPRETER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "ir/loop_nest.h"
#include "ir/op_semantics.h"

namespace stax {

using Bytes = std::vector<std::byte>;

// Memory by buffer name: raw bytes of each buffer. Buffers read must be there with exactly
// numel * DTypeBytes bytes; buffers written are made. `sizes` gives every symbol a value.
// InvalidArgument for a missing or wrongly sized buffer or size, OutOfRange for an access outside
// by a load whose mask is not false or by a store, FailedPrecondition for an element written twice,
// Internal for a nest that is not well-formed (VerifyStructure).
// A failed call leaves the written buffers unspecified.
absl::Status Interpret(const LoopNest& nest, const std::map<std::string, int64_t>& sizes,
                       std::map<std::string, Bytes>& memory,
                       Precision precision = Precision::kDouble);

}  // namespace stax

#endif  // STAX_IR_INTERPRETER_H_
