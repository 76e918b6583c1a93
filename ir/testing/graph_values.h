// For tests: tensors as lists of numbers, and graphs run on them.
#ifndef STAX_IR_TESTING_GRAPH_VALUES_H_
#define STAX_IR_TESTING_GRAPH_VALUES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/dtype.h"
#include "ir/graph_builder.h"
#include "ir/interpreter.h"

namespace stax {

// Elements of `type`, converted from doubles (exact for the values tests use), and back.
Bytes Pack(DType type, const std::vector<double>& values);
std::vector<double> Unpack(DType type, const Bytes& bytes);

// A constant with these elements.
GraphBuilder::Tensor Values(GraphBuilder& b, DType type, const std::vector<int64_t>& dims,
                            const std::vector<double>& values);

// Makes `x` the only output, builds the graph and interprets it. A failure fails the test.
std::vector<double> Evaluate(GraphBuilder& b, GraphBuilder::Tensor x,
                             const std::map<std::string, int64_t>& sizes = {},
                             const std::map<std::string, Bytes>& inputs = {});

}  // namespace stax

#endif  // STAX_IR_TESTING_GRAPH_VALUES_H_
