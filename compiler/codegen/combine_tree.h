// CombineTree: combines neighbours until one is left, log2(n) steps in sequence instead of n.
#ifndef STAX_COMPILER_CODEGEN_COMBINE_TREE_H_
#define STAX_COMPILER_CODEGEN_COMBINE_TREE_H_

#include <cstddef>
#include <utility>
#include <vector>

namespace stax {

// `values` must not be empty; T combine(const T&, const T&).
template <typename T, typename F>
T CombineTree(std::vector<T> values, const F& combine) {
  while (values.size() > 1) {
    std::vector<T> half;
    for (size_t i = 0; i + 1 < values.size(); i += 2)
      half.push_back(combine(values[i], values[i + 1]));
    if (values.size() % 2 != 0) half.push_back(values.back());
    values = std::move(half);
  }
  return values[0];
}

}  // namespace stax

#endif  // STAX_COMPILER_CODEGEN_COMBINE_TREE_H_
