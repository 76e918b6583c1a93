#include "ir/index_bounds.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/index_expr.h"
#include "ir/index_expr_internal.h"

namespace stax {
namespace {

using Atom = IndexExpr::Atom;
using AtomKind = IndexExpr::AtomKind;
using Term = IndexExpr::Term;

constexpr int64_t kNegInf = Interval::kNegInf;
constexpr int64_t kPosInf = Interval::kPosInf;

// Nesting of extents in extents before a variable counts as unbounded.
constexpr int kMaxExtentDepth = 16;

bool Infinite(int64_t x) { return x == kNegInf || x == kPosInf; }

int64_t Saturate(__int128 value) {
  if (value >= kPosInf) return kPosInf;
  if (value <= kNegInf) return kNegInf;
  return static_cast<int64_t>(value);
}

// Only a lower bound of kNegInf and an upper bound of kPosInf are infinite. A lower bound too large
// for int64 is kept as kPosInf, an upper one too small as kNegInf + 1: numbers that still hold.
int64_t SatMul(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return 0;
  if (Infinite(a) || Infinite(b)) return (a < 0) == (b < 0) ? kPosInf : kNegInf;
  return Saturate(static_cast<__int128>(a) * b);
}

Interval Add(const Interval& a, const Interval& b) {
  Interval sum;
  if (a.lo != kNegInf && b.lo != kNegInf) sum.lo = Saturate(static_cast<__int128>(a.lo) + b.lo);
  if (a.hi != kPosInf && b.hi != kPosInf) {
    sum.hi = std::max(kNegInf + 1, Saturate(static_cast<__int128>(a.hi) + b.hi));
  }
  return sum;
}

Interval Multiply(const Interval& a, const Interval& b) {
  const int64_t corners[] = {SatMul(a.lo, b.lo), SatMul(a.lo, b.hi), SatMul(a.hi, b.lo),
                             SatMul(a.hi, b.hi)};
  return {*std::min_element(corners, corners + 4),
          std::max(kNegInf + 1, *std::max_element(corners, corners + 4))};
}

int64_t SizeWidth(const Interval& size) {
  return Saturate(static_cast<__int128>(size.hi) - size.lo);
}

// Upper bound of extent - 1 from one of the extent.
int64_t LastOf(int64_t extent) { return extent == kPosInf ? kPosInf : extent - 1; }

int64_t FloorDivLimit(int64_t x, int64_t d) {
  if (d == kPosInf) return x < 0 ? -1 : 0;
  return FloorDivInt(x, d);
}

Interval FloorDivInterval(const Interval& x, Interval d) {
  d.lo = std::max<int64_t>(d.lo, 1);
  d.hi = std::max(d.hi, d.lo);
  Interval quotient;
  if (x.lo != kNegInf) quotient.lo = FloorDivLimit(x.lo, x.lo < 0 ? d.lo : d.hi);
  if (x.hi != kPosInf) quotient.hi = FloorDivLimit(x.hi, x.hi < 0 ? d.hi : d.lo);
  return quotient;
}

Interval ModInterval(const Interval& x, Interval d) {
  d.lo = std::max<int64_t>(d.lo, 1);
  d.hi = std::max(d.hi, d.lo);
  if (x.lo >= 0 && x.hi < d.lo) return x;
  if (d.lo == d.hi && x.lo != kNegInf && x.hi != kPosInf &&
      FloorDivInt(x.lo, d.lo) == FloorDivInt(x.hi, d.lo)) {
    return {ModInt(x.lo, d.lo), ModInt(x.hi, d.lo)};
  }
  return {0, x.lo >= 0 ? std::min(LastOf(d.hi), x.hi) : LastOf(d.hi)};
}

}  // namespace

Interval BoundSearch::QuickVar(const std::string& name) const {
  if (const auto it = ranges_.sizes_.find(name); it != ranges_.sizes_.end()) {
    Interval bounds = it->second;
    const auto assumed = assumed_lower_.find(name);
    if (assumed != assumed_lower_.end()) bounds.lo = std::max(bounds.lo, assumed->second);
    return bounds;
  }
  const auto it = ranges_.loops_.find(name);
  if (it == ranges_.loops_.end()) return {};
  if (extent_depth_ >= kMaxExtentDepth) return {0, kPosInf};
  ++extent_depth_;
  const int64_t extent = Quick(it->second).hi;
  --extent_depth_;
  return {0, LastOf(std::max<int64_t>(extent, 1))};
}

Interval BoundSearch::QuickAtom(const Atom& atom) const {
  if (atom.kind == AtomKind::kVar) return QuickVar(atom.name);
  const Interval a = Quick(atom.a), b = Quick(atom.b);
  switch (atom.kind) {
    case AtomKind::kFloorDiv:
      return FloorDivInterval(a, b);
    case AtomKind::kMod:
      return ModInterval(a, b);
    case AtomKind::kMin:
      return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
    default:
      return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
  }
}

Interval BoundSearch::Quick(const IndexExpr& e) const {
  Interval sum = {e.constant(), e.constant()};
  for (const Term& term : e.terms()) {
    Interval product = {term.coeff, term.coeff};
    for (const AtomPtr& atom : term.atoms) product = Multiply(product, QuickAtom(*atom));
    sum = Add(sum, product);
  }
  return sum;
}

bool BoundSearch::QuickIsExact(const IndexExpr& e) const {
  if (IndexExprAccess::Get(e).has_compound) {
    // A division by a constant of what is exact.
    const Term& term = e.terms()[0];
    if (e.terms().size() > 1 || term.atoms.size() > 1) return false;
    const Atom& atom = *term.atoms[0];
    return atom.kind != AtomKind::kVar && atom.b.IsConst() && QuickIsExact(atom.a);
  }
  // All variables can be at their lower ends at once, and at their upper ends if the extents of
  // loops grow with sizes; that is extreme for e when no coefficient is negative. Otherwise each
  // variable has to occur once and have constant bounds.
  bool increasing = true, constant_extents = true;
  size_t occurrences = 0;
  for (const Term& term : e.terms()) {
    increasing &= term.coeff > 0;
    for (const AtomPtr& atom : term.atoms) {
      ++occurrences;
      const auto loop = ranges_.loops_.find(atom->name);
      if (loop == ranges_.loops_.end()) {
        increasing &= QuickVar(atom->name).lo >= 0;
        continue;
      }
      constant_extents &= loop->second.IsConst();
      increasing &= !IndexExprAccess::Get(loop->second).has_compound;
      for (const Term& part : loop->second.terms()) increasing &= part.coeff > 0;
    }
  }
  return increasing || (constant_extents && e.Vars().size() == occurrences);
}

int BoundSearch::Sign(const IndexExpr& e) const {
  const Interval bounds = Quick(e);
  return bounds.lo >= 0 ? 1 : bounds.hi <= 0 ? -1 : 0;
}

void BoundSearch::AssumeDefined(const IndexExpr& e) {
  for (const Term& term : e.terms()) {
    for (const AtomPtr& atom : term.atoms) {
      if (atom->kind != AtomKind::kVar) {
        AssumeDefined(atom->a);
        AssumeDefined(atom->b);
        if (atom->kind == AtomKind::kFloorDiv || atom->kind == AtomKind::kMod) {
          AssumePositive(atom->b);
        }
        continue;
      }
      const auto loop = ranges_.loops_.find(atom->name);
      if (loop == ranges_.loops_.end() || !assumed_loops_.insert(atom->name).second) continue;
      AssumeDefined(loop->second);
      AssumePositive(loop->second);
    }
  }
}

// From e >= 1: lower bounds of the sizes in c*n + k and in a product of sizes.
void BoundSearch::AssumePositive(const IndexExpr& e) {
  if (e.terms().size() != 1) return;
  const Term& term = e.terms()[0];
  if (term.coeff < 0 || (term.atoms.size() > 1 && e.constant() != 0)) return;
  int64_t lower = 1;
  if (term.atoms.size() == 1) {
    // c*n + k >= 1: n is at least (1 - k)/c, rounded up.
    if (e.constant() <= -kMaxCoeff) return;
    lower = -FloorDivInt(e.constant() - 1, term.coeff);
  } else {
    for (const AtomPtr& atom : term.atoms) {
      if (QuickAtom(*atom).lo < 0) return;
    }
  }
  for (const AtomPtr& atom : term.atoms) {
    if (atom->kind != AtomKind::kVar) continue;
    int64_t& known = assumed_lower_.emplace(atom->name, lower).first->second;
    known = std::max(known, lower);
  }
}

int64_t BoundSearch::Lower(const IndexExpr& e, int64_t goal) {
  const int64_t quick = Quick(e).lo;
  if (quick >= goal || e.IsConst()) return quick;
  // A step on a long expression counts for more, as it takes longer.
  steps_ -= 1 + IndexExprAccess::Get(e).weight / kWeightPerStep;
  if (steps_ <= 0) return quick;
  if (!IndexExprAccess::Get(e).has_compound) {
    if (const std::optional<int64_t> found = LowerByLoop(e, goal)) return std::max(quick, *found);
    return std::max(quick, LowerBySizes(e, goal));
  }
  // Exact, so it comes before anything is put in place of another factor: a loop over floordiv(n,
  // 8) points ends where another term may have the same atom, and then they cancel.
  const Atom* loop = InnermostLoop(e);
  if (loop != nullptr && e.StrideOf(loop->name).has_value()) {
    return std::max(quick, LowerByLoop(e, goal).value_or(quick));
  }
  if (goal == 0 && ProveByCommonFactor(e)) return 0;
  if (const std::optional<int64_t> found = LowerByCompound(e, goal)) {
    return std::max(quick, *found);
  }
  if (const std::optional<int64_t> found = LowerByLoop(e, goal)) return std::max(quick, *found);
  return std::max(quick, LowerBySizes(e, goal));
}

bool BoundSearch::ProveByCommonFactor(const IndexExpr& e) {
  if (e.terms().size() < 2) return false;
  const Term gcd = MonomialGcd(e, e.terms()[0]);
  if (gcd.coeff == 1 && gcd.atoms.empty()) return false;
  const IndexExpr factor = TermExpr(gcd);
  const std::optional<IndexExpr> rest = ExactQuotient(e, factor);
  return rest.has_value() && Quick(factor).lo >= 0 && Lower(*rest, 0) >= 0;
}

int64_t BoundSearch::LowerWith(const LinearForm& form, const IndexExpr& factor, int64_t goal) {
  const std::optional<IndexExpr> product = TryMul(form.coeff, factor);
  if (!product.has_value()) return kNegInf;
  const std::optional<IndexExpr> sum = TryAdd(*product, form.rest);
  return sum.has_value() ? Lower(*sum, goal) : kNegInf;
}

std::optional<int64_t> BoundSearch::LowerByCompound(const IndexExpr& e, int64_t goal) {
  for (const Term& term : e.terms()) {
    for (const AtomPtr& atom : term.atoms) {
      if (atom->kind == AtomKind::kVar) continue;
      const std::optional<LinearForm> form = LinearIn(e, *atom);
      const int sign = form.has_value() ? Sign(form->coeff) : 0;
      if (sign == 0) continue;
      switch (atom->kind) {
        case AtomKind::kFloorDiv:
          return LowerByFloorDiv(*form, *atom, sign, goal);
        case AtomKind::kMod:
          return LowerByMod(*form, *atom, sign, goal);
        default:
          return LowerByMinMax(*form, *atom, sign, goal);
      }
    }
  }
  return std::nullopt;
}

int64_t BoundSearch::LowerByFloorDiv(const LinearForm& form, const Atom& atom, int sign,
                                     int64_t goal) {
  int64_t best = LowerByQuickBound(form, atom, sign, goal);
  if (best < goal) best = std::max(best, LowerByScaling(form, atom, sign, goal));
  if (best >= goal) return best;
  // The division is monotone in its dividend.
  const std::optional<IndexExpr> extreme = ExtremeOverLoops(atom.a, sign);
  if (extreme.has_value() && *extreme != atom.a) {
    best = std::max(best, LowerWith(form, FloorDiv(*extreme, atom.b), goal));
  }
  return best;
}

int64_t BoundSearch::LowerByQuickBound(const LinearForm& form, const Atom& atom, int sign,
                                       int64_t goal) {
  const Interval bounds = QuickAtom(atom);
  const int64_t bound = sign > 0 ? bounds.lo : bounds.hi;
  return Infinite(bound) ? kNegInf : LowerWith(form, bound, goal);
}

// x - d + 1 <= d*floordiv(x, d) <= x, which bounds d*e without the division.
int64_t BoundSearch::LowerByScaling(const LinearForm& form, const Atom& atom, int sign,
                                    int64_t goal) {
  const IndexExpr& d = atom.b;
  const std::optional<IndexExpr> rest = TryMul(form.rest, d);
  std::optional<IndexExpr> scaled_atom = atom.a;
  if (sign > 0) {
    scaled_atom = TrySub(atom.a, d);
    if (scaled_atom.has_value()) scaled_atom = TryAdd(*scaled_atom, 1);
  }
  if (!rest.has_value() || !scaled_atom.has_value()) return kNegInf;
  // e >= goal if and only if d*e > d*(goal - 1), since e is an integer.
  if (const std::optional<int64_t> divisor = d.AsConst()) {
    const int64_t scaled_goal =
        goal == kPosInf ? kPosInf : Saturate((static_cast<__int128>(goal) - 1) * *divisor + 1);
    const int64_t lower = LowerWith({form.coeff, *rest}, *scaled_atom, scaled_goal);
    return lower == kNegInf ? kNegInf : -FloorDivInt(-lower, *divisor);
  }
  if (Infinite(goal)) return kNegInf;
  const std::optional<IndexExpr> limit = TryMul(d, goal - 1);
  if (!limit.has_value()) return kNegInf;
  const std::optional<IndexExpr> over = TrySub(*rest, *limit);
  const bool proved = over.has_value() && LowerWith({form.coeff, *over}, *scaled_atom, 1) >= 1;
  return proved ? goal : kNegInf;
}

int64_t BoundSearch::LowerByMod(const LinearForm& form, const Atom& atom, int sign, int64_t goal) {
  int64_t best = LowerByQuickBound(form, atom, sign, goal);
  if (sign > 0 || best >= goal) return best;
  // mod(x, d) <= d - 1, and mod(x, d) <= x where x is not negative.
  if (const std::optional<IndexExpr> last = TrySub(atom.b, 1)) {
    best = std::max(best, LowerWith(form, *last, goal));
  }
  if (best < goal && Quick(atom.a).lo >= 0) best = std::max(best, LowerWith(form, atom.a, goal));
  return best;
}

int64_t BoundSearch::LowerByMinMax(const LinearForm& form, const Atom& atom, int sign,
                                   int64_t goal) {
  const int64_t with_a = LowerWith(form, atom.a, goal);
  // Either operand is a bound of a min from above and of a max from below. The other way round
  // the atom is one of the two.
  const bool either = (atom.kind == AtomKind::kMin) == (sign < 0);
  if (either ? with_a >= goal : with_a == kNegInf) return with_a;
  const int64_t with_b = LowerWith(form, atom.b, goal);
  return either ? std::max(with_a, with_b) : std::min(with_a, with_b);
}

const Atom* BoundSearch::InnermostLoop(const IndexExpr& e) const {
  std::vector<const Atom*> loops;
  for (const Term& term : e.terms()) {
    for (const AtomPtr& atom : term.atoms) {
      if (atom->kind == AtomKind::kVar && ranges_.loops_.count(atom->name) > 0) {
        loops.push_back(atom.get());
      }
    }
  }
  for (const Atom* loop : loops) {
    bool needed = false;
    for (const Atom* other : loops) {
      needed |= ranges_.loops_.find(other->name)->second.Mentions(loop->name);
    }
    if (!needed && LinearIn(e, *loop).has_value()) return loop;
  }
  return nullptr;
}

std::optional<int64_t> BoundSearch::LowerByLoop(const IndexExpr& e, int64_t goal) {
  const Atom* loop = InnermostLoop(e);
  if (loop == nullptr) return std::nullopt;
  const std::optional<LinearForm> form = LinearIn(e, *loop);
  const std::optional<IndexExpr> last = TrySub(ranges_.loops_.find(loop->name)->second, 1);
  int sign = Sign(form->coeff);
  if (sign == 0 && Lower(form->coeff, 0) >= 0) sign = 1;
  if (sign > 0) return LowerWith(*form, 0, goal);
  if (!last.has_value()) return kNegInf;
  if (sign < 0) return LowerWith(*form, *last, goal);
  // Linear in the variable, so smallest at one of the ends.
  return std::min(LowerWith(*form, 0, goal), LowerWith(*form, *last, goal));
}

std::optional<IndexExpr> BoundSearch::ExtremeOverLoops(IndexExpr x, int sign) const {
  for (int depth = 0; const Atom* loop = InnermostLoop(x); ++depth) {
    if (depth == kMaxExtentDepth) return std::nullopt;
    const std::optional<LinearForm> form = LinearIn(x, *loop);
    const int slope = Sign(form->coeff) * sign;
    if (slope == 0) return std::nullopt;
    if (slope > 0) {
      x = form->rest;
      continue;
    }
    const std::optional<IndexExpr> last = TrySub(ranges_.loops_.find(loop->name)->second, 1);
    if (!last.has_value()) return std::nullopt;
    const std::optional<IndexExpr> product = TryMul(form->coeff, *last);
    const std::optional<IndexExpr> sum =
        product.has_value() ? TryAdd(*product, form->rest) : std::nullopt;
    if (!sum.has_value()) return std::nullopt;
    x = *sum;
  }
  return x;
}

int64_t BoundSearch::LowerBySizes(const IndexExpr& e, int64_t goal) {
  const int64_t shifted = LowerByShift(e);
  if (shifted >= goal) return shifted;
  int64_t best = shifted;
  for (const Term& term : e.terms()) {
    for (const AtomPtr& atom : term.atoms) {
      if (atom->kind != AtomKind::kVar) continue;
      const Interval bounds = QuickVar(atom->name);
      const std::optional<LinearForm> form = LinearIn(e, *atom);
      if (!form.has_value()) continue;
      int sign = Sign(form->coeff);
      if (sign == 0 && Lower(form->coeff, 0) >= 0) sign = 1;
      // Linear in the size, so smallest at one of its ends.
      if ((sign >= 0 && bounds.lo == kNegInf) || (sign <= 0 && bounds.hi == kPosInf)) continue;
      int64_t found = kPosInf;
      if (sign >= 0) found = LowerWith(*form, bounds.lo, goal);
      if (sign <= 0) found = std::min(found, LowerWith(*form, bounds.hi, goal));
      return std::max(best, found);
    }
  }
  return best;
}

// With every size n written as lower bound + n', n' >= 0.
int64_t BoundSearch::LowerByShift(const IndexExpr& e) const {
  IndexExpr shifted = e.constant();
  for (const Term& term : e.terms()) {
    std::optional<IndexExpr> product = IndexExpr(term.coeff);
    for (const AtomPtr& atom : term.atoms) {
      const int64_t lower = ShiftOf(*atom);
      product = TryMul(*product, lower == 0 ? AtomExpr(atom) : AtomExpr(atom) + lower);
      if (!product.has_value()) return kNegInf;
    }
    const std::optional<IndexExpr> sum = TryAdd(shifted, *product);
    if (!sum.has_value()) return kNegInf;
    shifted = *sum;
  }
  Interval bounds = {shifted.constant(), shifted.constant()};
  for (const Term& term : shifted.terms()) {
    Interval product = {term.coeff, term.coeff};
    for (const AtomPtr& atom : term.atoms) {
      const Interval range = QuickAtom(*atom);
      const int64_t shift = ShiftOf(*atom);
      product = Multiply(product, Add(range, {-shift, -shift}));
    }
    bounds = Add(bounds, product);
  }
  return bounds.lo;
}

// What LowerByShift takes off a factor: its lower bound where that is positive.
int64_t BoundSearch::ShiftOf(const Atom& atom) const {
  const int64_t lower = QuickAtom(atom).lo;
  return lower > 0 && lower != kPosInf ? lower : 0;
}

bool BoundSearch::Sample(const IndexExpr& e, bool sizes_high, bool loops_last,
                         std::map<std::string, int64_t>* values) const {
  for (const std::string& name : e.Vars()) {
    if (values->count(name) > 0) continue;
    const auto loop = ranges_.loops_.find(name);
    if (loop == ranges_.loops_.end()) {
      const auto size = ranges_.sizes_.find(name);
      if (size == ranges_.sizes_.end() || size->second.lo == kNegInf) return false;
      // Far enough for what grows with a size to show, and different for different sizes.
      const int64_t step = sizes_high ? 97 + 14 * static_cast<int64_t>(values->size()) : 0;
      values->emplace(name, size->second.lo + std::min(step, SizeWidth(size->second)));
      continue;
    }
    values->emplace(name, 0);  // ends the recursion if extents depend on each other in a circle
    if (!Sample(loop->second, sizes_high, loops_last, values)) return false;
    const std::optional<int64_t> extent = TryEvaluate(loop->second, *values);
    if (!extent.has_value() || *extent < 1) return false;
    if (loops_last) (*values)[name] = *extent - 1;
  }
  return true;
}

bool BoundSearch::ProveNonNegative(const IndexExpr& e,
                                   std::initializer_list<const IndexExpr*> others) {
  if (e.IsConst()) return e.constant() >= 0;
  if (Quick(e).lo >= 0) return true;
  if (!KnowsVariables()) return false;  // nothing to put in place of a variable
  for (const IndexExpr* other : others) AssumeDefined(*other);
  steps_ = kFirstSteps;
  if (Lower(e, 0) >= 0) return true;
  if (steps_ > 0) return false;
  for (const bool sizes_high : {false, true}) {
    for (const bool loops_last : {false, true}) {
      std::map<std::string, int64_t> values;
      if (!Sample(e, sizes_high, loops_last, &values)) continue;
      const std::optional<int64_t> value = TryEvaluate(e, values);
      if (value.has_value() && *value < 0) return false;
    }
  }
  steps_ = kSearchSteps;
  return Lower(e, 0) >= 0;
}

}  // namespace stax
