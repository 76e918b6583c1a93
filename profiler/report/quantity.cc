#include "profiler/report/quantity.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace stax {

// The limits are where rounding would give a digit more.
std::string ThreeDigits(double value) {
  if (value == 0) return "0";
  const double size = std::abs(value);
  return size < 99.95 || size >= 999999.5 ? absl::StrFormat("%#.3g", value)
                                          : absl::StrFormat("%.0f", value);
}

std::string GigabytesPerS(double bytes_per_s) {
  return absl::StrCat(ThreeDigits(bytes_per_s / 1e9), " GB/s");
}

std::string WithPrefix(double value, const std::string& unit) {
  constexpr const char* kPrefixes[] = {"", "k", "M", "G", "T", "P"};
  int prefix = 0;
  while (value >= 999.5 && prefix < 5) {
    value /= 1000;
    ++prefix;
  }
  return absl::StrCat(ThreeDigits(value), " ", kPrefixes[prefix], unit);
}

}  // namespace stax
