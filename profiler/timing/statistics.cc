#include "profiler/timing/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace stax {

double Median(std::vector<double> samples) {
  size_t middle = samples.size() / 2;
  std::nth_element(samples.begin(), samples.begin() + middle, samples.end());
  double upper = samples[middle];
  if (samples.size() % 2 == 1) return upper;
  return (*std::max_element(samples.begin(), samples.begin() + middle) + upper) / 2;
}

MedianInterval MedianConfidence(std::vector<double> samples, double confidence) {
  std::sort(samples.begin(), samples.end());
  const int n = static_cast<int>(samples.size());
  // P(fewer than k of n samples lie below the median) = sum_{i<k} C(n, i) / 2^n must stay within
  // half of what may miss on each side (2.5 % for 0.95); k counts the samples cut off at each end.
  int k = 0;
  double below = 0;
  while (2 * (k + 1) < n) {
    below += std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) -
                      n * std::log(2.0));
    if (below > (1 - confidence) / 2) break;
    ++k;
  }
  int cut = std::max(0, k - 1);
  return {samples[cut], samples[n - 1 - cut]};
}

}  // namespace stax
