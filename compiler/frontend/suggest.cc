#include "compiler/frontend/suggest.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace stax {
namespace {

constexpr int kNear = 2;            // edits
constexpr size_t kMaxListed = 100;  // names

// Levenshtein distance: characters to add, remove or replace.
int EditDistance(std::string_view a, std::string_view b) {
  std::vector<int> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string Suggest(std::string_view name, const std::vector<std::string>& known) {
  if (known.empty()) return "there are none";
  std::vector<std::pair<int, std::string>> near;
  for (const std::string& candidate : known) {
    const size_t longer = std::max(candidate.size(), name.size());
    const size_t shorter = std::min(candidate.size(), name.size());
    if (longer - shorter > kNear) continue;
    const int distance = EditDistance(name, candidate);
    // Of a short name two edits leave nothing.
    if (distance <= kNear && distance < static_cast<int>(longer))
      near.push_back({distance, candidate});
  }
  if (near.empty()) {
    const size_t listed = std::min(known.size(), kMaxListed);
    return absl::StrCat("known are ", absl::StrJoin(known.begin(), known.begin() + listed, ", "),
                        listed < known.size() ? ", ..." : "");
  }
  std::sort(near.begin(), near.end());
  return absl::StrCat("did you mean ",
                      absl::StrJoin(near, " or ",
                                    [](std::string* out, const auto& entry) {
                                      absl::StrAppend(out, "'", entry.second, "'");
                                    }),
                      "?");
}

}  // namespace stax
