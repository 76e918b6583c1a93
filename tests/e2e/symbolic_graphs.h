// Graphs with a symbolic batch and sequence length, for the tests of the whole flow.
#ifndef STAX_TESTS_E2E_SYMBOLIC_GRAPHS_H_
#define STAX_TESTS_E2E_SYMBOLIC_GRAPHS_H_

namespace stax {

struct SymbolicGraph {
  const char* name;
  const char* text;
};

// Every one has the symbols "batch" and "seq".
inline constexpr SymbolicGraph kSymbolicGraphs[] = {
    {"Rows", R"(
        symbol { name: "batch" } symbol { name: "seq" }
        input { name: "x" dtype: "f32" dims: "batch" dims: "seq" }
        input { name: "mask" dtype: "f32" dims: "seq" }
        node { op: "add" input: "x" input: "mask" output: "masked" }
        node { op: "softmax" input: "masked" output: "p" axes: -1 }
        node { op: "layer_norm" input: "masked" output: "normed" axes: -1 }
        node { op: "add" input: "p" input: "normed" output: "y" }
        node { op: "sum" input: "x" output: "row_sums" axes: 1 }
        node { op: "mean" input: "y" output: "column_means" axes: 0 }
        node { op: "reduce_max" input: "x" output: "largest" }
        node { op: "argmin" input: "x" output: "where_smallest" axes: 1 }
        output: "y" output: "row_sums" output: "column_means" output: "largest"
        output: "where_smallest")"},
    {"Tokens", R"(
        symbol { name: "batch" } symbol { name: "seq" }
        input { name: "x" dtype: "f32" dims: "batch" dims: "seq" dims: "6" }
        input { name: "residual" dtype: "f32" dims: "batch" dims: "seq" dims: "6" }
        input { name: "scale" dtype: "f32" dims: "6" }
        input { name: "bias" dtype: "f32" dims: "6" }
        node { op: "add" input: "x" input: "residual" output: "h" }
        node { op: "layer_norm" input: "h" input: "scale" input: "bias" output: "y" axes: -1 }
        node { op: "mean" input: "y" output: "pooled" axes: 1 }
        node { op: "softmax" input: "h" output: "over_tokens" axes: 1 }
        node { op: "log_sum_exp" input: "over_tokens" output: "z" axes: 0 }
        output: "y" output: "pooled" output: "z")"},
    {"Movement", R"(
        symbol { name: "batch" } symbol { name: "seq" }
        input { name: "x" dtype: "f32" dims: "batch" dims: "seq" dims: "2" }
        node { op: "reshape" input: "x" output: "flat" dims: "batch*seq" dims: "2" }
        node { op: "sum" input: "flat" output: "sums" axes: 0 }
        node { op: "transpose" input: "x" output: "t" axes: 1 axes: 2 axes: 0 }
        node { op: "relu" input: "t" output: "r" }
        node { op: "concat" input: "r" input: "t" output: "c" axes: 0 }
        node { op: "cum_sum" input: "x" output: "running" axes: 1 }
        output: "sums" output: "c" output: "running")"},
    {"Matmul", R"(
        symbol { name: "batch" } symbol { name: "seq" }
        input { name: "x" dtype: "f32" dims: "batch" dims: "seq" dims: "4" }
        input { name: "w" dtype: "f32" dims: "4" dims: "5" }
        input { name: "mix" dtype: "f32" dims: "3" dims: "seq" }
        input { name: "b" dtype: "f32" dims: "5" }
        node { op: "matmul" input: "x" input: "w" output: "m" }
        node { op: "add" input: "m" input: "b" output: "a" }
        node { op: "gelu" input: "a" output: "y" }
        node { op: "matmul" input: "mix" input: "x" output: "mixed" }
        output: "y" output: "mixed")"},
};

}  // namespace stax

#endif  // STAX_TESTS_E2E_SYMBOLIC_GRAPHS_H_
