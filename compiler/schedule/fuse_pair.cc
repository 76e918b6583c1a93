#include "compiler/schedule/fuse_pair.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/lowering/access_pattern.h"
#include "compiler/lowering/rewrite_body.h"
#include "compiler/schedule/choose_tile.h"
#include "compiler/schedule/match_dims.h"

namespace stax {
namespace {

// Siblings must share at least 1/8 of the bytes that one of them loads.
constexpr double kSharedPart = 1.0 / 8;

std::vector<SizeSymbol> UnionOfSymbols(const LoopNest& a, const LoopNest& b) {
  std::map<std::string, SizeSymbol> symbols;
  for (const LoopNest* nest : {&a, &b})
    for (const SizeSymbol& s : nest->symbols) symbols[s.name] = s;
  std::vector<SizeSymbol> result;
  for (auto& [name, symbol] : symbols) result.push_back(symbol);
  return result;
}

std::set<std::string> StoredBuffers(const LoopNest& nest) {
  std::set<std::string> names;
  for (const NestBuffer& b : nest.buffers)
    if (b.written) names.insert(b.name);
  return names;
}

bool ReadsAnyOf(const LoopNest& nest, const std::set<std::string>& buffers) {
  return std::any_of(nest.buffers.begin(), nest.buffers.end(),
                     [&](const NestBuffer& b) { return !b.written && buffers.count(b.name) > 0; });
}

// Buffers that one stores for the other do not count: most will not be stored any more.
bool WithinLimits(const LoopNest& first, const LoopNest& second) {
  std::set<std::string> buffers;
  const std::set<std::string> stored = StoredBuffers(first);
  for (const NestBuffer& b : first.buffers) buffers.insert(b.name);
  for (const NestBuffer& b : second.buffers) {
    if (stored.count(b.name) > 0) {
      buffers.erase(b.name);
    } else {
      buffers.insert(b.name);
    }
  }
  return first.body.size() + second.body.size() <= kMaxFusedOps &&
         buffers.size() <= kMaxFusedBuffers;
}

// Loads of the nest by buffer and index, with their bytes at the hints.
std::map<std::pair<std::string, IndexExpr>, double> LoadBytes(const LoopNest& nest) {
  std::map<std::pair<std::string, IndexExpr>, double> bytes;
  for (const Access& a : Accesses(nest)) {
    const LoopOp& op = nest.body[a.op];
    if (!a.store)
      bytes[{nest.buffers[op.buffer].name, op.index}] =
          static_cast<double>(a.elements) * a.element_bytes;
  }
  return bytes;
}

double Total(const std::map<std::pair<std::string, IndexExpr>, double>& bytes) {
  double total = 0;
  for (const auto& [key, value] : bytes) total += value;
  return total;
}

class PairFuser {
 public:
  PairFuser(const LoopNest& first, const LoopNest& second, bool unrelated)
      : first_(first),
        second_(second),
        unrelated_(unrelated),
        stored_(StoredBuffers(first)),
        vertical_(ReadsAnyOf(second, stored_)) {}

  std::optional<LoopNest> Run() {
    if (!WithinLimits(first_, second_)) return std::nullopt;
    if (!vertical_ && (IsContraction(first_) || IsContraction(second_))) return std::nullopt;
    for (const DimMatch& match : MatchDims(first_, second_)) {
      std::optional<LoopNest> fused = Fuse(match);
      if (!fused.has_value() || !(vertical_ || unrelated_ || SharesEnough(*fused))) continue;
      if (IndicesAreProvable(*fused)) return fused;
    }
    return std::nullopt;
  }

 private:
  std::optional<LoopNest> Fuse(const DimMatch& match) {
    LoopNest fused;
    fused.name = first_.name;
    fused.symbols = UnionOfSymbols(first_, second_);
    fused.dims = match.dims;
    BodyBuilder body(&fused);
    BodyCopy copy_first;
    copy_first.vars = match.first_vars;
    const std::vector<ValueId> first_ids = CopyBody(first_, copy_first, &body);

    // Index and value of each element that `first` stores.
    std::map<std::string, std::pair<IndexExpr, ValueId>> values;
    for (const LoopOp& op : first_.body) {
      if (op.code != OpCode::kStore) continue;
      const std::string& buffer = first_.buffers[op.buffer].name;
      values[buffer] = {LastStoreIndex(fused, buffer), first_ids[op.operands[0]]};
    }
    const RangeContext ranges = fused.Ranges();
    bool legal = true;
    BodyCopy copy_second;
    copy_second.vars = match.second_vars;
    copy_second.replace_load = [&](const LoopOp& load,
                                   const IndexExpr& index) -> std::optional<ValueId> {
      const auto it = values.find(second_.buffers[load.buffer].name);
      if (it == values.end()) return std::nullopt;
      const auto& [stored_at, value] = it->second;
      legal = legal && (index == stored_at || ranges.ProveEq(index, stored_at));
      return value;
    };
    CopyBody(second_, copy_second, &body);
    if (!legal) return std::nullopt;
    return fused;
  }

  static IndexExpr LastStoreIndex(const LoopNest& nest, const std::string& buffer) {
    for (size_t id = nest.body.size(); id-- > 0;) {
      const LoopOp& op = nest.body[id];
      if (op.code == OpCode::kStore && nest.buffers[op.buffer].name == buffer) return op.index;
    }
    return 0;
  }

  bool SharesEnough(const LoopNest& fused) const {
    const double of_first = Total(LoadBytes(first_)), of_second = Total(LoadBytes(second_));
    const double shared = of_first + of_second - Total(LoadBytes(fused));
    return shared > 0 && shared >= kSharedPart * std::min(of_first, of_second);
  }

  const LoopNest& first_;
  const LoopNest& second_;
  const bool unrelated_;
  const std::set<std::string> stored_;
  const bool vertical_;
};

}  // namespace

std::optional<LoopNest> FusePair(const LoopNest& first, const LoopNest& second, bool unrelated) {
  return PairFuser(first, second, unrelated).Run();
}

}  // namespace stax
