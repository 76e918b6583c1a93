// Numbers as people read them: three digits that mean something, and a unit.
#ifndef STAX_PROFILER_REPORT_QUANTITY_H_
#define STAX_PROFILER_REPORT_QUANTITY_H_

#include <string>

namespace stax {

// At least three significant digits, all of them before the point: 0.262, 23.3, 4249. Exponents
// from a million up and below 0.0001.
std::string ThreeDigits(double value);

// The unit of all bandwidths, so that they compare at a glance.
std::string GigabytesPerS(double bytes_per_s);

// 6.1e9, "flop/s" -> "6.10 Gflop/s". Prefixes from none to P.
std::string WithPrefix(double value, const std::string& unit);

}  // namespace stax

#endif  // STAX_PROFILER_REPORT_QUANTITY_H_
