// Einsum equations, e.g. "bij,bjk->bik": one letter a dim, as NumPy writes them.
//
// An equation as written may have spaces, an implicit result, an ellipsis, and labels repeated in
// one operand. A kEinsum op's equation has none of these, and exactly two operands.
#ifndef STAX_IR_EINSUM_H_
#define STAX_IR_EINSUM_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace stax {

struct EinsumEquation {
  std::vector<std::string> operands;  // labels, one letter a dim
  std::string result;

  std::string ToString() const;  // "bij,bjk->bik"
};

// Parses an equation for operands of the given ranks. Ellipses get letters that are not used
// elsewhere, aligned at the end as dims broadcast; an implicit result is the ellipsis and then the
// labels that occur once, sorted. InvalidArgument that quotes the equation and says what is wrong.
absl::StatusOr<EinsumEquation> ParseEinsum(std::string_view text, const std::vector<int>& ranks);

}  // namespace stax

#endif  // STAX_IR_EINSUM_H_
