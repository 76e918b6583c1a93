// Provisional: sound but incomplete simplification; the rule table replaces it.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "ir/index_expr.h"
#include "ir/index_expr_internal.h"

namespace stax {
namespace {

using AtomKind = IndexExpr::AtomKind;
using Term = IndexExpr::Term;

int64_t Sat(__int128 v) {
  if (v >= INT64_MAX) return INT64_MAX;
  if (v <= INT64_MIN) return INT64_MIN;
  return static_cast<int64_t>(v);
}
int64_t SatMul(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return 0;
  if (a == INT64_MIN || a == INT64_MAX || b == INT64_MIN || b == INT64_MAX) {
    return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
  }
  return Sat(static_cast<__int128>(a) * b);
}
int64_t SatAdd(int64_t a, int64_t b) {
  if (a == INT64_MIN || a == INT64_MAX) return a;
  if (b == INT64_MIN || b == INT64_MAX) return b;
  return Sat(static_cast<__int128>(a) + b);
}

// Splits e = d * quotient + rest for constant d or a single variable/monomial d.
void Split(const IndexExpr& e, const IndexExpr& d, IndexExpr* quotient, IndexExpr* rest) {
  *quotient = 0;
  *rest = e;
  if (d.IsConst()) {
    PolyBuilder q, r;
    for (const Term& t : e.terms()) {
      q.AddTerm(t.coeff / d.constant(), t.atoms);
      r.AddTerm(t.coeff % d.constant(), t.atoms);
    }
    q.AddConstant(FloorDivInt(e.constant(), d.constant()));
    r.AddConstant(ModInt(e.constant(), d.constant()));
    *quotient = *q.Finish();
    *rest = *r.Finish();
    return;
  }
  const Term& lead = d.terms()[0];
  for (int fuel = 64; fuel > 0; --fuel) {
    bool changed = false;
    for (const Term& t : rest->terms()) {
      if (t.coeff % lead.coeff != 0) continue;
      std::vector<AtomPtr> left = t.atoms;
      bool all = true;
      for (const AtomPtr& a : lead.atoms) {
        auto it = std::find_if(left.begin(), left.end(),
                               [&](const AtomPtr& b) { return CompareAtoms(*a, *b) == 0; });
        if (it == left.end()) { all = false; break; }
        left.erase(it);
      }
      if (!all) continue;
      PolyBuilder b;
      b.AddTerm(t.coeff / lead.coeff, left);
      IndexExpr q = *b.Finish();
      *quotient = *quotient + q;
      *rest = *rest - q * d;
      changed = true;
      break;
    }
    if (!changed) return;
  }
}

IndexExpr Rewrite(AtomKind kind, const IndexExpr& a, const IndexExpr& b, const RangeContext& r) {
  if (kind == AtomKind::kMin || kind == AtomKind::kMax) {
    if (a == b) return a;
    if (r.ProveLe(a, b)) return kind == AtomKind::kMin ? a : b;
    if (r.ProveLe(b, a)) return kind == AtomKind::kMin ? b : a;
    return b < a ? MakeAtom(kind, b, a) : MakeAtom(kind, a, b);
  }
  if (b.IsConst() && b.constant() == 1) return kind == AtomKind::kMod ? IndexExpr(0) : a;
  IndexExpr q, y;
  Split(a, b, &q, &y);
  const bool in_range = r.ProveLe(0, y) && r.ProveLt(y, b);
  if (kind == AtomKind::kMod) return in_range ? y : MakeAtom(kind, y, b);
  return in_range ? q : q + MakeAtom(kind, y, b);
}

const RangeContext& NoRanges() {
  static const auto& none = *new RangeContext;
  return none;
}

}  // namespace

std::optional<IndexExpr> TryFloorDiv(const IndexExpr& a, const IndexExpr& b) {
  return Rewrite(AtomKind::kFloorDiv, a, b, NoRanges());
}
std::optional<IndexExpr> TryMod(const IndexExpr& a, const IndexExpr& b) {
  return Rewrite(AtomKind::kMod, a, b, NoRanges());
}
std::optional<IndexExpr> TryMin(const IndexExpr& a, const IndexExpr& b) {
  return Rewrite(AtomKind::kMin, a, b, NoRanges());
}
std::optional<IndexExpr> TryMax(const IndexExpr& a, const IndexExpr& b) {
  return Rewrite(AtomKind::kMax, a, b, NoRanges());
}

void RangeContext::AddSize(std::string_view name, int64_t lower, int64_t upper) {
  sizes_[std::string(name)] = {lower, upper};
}
void RangeContext::AddLoop(std::string_view name, IndexExpr extent) {
  loops_[std::string(name)] = std::move(extent);
}
std::optional<IndexExpr> RangeContext::Extent(std::string_view name) const {
  const auto it = loops_.find(name);
  if (it == loops_.end()) return std::nullopt;
  return it->second;
}

Interval RangeContext::Bounds(const IndexExpr& e) const {
  Interval sum{e.constant(), e.constant()};
  for (const Term& t : e.terms()) {
    Interval p{t.coeff, t.coeff};
    for (const AtomPtr& atom : t.atoms) {
      Interval v;
      if (atom->kind == AtomKind::kVar) {
        if (auto it = sizes_.find(atom->name); it != sizes_.end()) v = it->second;
        if (auto it = loops_.find(atom->name); it != loops_.end()) {
          v = {0, SatAdd(Bounds(it->second).hi, -1)};
        }
      } else {
        const Interval a = Bounds(atom->a), b = Bounds(atom->b);
        switch (atom->kind) {
          case AtomKind::kMin: v = {std::min(a.lo, b.lo), std::min(a.hi, b.hi)}; break;
          case AtomKind::kMax: v = {std::max(a.lo, b.lo), std::max(a.hi, b.hi)}; break;
          case AtomKind::kMod: v = {0, SatAdd(b.hi, -1)}; break;
          default:
            if (a.lo >= 0) v.lo = 0;
            if (a.hi != Interval::kPosInf) {
              v.hi = a.hi < 0 ? -1 : a.hi / std::max<int64_t>(1, b.lo);
            }
        }
      }
      const int64_t c[] = {SatMul(p.lo, v.lo), SatMul(p.lo, v.hi), SatMul(p.hi, v.lo),
                           SatMul(p.hi, v.hi)};
      p = {*std::min_element(c, c + 4), *std::max_element(c, c + 4)};
    }
    sum = {SatAdd(sum.lo, p.lo), SatAdd(sum.hi, p.hi)};
  }
  return sum;
}

bool RangeContext::ProveLe(const IndexExpr& a, const IndexExpr& b) const {
  IndexExpr e = b - a;
  for (int fuel = 32; fuel > 0; --fuel) {
    if (Bounds(e).lo >= 0) return true;
    bool changed = false;
    for (const auto& [name, extent] : loops_) {
      const auto stride = e.StrideOf(name);
      if (!stride.has_value() || *stride == IndexExpr(0)) continue;
      const Interval sign = Bounds(*stride);
      if (sign.lo < 0 && sign.hi > 0) continue;
      e = e.Substitute({{name, sign.lo >= 0 ? IndexExpr(0) : extent - 1}});
      changed = true;
      break;
    }
    if (changed) continue;
    std::map<std::string, IndexExpr> shift;
    RangeContext shifted = *this;
    for (const std::string& name : e.Vars()) {
      const auto it = sizes_.find(name);
      if (it == sizes_.end() || it->second.lo == Interval::kNegInf || it->second.lo == 0) continue;
      shift.emplace(name, IndexExpr::Var(name) + it->second.lo);
      shifted.sizes_[name] = {0, SatAdd(it->second.hi, -it->second.lo)};
    }
    return !shift.empty() && shifted.Bounds(e.Substitute(shift)).lo >= 0;
  }
  return false;
}
bool RangeContext::ProveLt(const IndexExpr& a, const IndexExpr& b) const {
  return ProveLe(a + 1, b);
}
bool RangeContext::ProveEq(const IndexExpr& a, const IndexExpr& b) const {
  return a == b || Simplify(a - b, *this) == IndexExpr(0);
}
bool RangeContext::ProveDivisible(const IndexExpr& e, int64_t d) const {
  return Simplify(Mod(e, d), *this) == IndexExpr(0);
}

IndexExpr Simplify(const IndexExpr& e, const RangeContext& ranges) {
  if (!IndexExprAccess::Get(e).has_compound) return e;
  IndexExpr sum = e.constant();
  for (const Term& t : e.terms()) {
    IndexExpr product = t.coeff;
    for (const AtomPtr& atom : t.atoms) {
      product = product * (atom->kind == AtomKind::kVar
                               ? AtomExpr(atom)
                               : Rewrite(atom->kind, Simplify(atom->a, ranges),
                                         Simplify(atom->b, ranges), ranges));
    }
    sum = sum + product;
  }
  return sum == e ? e : Simplify(sum, ranges);
}

}  // namespace stax
