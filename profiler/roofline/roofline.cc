#include "profiler/roofline/roofline.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "ir/artifact/formula.h"
#include "ir/index_expr.h"

namespace stax {
namespace {

absl::StatusOr<double> Evaluate(const google::protobuf::Value& formula,
                                const std::map<std::string, int64_t>& sizes) {
  absl::StatusOr<IndexExpr> e = FromValue(formula);
  if (!e.ok()) return e.status();
  absl::StatusOr<int64_t> value = e->Evaluate(sizes);
  if (!value.ok()) return value.status();
  return static_cast<double>(*value);
}

// Reads alone run at the read bandwidth, writes alone at the write bandwidth, equal parts at the
// copy bandwidth. Between these points time per byte is interpolated linearly in the share of
// writes.
double MixedBandwidth(double read_bytes, double write_bytes, const DeviceSpec& spec) {
  const double share = write_bytes / (read_bytes + write_bytes);
  const double read = 1 / spec.dram_read_bytes_per_s();
  const double copy = 1 / spec.dram_copy_bytes_per_s();
  const double write = 1 / spec.dram_write_bytes_per_s();
  const double per_byte = share <= 0.5 ? read + (copy - read) * share / 0.5
                                       : copy + (write - copy) * (share - 0.5) / 0.5;
  return 1 / per_byte;
}

}  // namespace

absl::StatusOr<RooflinePrediction> PredictRoofline(const Kernel& kernel,
                                                   const std::map<std::string, int64_t>& sizes,
                                                   const DeviceSpec& spec) {
  if (!(spec.dram_read_bytes_per_s() > 0 && spec.dram_write_bytes_per_s() > 0 &&
        spec.dram_copy_bytes_per_s() > 0 && spec.f32_flops_per_s() > 0))
    return absl::InvalidArgumentError(
        "the device description lacks bandwidths or the peak rate; make one with "
        "stax-profile --calibrate");
  RooflinePrediction p;
  for (auto [formula, number] :
       {std::pair{&kernel.read_bytes(), &p.read_bytes},
        std::pair{&kernel.write_bytes(), &p.write_bytes}, std::pair{&kernel.flops(), &p.flops}}) {
    absl::StatusOr<double> value = Evaluate(*formula, sizes);
    if (!value.ok())
      return absl::InvalidArgumentError(
          absl::StrCat(kernel.name(), ": ", value.status().message()));
    *number = *value;
  }
  const double bytes = p.read_bytes + p.write_bytes;
  if (bytes > 0) {
    p.intensity = p.flops / bytes;
    p.bandwidth = MixedBandwidth(p.read_bytes, p.write_bytes, spec);
    p.memory_ns = bytes / p.bandwidth * 1e9;
  }
  p.compute_ns = p.flops / spec.f32_flops_per_s() * 1e9;
  p.predicted_ns = std::max({p.memory_ns, p.compute_ns, spec.launch_ns()});
  p.bound = p.predicted_ns == p.memory_ns    ? "memory"
            : p.predicted_ns == p.compute_ns ? "compute"
                                             : "latency";
  return p;
}

}  // namespace stax
