#include "compiler/frontend/suggest.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace stax {
namespace {

constexpr int kNear = 2;            // edits
constexpr size_t kMaxListed = 100;  // names

// Characters to add, remove, replace, or swap with their neighbour.
int EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::vector<int>> d(a.size() + 1, std::vector<int>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = static_cast<int>(i + j);
        continue;
      }
      const int replaced = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({replaced, d[i - 1][j] + 1, d[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::string Suggest(std::string_view name, const std::vector<std::string>& known) {
  if (known.empty()) return "there are none";
  std::vector<std::string> nearest;
  int least = kNear;
  for (const std::string& candidate : known) {
    const size_t longer = std::max(candidate.size(), name.size());
    const size_t shorter = std::min(candidate.size(), name.size());
    if (longer - shorter > kNear) continue;
    const int distance = EditDistance(name, candidate);
    // As many edits as letters leave nothing of the name.
    if (distance > least || distance >= static_cast<int>(longer)) continue;
    if (distance < least) nearest.clear();
    least = distance;
    nearest.push_back(absl::StrCat("'", candidate, "'"));
  }
  if (!nearest.empty()) return absl::StrCat("did you mean ", absl::StrJoin(nearest, " or "), "?");
  const size_t listed = std::min(known.size(), kMaxListed);
  return absl::StrCat("known are ", absl::StrJoin(known.begin(), known.begin() + listed, ", "),
                      listed < known.size() ? ", ..." : "");
}

}  // namespace stax
