#include "ir/einsum.h"

#include <algorithm>
#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace stax {
namespace {

constexpr char kEllipsis = '.', kEllipsisText[] = ".";  // stands for "..." once spaces are gone
constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

bool Contains(std::string_view labels, char label) {
  return labels.find(label) != std::string_view::npos;
}

absl::Status Error(std::string_view equation, const std::string& problem) {
  return absl::InvalidArgumentError(
      absl::StrCat("equation '", std::string(equation), "': ", problem));
}

// "a b...c" -> "ab.c"
absl::StatusOr<std::string> ParseLabels(std::string_view equation, std::string_view text) {
  std::string labels;
  for (size_t k = 0; k < text.size(); ++k) {
    if (absl::ascii_isspace(text[k])) continue;
    if (text.substr(k, 3) == "...") {
      if (Contains(labels, kEllipsis)) return Error(equation, "two ellipses in one term");
      labels += kEllipsis;
      k += 2;
    } else if (absl::ascii_isalpha(text[k])) {
      labels += text[k];
    } else {
      return Error(equation, absl::StrCat("'", std::string(1, text[k]),
                                          "' is neither a letter nor part of '...'"));
    }
  }
  return labels;
}

// Dims the ellipsis of a term stands for; an error when the term does not fit the rank.
absl::StatusOr<int> EllipsisRank(std::string_view equation, std::string_view labels, int operand,
                                 int rank) {
  const bool ellipsis = Contains(labels, kEllipsis);
  const int named = static_cast<int>(labels.size()) - (ellipsis ? 1 : 0);
  if (ellipsis ? named <= rank : named == rank) return rank - named;
  return Error(equation, absl::StrCat("operand ", operand, " has rank ", rank, ", its term has ",
                                      named, named == 1 ? " label" : " labels"));
}

// `count` letters that do not occur in `used`.
absl::StatusOr<std::string> FreshLabels(std::string_view equation, std::string_view used,
                                        int count) {
  std::string fresh;
  for (char letter : kLetters) {
    if (static_cast<int>(fresh.size()) == count) break;
    if (!Contains(used, letter)) fresh += letter;
  }
  if (static_cast<int>(fresh.size()) == count) return fresh;
  return Error(equation, "more than 52 different dims");
}

std::string ReplaceEllipsis(const std::string& labels, const std::string& with) {
  return absl::StrReplaceAll(labels, {{kEllipsisText, with}});
}

std::string ImplicitResult(const std::vector<std::string>& operands) {
  std::map<char, int> occurrences;
  for (const std::string& labels : operands) {
    for (char label : labels) ++occurrences[label];
  }
  std::string result;
  for (const auto& [label, count] : occurrences) {
    // kEllipsis sorts before all letters, which is where its dims belong.
    if (count == 1 || label == kEllipsis) result += label;
  }
  return result;
}

absl::Status CheckResult(std::string_view equation, const std::vector<std::string>& operands,
                         std::string_view result, bool broadcasts) {
  if (broadcasts && !Contains(result, kEllipsis)) {
    return Error(equation, "the result lacks '...' though an operand's stands for dims");
  }
  for (size_t k = 0; k < result.size(); ++k) {
    const char label = result[k];
    if (Contains(result.substr(k + 1), label)) {
      return Error(equation,
                   absl::StrCat("label '", std::string(1, label), "' occurs twice in the result"));
    }
    const bool known = std::any_of(operands.begin(), operands.end(),
                                   [&](const std::string& o) { return Contains(o, label); });
    if (!known && label != kEllipsis) {
      return Error(equation, absl::StrCat("label '", std::string(1, label),
                                          "' of the result occurs in no operand"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::string EinsumEquation::ToString() const {
  return absl::StrCat(absl::StrJoin(operands, ","), "->", result);
}

absl::StatusOr<EinsumEquation> ParseEinsum(std::string_view text, const std::vector<int>& ranks) {
  const std::vector<std::string> sides = absl::StrSplit(std::string(text), "->");
  if (sides.size() > 2) return Error(text, "'->' occurs more than once");
  const std::vector<std::string> terms = absl::StrSplit(sides[0], ',');
  if (terms.size() != ranks.size()) {
    return Error(
        text, absl::StrCat("terms for ", terms.size(), " operands, but there are ", ranks.size()));
  }
  EinsumEquation equation;
  std::vector<int> ellipsis_ranks;
  for (size_t k = 0; k < terms.size(); ++k) {
    absl::StatusOr<std::string> labels = ParseLabels(text, terms[k]);
    if (!labels.ok()) return labels.status();
    const auto rank = EllipsisRank(text, *labels, static_cast<int>(k), ranks[k]);
    if (!rank.ok()) return rank.status();
    equation.operands.push_back(*std::move(labels));
    ellipsis_ranks.push_back(*rank);
  }
  const int most =
      ellipsis_ranks.empty() ? 0 : *std::max_element(ellipsis_ranks.begin(), ellipsis_ranks.end());
  if (sides.size() == 2) {
    absl::StatusOr<std::string> result = ParseLabels(text, sides[1]);
    if (!result.ok()) return result.status();
    equation.result = *std::move(result);
  } else {
    equation.result = ImplicitResult(equation.operands);
  }
  if (absl::Status s = CheckResult(text, equation.operands, equation.result, most > 0); !s.ok()) {
    return s;
  }
  const auto fresh = FreshLabels(text, absl::StrJoin(equation.operands, ""), most);
  if (!fresh.ok()) return fresh.status();
  for (size_t k = 0; k < terms.size(); ++k) {
    equation.operands[k] =
        ReplaceEllipsis(equation.operands[k], fresh->substr(most - ellipsis_ranks[k]));
  }
  equation.result = ReplaceEllipsis(equation.result, *fresh);
  return equation;
}

}  // namespace stax
