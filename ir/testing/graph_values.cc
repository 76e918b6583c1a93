#include "ir/testing/graph_values.h"

#include "gtest/gtest.h"
#include "ir/graph_interpreter.h"
#include "ir/scalar.h"

namespace stax {

Bytes Pack(DType type, const std::vector<double>& values) {
  Bytes bytes(values.size() * DTypeBytes(type));
  for (size_t i = 0; i < values.size(); ++i) {
    StoreScalar(Scalar::FromDouble(type, values[i]), bytes.data() + i * DTypeBytes(type));
  }
  return bytes;
}

std::vector<double> Unpack(DType type, const Bytes& bytes) {
  std::vector<double> values;
  for (size_t at = 0; at < bytes.size(); at += DTypeBytes(type)) {
    const Scalar s = LoadScalar(type, bytes.data() + at);
    values.push_back(IsFloat(type) ? s.f : static_cast<double>(s.i));
  }
  return values;
}

GraphBuilder::Tensor Values(GraphBuilder& b, DType type, const std::vector<int64_t>& dims,
                            const std::vector<double>& values) {
  return b.Constant(type, Dims(dims.begin(), dims.end()), Pack(type, values));
}

std::vector<double> Evaluate(GraphBuilder& b, GraphBuilder::Tensor x,
                             const std::map<std::string, int64_t>& sizes,
                             const std::map<std::string, Bytes>& inputs) {
  b.Output("result", x);
  const absl::StatusOr<Graph> graph = b.Build();
  EXPECT_TRUE(graph.ok()) << graph.status();
  if (!graph.ok()) return {};
  const auto outputs = InterpretGraph(*graph, sizes, inputs);
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  if (!outputs.ok()) return {};
  return Unpack(b.dtype(x), outputs->at("result"));
}

}  // namespace stax
