// Order statistics of timing samples.
#ifndef STAX_PROFILER_TIMING_STATISTICS_H_
#define STAX_PROFILER_TIMING_STATISTICS_H_

#include <vector>

namespace stax {

// Of at least one sample; the mean of the middle two for even counts.
double Median(std::vector<double> samples);

struct MedianInterval {
  double low = 0;
  double high = 0;
};

// Distribution-free 95 % interval of the median: the order statistics whose binomial(n, 1/2)
// coverage is at least 0.95 (Conover, Practical Nonparametric Statistics, 3.2). The full range when
// fewer than 6 samples cannot reach it.
MedianInterval MedianConfidence(std::vector<double> samples);

}  // namespace stax

#endif  // STAX_PROFILER_TIMING_STATISTICS_H_
