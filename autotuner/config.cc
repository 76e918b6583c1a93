#include "autotuner/config.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ir/index_expr.h"

namespace stax {
namespace {

absl::StatusOr<bool> MeetsConstraints(const TuningConfig& config,
                                      const std::vector<IndexExpr>& constraints) {
  for (const IndexExpr& constraint : constraints) {
    absl::StatusOr<int64_t> value = constraint.Evaluate(config);
    if (!value.ok())
      return absl::InvalidArgumentError(
          absl::StrCat("constraint ", constraint.ToString(), " >= 0: ", value.status().message()));
    if (*value < 0) return false;
  }
  return true;
}

// The member at `position` of the product, in row-major order.
TuningConfig Member(const ConfigSpace& space, int64_t position) {
  TuningConfig config;
  for (int p = space.parameters_size() - 1; p >= 0; --p) {
    const Parameter& parameter = space.parameters(p);
    config[parameter.name()] = parameter.values(position % parameter.values_size());
    position /= parameter.values_size();
  }
  return config;
}

}  // namespace

TuningConfig FromProto(const ConfigProto& proto) {
  return TuningConfig(proto.values().begin(), proto.values().end());
}

ConfigProto ToProto(const TuningConfig& config) {
  ConfigProto proto;
  proto.mutable_values()->insert(config.begin(), config.end());
  return proto;
}

std::string ToText(const TuningConfig& config) {
  return absl::StrJoin(config, " ", absl::PairFormatter("="));
}

absl::StatusOr<std::vector<TuningConfig>> EnumerateSpace(const ConfigSpace& space, int64_t limit) {
  int64_t size = 1;
  for (const Parameter& parameter : space.parameters()) {
    if (__builtin_mul_overflow(size, int64_t{parameter.values_size()}, &size) || size > limit)
      return absl::InvalidArgumentError(
          absl::StrCat("the configuration space has more than ", limit,
                       " members; use another strategy than exhaustive"));
  }
  std::vector<IndexExpr> constraints;
  for (const std::string& text : space.constraints()) {
    absl::StatusOr<IndexExpr> constraint = IndexExpr::Parse(text);
    if (!constraint.ok()) return constraint.status();
    constraints.push_back(*constraint);
  }
  std::vector<TuningConfig> configs;
  for (int64_t position = 0; position < size; ++position) {
    TuningConfig config = Member(space, position);
    absl::StatusOr<bool> member = MeetsConstraints(config, constraints);
    if (!member.ok()) return member.status();
    if (*member) configs.push_back(std::move(config));
  }
  return configs;
}

}  // namespace stax
