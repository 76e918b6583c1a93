// GraphBuilder's contractions. Everything becomes kEinsum ops of two operands, and elementwise
// products, sums and views around them where those say the same.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/einsum.h"
#include "ir/graph_builder.h"
#include "ir/graph_rules.h"

namespace stax {
namespace {

// Labels of the batch dims of a matmul; m, k and n name its own dims.
constexpr std::string_view kBatchLabels = "bacdefghijlopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

bool Contains(std::string_view labels, char label) {
  return labels.find(label) != std::string_view::npos;
}

}  // namespace

// A repeated label takes the diagonal of its two dims: as the square lies flat, every n + 1st
// element.
GraphBuilder::Labelled GraphBuilder::TakeDiagonals(Labelled x) {
  for (size_t first = 0; first < x.labels.size() && status_.ok(); ++first) {
    const size_t second = x.labels.find(x.labels[first], first + 1);
    if (second == std::string::npos) continue;
    const IndexExpr n = dims(x.tensor)[first];
    if (!ranges().ProveEq(n, dims(x.tensor)[second])) {
      Fail("einsum", absl::StrCat("label '", x.labels.substr(first, 1), "' names dims ", first,
                                  " and ", second, " of ", Type(x.tensor), ", which differ"));
      return {};
    }
    std::vector<int> perm;
    Dims flat;
    std::string labels;
    for (size_t d = 0; d < x.labels.size(); ++d) {
      if (d == first || d == second) continue;
      perm.push_back(static_cast<int>(d));
      flat.push_back(dims(x.tensor)[d]);
      labels += x.labels[d];
    }
    perm.push_back(static_cast<int>(first));
    perm.push_back(static_cast<int>(second));
    flat.push_back(n * n);
    labels += x.labels[first];
    const Tensor square = Reshape(Transpose(x.tensor, perm), flat);
    x = {Slice(square, -1, 0, n + 1, n), labels};
    first = static_cast<size_t>(-1);  // positions have moved: look again from the start
  }
  return x;
}

GraphBuilder::Labelled GraphBuilder::SumLabels(Labelled x, std::string_view keep) {
  std::vector<int> axes;
  std::string kept;
  for (size_t d = 0; d < x.labels.size(); ++d) {
    if (Contains(keep, x.labels[d])) {
      kept += x.labels[d];
    } else {
      axes.push_back(static_cast<int>(d));
    }
  }
  return {Sum(x.tensor, axes), kept};
}

// A dim of size 1 that is larger in another operand is left out instead of repeated.
GraphBuilder::Labelled GraphBuilder::DropUnitDims(Labelled x,
                                                  const std::map<char, IndexExpr>& sizes) {
  std::vector<int> axes;
  std::string kept;
  for (size_t d = 0; d < x.labels.size(); ++d) {
    if (dims(x.tensor)[d] == 1 && sizes.at(x.labels[d]) != 1) {
      axes.push_back(static_cast<int>(d));
    } else {
      kept += x.labels[d];
    }
  }
  return {Squeeze(x.tensor, axes), kept};
}

// Puts dims in the order of `result`, with dims of size 1 for the labels that x lacks.
GraphBuilder::Tensor GraphBuilder::Arrange(const Labelled& x, std::string_view result) {
  std::vector<int> perm, missing;
  for (size_t d = 0; d < result.size(); ++d) {
    const size_t at = x.labels.find(result[d]);
    if (at == std::string::npos) {
      missing.push_back(static_cast<int>(d));
    } else {
      perm.push_back(static_cast<int>(at));
    }
  }
  return Unsqueeze(Transpose(x.tensor, perm), missing);
}

GraphBuilder::Tensor GraphBuilder::Contract(Labelled a, Labelled b, const std::string& result) {
  if (!status_.ok()) return {};
  // What only one operand has is summed in it alone: fewer products, and no such case later.
  a = SumLabels(a, result + b.labels);
  b = SumLabels(b, result + a.labels);
  if (!status_.ok()) return {};
  const auto is_kept = [&](char label) { return Contains(result, label); };
  if (std::all_of(a.labels.begin(), a.labels.end(), is_kept) &&
      std::all_of(b.labels.begin(), b.labels.end(), is_kept)) {
    const Tensor left = Arrange(a, result);
    return Mul(left, Arrange(b, result));
  }
  Dims dims;
  for (char label : result) {
    const size_t at = a.labels.find(label);
    dims.push_back(at != std::string::npos ? this->dims(a.tensor)[at]
                                           : this->dims(b.tensor)[b.labels.find(label)]);
  }
  GraphOp op;
  op.kind = GraphOpKind::kEinsum;
  op.operands = {a.tensor.id, b.tensor.id};
  op.equation = EinsumEquation{{a.labels, b.labels}, result}.ToString();
  return AddOp(std::move(op), dtype(a.tensor), std::move(dims));
}

GraphBuilder::Tensor GraphBuilder::Einsum(std::string_view equation, std::vector<Tensor> operands) {
  if (!Usable("einsum", operands)) return {};
  std::vector<int> operand_ranks;
  for (Tensor x : operands) {
    operand_ranks.push_back(rank(x));
    if (dtype(x) != dtype(operands[0]) || dtype(x) == DType::kBool) {
      return Fail("einsum", absl::StrCat("operand ", Type(x), ": all operands must be numbers of ",
                                         "one dtype, like the first, ", Type(operands[0])));
    }
  }
  const absl::StatusOr<EinsumEquation> parsed = ParseEinsum(equation, operand_ranks);
  if (!parsed.ok()) return Fail("einsum", std::string(parsed.status().message()));

  std::vector<Labelled> terms;
  std::map<char, IndexExpr> sizes;
  const RangeContext known = ranges();
  for (size_t k = 0; k < operands.size(); ++k) {
    Labelled x = TakeDiagonals({operands[k], parsed->operands[k]});
    if (!status_.ok()) return {};
    for (size_t d = 0; d < x.labels.size(); ++d) {
      const IndexExpr size = dims(x.tensor)[d];
      const auto [at, is_new] = sizes.emplace(x.labels[d], size);
      if (is_new || size == 1 || known.ProveEq(size, at->second)) continue;
      if (at->second != 1) {
        return Fail("einsum", absl::StrCat("equation '", std::string(equation), "': label '",
                                           x.labels.substr(d, 1), "' has sizes ",
                                           at->second.ToString(), " and ", size.ToString()));
      }
      at->second = size;
    }
    terms.push_back(std::move(x));
  }
  for (Labelled& x : terms) x = DropUnitDims(x, sizes);

  Labelled product = terms[0];
  for (size_t k = 1; k < terms.size(); ++k) {
    std::string needed = parsed->result;
    for (size_t later = k + 1; later < terms.size(); ++later) needed += terms[later].labels;
    std::string labels = parsed->result;
    if (k + 1 < terms.size()) {
      labels.clear();
      for (char label : product.labels + terms[k].labels) {
        if (Contains(needed, label) && !Contains(labels, label)) labels += label;
      }
    }
    product = {Contract(product, terms[k], labels), labels};
  }
  if (terms.size() > 1) return product.tensor;
  return Arrange(SumLabels(product, parsed->result), parsed->result);
}

GraphBuilder::Tensor GraphBuilder::MatMul(Tensor a, Tensor b) {
  if (!Usable("matmul", {a, b})) return {};
  const std::string types = absl::StrCat("operands ", Type(a), " and ", Type(b));
  if (dtype(a) != dtype(b) || dtype(a) == DType::kBool) {
    return Fail("matmul", absl::StrCat(types, ": both must be numbers of one dtype"));
  }
  const int rank_a = rank(a), rank_b = rank(b);
  if (rank_a == 0 || rank_b == 0) {
    return Fail("matmul", absl::StrCat(types, ": both must have at least one axis"));
  }
  const IndexExpr& k_a = dims(a)[rank_a - 1];
  const IndexExpr& k_b = dims(b)[rank_b == 1 ? 0 : rank_b - 2];
  if (!ranges().ProveEq(k_a, k_b)) {
    return Fail(
        "matmul",
        absl::StrCat(types, ": the inner sizes ", k_a.ToString(), " and ", k_b.ToString(),
                     k_a.IsConst() && k_b.IsConst() ? " differ" : " are not known to be equal"));
  }
  const int batch_a = std::max(rank_a - 2, 0), batch_b = std::max(rank_b - 2, 0);
  const int batch = std::max(batch_a, batch_b);
  if (batch > static_cast<int>(kBatchLabels.size())) return Fail("matmul", "too many batch axes");
  const auto batch_dims = [&](Tensor x, int n) {
    return Dims(dims(x).begin(), dims(x).begin() + n);
  };
  const auto broadcast = BroadcastDims(batch_dims(a, batch_a), batch_dims(b, batch_b), ranges());
  if (!broadcast.ok()) {
    return Fail("matmul", absl::StrCat(types, ": batch ", broadcast.status().message()));
  }
  std::string labels(kBatchLabels.substr(0, batch));
  std::map<char, IndexExpr> sizes = {{'m', 1}, {'k', k_a}, {'n', 1}};
  for (int d = 0; d < batch; ++d) sizes[labels[d]] = (*broadcast)[d];
  const Labelled left = {a, labels.substr(batch - batch_a) + (rank_a == 1 ? "k" : "mk")};
  const Labelled right = {b, labels.substr(batch - batch_b) + (rank_b == 1 ? "k" : "kn")};
  const Labelled left_batch = DropUnitDims(left, sizes);
  const std::string result = labels + (rank_a == 1 ? "" : "m") + (rank_b == 1 ? "" : "n");
  return Contract(left_batch, DropUnitDims(right, sizes), result);
}

}  // namespace stax
