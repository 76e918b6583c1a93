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

// Distribution-free interval of the median: the order statistics whose binomial(n, 1/2) coverage is
// at least `confidence` (Conover, Practical Nonparametric Statistics, 3.2). The full range when the
// samples are too few to reach it: fewer than 6 for 0.95.
MedianInterval MedianConfidence(std::vector<double> samples, double confidence = 0.95);

}  // namespace stax

#endif  // STAX_PROFILER_TIMING_STATISTICS_H_
