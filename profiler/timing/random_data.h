// Random tensors for measuring and checking kernels.
#ifndef STAX_PROFILER_TIMING_RANDOM_DATA_H_
#define STAX_PROFILER_TIMING_RANDOM_DATA_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ir/dtype.h"

namespace stax {

// `count` elements, the same for the same seed: floats standard normal, integers 0 to 7 (indices
// and divisors stay sensible), bools even odds.
std::vector<std::byte> RandomElements(DType dtype, int64_t count, uint64_t seed);

// ||got - want|| / ||want|| over the elements where both are finite; infinity when one is NaN or
// infinite where the other is not, or signs of infinity differ. 0 for equal bytes.
double RelativeError(DType dtype, const std::vector<std::byte>& got,
                     const std::vector<std::byte>& want);

}  // namespace stax

#endif  // STAX_PROFILER_TIMING_RANDOM_DATA_H_
