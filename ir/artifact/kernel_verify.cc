#include "ir/artifact/kernel_verify.h"

#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ir/artifact/formula.h"
#include "ir/loop_nest_verify.h"

namespace stax {
namespace {

// Limits far above what the scheduler makes; enumerating a space evaluates every constraint at
// every point.
constexpr int kMaxParameters = 64;
constexpr int kMaxConstraints = 16;
constexpr size_t kMaxConstraintBytes = 256;
constexpr int64_t kMaxParameterValue = int64_t{1} << 31;
constexpr uint32_t kMaxBlockThreads = 1024;  // CUDA's limit

absl::Status Error(absl::string_view what) { return absl::InvalidArgumentError(what); }

absl::Status CheckValue(const std::string& name, int64_t value) {
  if (value >= 1 && value <= kMaxParameterValue) return absl::OkStatus();
  return Error(absl::StrCat("parameter ", name, " has the value ", value, ", expected 1 to ",
                            kMaxParameterValue));
}

absl::Status CheckSpace(const ConfigSpace& space, std::set<std::string>* names) {
  if (space.parameters_size() > kMaxParameters)
    return Error(absl::StrCat("the configuration space has ", space.parameters_size(),
                              " parameters, at most ", kMaxParameters, " are supported"));
  if (space.constraints_size() > kMaxConstraints)
    return Error(absl::StrCat("the configuration space has ", space.constraints_size(),
                              " constraints, at most ", kMaxConstraints, " are supported"));
  for (const Parameter& parameter : space.parameters()) {
    if (!names->insert(parameter.name()).second)
      return Error(absl::StrCat("parameter ", parameter.name(), " is there twice"));
    if (parameter.values().empty())
      return Error(absl::StrCat("parameter ", parameter.name(), " has no values"));
    for (int64_t value : parameter.values())
      if (absl::Status s = CheckValue(parameter.name(), value); !s.ok()) return s;
  }
  for (const std::string& text : space.constraints()) {
    if (text.size() > kMaxConstraintBytes)
      return Error(absl::StrCat("a constraint of ", text.size(), " bytes, at most ",
                                kMaxConstraintBytes, " are supported"));
    absl::StatusOr<IndexExpr> constraint = IndexExpr::Parse(text);
    if (!constraint.ok()) return constraint.status();
    for (const std::string& name : constraint->Vars())
      if (names->count(name) == 0)
        return Error(absl::StrCat("constraint ", text, " uses ", name, ", which is no parameter"));
  }
  return absl::OkStatus();
}

absl::Status CheckCandidates(const Kernel& kernel) {
  std::set<std::string> names;
  if (absl::Status s = CheckSpace(kernel.config_space(), &names); !s.ok()) return s;
  if (kernel.candidates().empty()) return Error("has no candidate configuration");
  for (const ConfigProto& candidate : kernel.candidates()) {
    for (const auto& [name, value] : candidate.values())
      if (absl::Status s = CheckValue(name, value); !s.ok()) return s;
    for (const std::string& name : names)
      if (candidate.values().count(name) == 0)
        return Error(absl::StrCat("a candidate has no value for parameter ", name));
  }
  return absl::OkStatus();
}

absl::Status CheckVariant(const Variant& variant, const Target& target, const ProgramSizes& sizes) {
  if (variant.target().kind() != target.kind() || variant.target().arch() != target.arch())
    return Error(absl::StrCat("its code is for ", variant.target().kind(), ":",
                              variant.target().arch(), ", the program is for ", target.kind(), ":",
                              target.arch()));
  const bool cuda = target.kind() == "cuda";
  if (variant.programmatic_launch() && !absl::StrContains(variant.ptx(), "griddepcontrol.wait"))
    return Error("programmatic_launch, but its PTX has no griddepcontrol.wait");
  if (cuda ? variant.ptx().empty() && variant.cubin().empty() : variant.object().empty())
    return Error("has no code");
  if (variant.entry().empty() || variant.entry().find('\0') != std::string::npos)
    return Error("its code has no entry");
  if (absl::StatusOr<int64_t> grid = SizeAtHints(variant.grid_x(), sizes); !grid.ok())
    return Error(absl::StrCat("grid: ", grid.status().message()));
  if (cuda && (variant.block_threads() < 1 || variant.block_threads() > kMaxBlockThreads))
    return Error(absl::StrCat("blocks of ", variant.block_threads(), " threads, expected 1 to ",
                              kMaxBlockThreads));
  return absl::OkStatus();
}

// The code is right for the values that the nest's symbols have; the program's must be among them.
absl::Status CheckSymbols(const LoopNest& nest, const ProgramSizes& sizes) {
  for (const SizeSymbol& symbol : nest.symbols) {
    const auto declared = sizes.symbols.find(symbol.name);
    if (declared == sizes.symbols.end())
      return Error(absl::StrCat("size ", symbol.name, " is not declared by the program"));
    if (declared->second.lower() < symbol.lower || declared->second.upper() > symbol.upper)
      return Error(absl::StrCat("size ", symbol.name, " is in [", symbol.lower, ", ", symbol.upper,
                                "] here, in [", declared->second.lower(), ", ",
                                declared->second.upper(), "] in the program"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<int64_t> SizeAtHints(const IndexExpr& e, const ProgramSizes& sizes) {
  for (const std::string& name : e.Vars())
    if (sizes.symbols.count(name) == 0)
      return Error(absl::StrCat(e.ToString(), " uses ", name, ", which is no size of the program"));
  absl::StatusOr<int64_t> value = e.Evaluate(sizes.hints);
  if (!value.ok()) return Error(value.status().message());
  if (*value < 0) return Error(absl::StrCat(e.ToString(), " is ", *value, ", expected 0 or more"));
  return value;
}

absl::StatusOr<int64_t> SizeAtHints(const std::string& formula, const ProgramSizes& sizes) {
  const absl::StatusOr<IndexExpr> e = IndexExpr::Parse(formula);
  if (!e.ok()) return e.status();
  return SizeAtHints(*e, sizes);
}

absl::StatusOr<int64_t> SizeAtHints(const google::protobuf::Value& formula,
                                    const ProgramSizes& sizes) {
  const absl::StatusOr<IndexExpr> e = FromValue(formula);
  if (!e.ok()) return e.status();
  return SizeAtHints(*e, sizes);
}

absl::StatusOr<LoopNest> VerifyKernel(const Kernel& kernel, const Target& target,
                                      const ProgramSizes& sizes) {
  absl::StatusOr<LoopNest> nest = ParseLoopNest(kernel.loop_nest());
  if (!nest.ok()) return Error(absl::StrCat("loop nest: ", nest.status().message()));
  if (absl::Status s = VerifyStructure(*nest); !s.ok()) return Error(s.message());
  if (absl::Status s = CheckSymbols(*nest, sizes); !s.ok()) return s;
  const std::pair<const char*, const google::protobuf::Value*> numbers[] = {
      {"bytes read", &kernel.read_bytes()},
      {"bytes written", &kernel.write_bytes()},
      {"flops", &kernel.flops()}};
  for (const auto& [what, formula] : numbers) {
    const absl::StatusOr<int64_t> value = SizeAtHints(*formula, sizes);
    if (!value.ok()) return Error(absl::StrCat(what, ": ", value.status().message()));
  }
  if (absl::Status s = CheckCandidates(kernel); !s.ok()) return s;
  if (absl::Status s = CheckVariant(kernel.variant(), target, sizes); !s.ok()) return s;
  return nest;
}

}  // namespace stax
