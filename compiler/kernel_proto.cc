#include "compiler/kernel_proto.h"

#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ir/artifact/content_hash.h"
#include "ir/artifact/formula.h"

namespace stax {
namespace {

struct FormPrefix {
  KernelForm form;
  absl::string_view prefix;
};
constexpr FormPrefix kPrefixes[] = {
    {KernelForm::kPointwise, "poi_"},
    {KernelForm::kLooped, "red_"},
    {KernelForm::kPersistent, "per_"},
};

std::string TileText(const KernelSpec& spec) {
  return absl::StrJoin(spec.tile, ", ", [&](std::string* out, const TileAxis& axis) {
    absl::StrAppend(
        out, axis.name, "(",
        absl::StrJoin(axis.dims, " ",
                      [&](std::string* text, int dim) { text->append(spec.nest.dims[dim].name); }),
        ")");
  });
}

stax::ConfigSpace SpaceToProto(const KernelSpec& spec) {
  stax::ConfigSpace space;
  for (const ConfigParameter& parameter : spec.space) {
    Parameter* proto = space.add_parameters();
    proto->set_name(parameter.name);
    for (int64_t value : parameter.values) proto->add_values(value);
  }
  for (const std::string& constraint : spec.constraints) space.add_constraints(constraint);
  return space;
}

// Buffers by position instead of name: equal code has an equal hash in every program.
LoopNest Anonymous(LoopNest nest) {
  nest.name = "kernel";
  for (size_t b = 0; b < nest.buffers.size(); ++b) nest.buffers[b].name = absl::StrCat("b", b);
  return nest;
}

absl::StatusOr<KernelForm> FormOf(absl::string_view name) {
  for (const FormPrefix& row : kPrefixes) {
    if (absl::StartsWith(name, row.prefix)) return row.form;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("kernel '", name, "' has none of the prefixes poi_, red_, per_"));
}

absl::Status CheckTile(const KernelSpec& spec) {
  std::vector<int> uses(spec.nest.dims.size(), 0);
  std::set<std::string> names;
  for (const TileAxis& axis : spec.tile) {
    if ((axis.name != "y" && axis.name != "x" && axis.name != "r") ||
        !names.insert(axis.name).second)
      return absl::InvalidArgumentError(
          absl::StrCat(spec.name, ": tile axis '", axis.name, "', expected y, x and r, each once"));
    for (int dim : axis.dims) {
      if (dim < 0 || dim >= static_cast<int>(uses.size()) ||
          spec.nest.dims[dim].reduce != (axis.name == "r") || ++uses[dim] > 1)
        return absl::InvalidArgumentError(
            absl::StrCat(spec.name, ": tile axis ", axis.name, " cannot run over dim ", dim));
    }
  }
  for (size_t d = 0; d < uses.size(); ++d) {
    if (uses[d] == 0)
      return absl::InvalidArgumentError(
          absl::StrCat(spec.name, ": no tile axis runs over ", spec.nest.dims[d].name));
  }
  return absl::OkStatus();
}

}  // namespace

Kernel KernelToProto(const KernelSpec& spec) {
  Kernel kernel;
  kernel.set_name(spec.name);
  kernel.set_loop_nest(ToText(spec.nest));
  for (const TileAxis& axis : spec.tile) {
    stax::TileAxisProto* proto = kernel.add_tile();
    proto->set_name(axis.name);
    for (int dim : axis.dims) proto->add_dims(dim);
  }
  *kernel.mutable_read_bytes() = ToValue(spec.read_bytes);
  *kernel.mutable_write_bytes() = ToValue(spec.write_bytes);
  *kernel.mutable_flops() = ToValue(spec.flops);
  *kernel.mutable_config_space() = SpaceToProto(spec);
  for (const Config& config : spec.candidates)
    kernel.add_candidates()->mutable_values()->insert(config.begin(), config.end());
  for (const std::string& origin : spec.origins) kernel.add_origins(origin);
  kernel.set_explanation(spec.explanation);
  kernel.set_hash(
      ContentHash(absl::StrCat(kCompilerVersion, "\n", static_cast<int>(spec.form), "\n",
                               TileText(spec), "\n", ToText(Anonymous(spec.nest)))));
  return kernel;
}

absl::StatusOr<KernelSpec> KernelFromProto(const Kernel& kernel) {
  KernelSpec spec;
  spec.name = kernel.name();
  absl::StatusOr<KernelForm> form = FormOf(kernel.name());
  if (!form.ok()) return form.status();
  spec.form = *form;
  absl::StatusOr<LoopNest> nest = ParseLoopNest(kernel.loop_nest());
  if (!nest.ok()) return nest.status();
  spec.nest = *std::move(nest);
  if (absl::Status status = Verify(spec.nest); !status.ok())
    return absl::InvalidArgumentError(status.message());
  for (const TileAxisProto& axis : kernel.tile())
    spec.tile.push_back({axis.name(), {axis.dims().begin(), axis.dims().end()}});
  if (absl::Status status = CheckTile(spec); !status.ok()) return status;
  for (const Parameter& parameter : kernel.config_space().parameters())
    spec.space.push_back(
        {parameter.name(), {parameter.values().begin(), parameter.values().end()}});
  spec.constraints.assign(kernel.config_space().constraints().begin(),
                          kernel.config_space().constraints().end());
  for (const stax::ConfigProto& config : kernel.candidates())
    spec.candidates.emplace_back(config.values().begin(), config.values().end());
  const std::pair<const google::protobuf::Value*, IndexExpr*> numbers[] = {
      {&kernel.read_bytes(), &spec.read_bytes},
      {&kernel.write_bytes(), &spec.write_bytes},
      {&kernel.flops(), &spec.flops},
  };
  for (const auto& [proto, number] : numbers) {
    absl::StatusOr<IndexExpr> value = FromValue(*proto);
    if (!value.ok()) return value.status();
    *number = *value;
  }
  spec.origins.assign(kernel.origins().begin(), kernel.origins().end());
  spec.explanation = kernel.explanation();
  return spec;
}

std::string ToText(const Config& config) {
  return absl::StrJoin(config, " ", absl::PairFormatter("="));
}

std::string ToText(const KernelSpec& spec) {
  std::string text = absl::StrCat("kernel ", spec.name, "\n  tile ", TileText(spec), "\n");
  absl::StrAppend(&text, "  reads ", spec.read_bytes.ToString(), " bytes, writes ",
                  spec.write_bytes.ToString(), " bytes, ", spec.flops.ToString(), " flops\n");
  for (const Config& config : spec.candidates)
    absl::StrAppend(&text, "  candidate ", ToText(config), "\n");
  return absl::StrCat(text, ToText(spec.nest));
}

}  // namespace stax
