// The ONNX frontend: a serialized ModelProto becomes a Graph of primitive operators.
//
//   OnnxOptions options;
//   options.dim_hints["batch"] = 32;
//   absl::StatusOr<Graph> graph = GraphFromOnnx(bytes_of("model.onnx"), options);
//
// Operator sets 7 to 17 (6 and 18 to 20 as far as docs/onnx.md says), each operator with
// the meaning its set gives it. Operators are taken apart into primitives here, so nothing later
// knows ONNX. Integer tensors made from shapes are computed while translating, as expressions over
// the size symbols, so symbolic sizes flow through Shape, Gather, Concat ... into Reshape and
// Slice.
//
// Sizes. A dim with a dim_param is the size symbol of that name; a dim with neither value nor name
// becomes the symbol "<input>_<axis>". Characters outside [A-Za-z0-9_] become '_', and a name that
// is taken, or that loop variables use (i0, r0, t0), gets a suffix. Symbols run from 2 to
// kDefaultDimUpper[number of symbols of the model], so that products of sizes stay inside int64.
#ifndef STAX_COMPILER_FRONTEND_ONNX_H_
#define STAX_COMPILER_FRONTEND_ONNX_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/onnx_tensor.h"
#include "ir/graph.h"

namespace stax {

// Upper bound of a symbol by the number of symbols in the model (1, 2, 3, 4 and more). Chosen so
// that the bytes of what occurs in practice stay below 2^62, where index arithmetic is sure not to
// overflow: with two symbols batch x 32 heads x length^2, with more of them four different sizes.
inline constexpr int64_t kDefaultDimUpper[] = {int64_t{1} << 20, int64_t{1} << 17, int64_t{1} << 16,
                                               int64_t{1} << 14};
inline constexpr int64_t kDefaultDimHint = 64;

struct OnnxDimRange {
  int64_t lower = 2;
  int64_t upper = kDefaultDimUpper[0];
};

struct OnnxOptions {
  // Values of inputs, by name, that the graph may be specialised on. Used only where a shape
  // depends on them (the shape of a Reshape, the starts of a Slice); such inputs are listed in
  // Graph::specialised and checked when the program runs. May hold all inputs.
  std::map<std::string, OnnxValue> known_inputs;
  // By symbol, or by the dim_param it comes from.
  std::map<std::string, int64_t> dim_hints;
  std::map<std::string, OnnxDimRange> dim_ranges;
  // Fixed dims of inputs, by name; needed for inputs whose rank the model leaves open.
  std::map<std::string, std::vector<int64_t>> input_dims;
};

// Unimplemented: an operator, attribute or type that Stax does not have; the message starts with
//   "operator ConvTranspose (ai.onnx 11)". InvalidArgument: the model or an option is wrong; the
//   message names node, input, what is wrong and what would be right. FailedPrecondition: a shape
//   depends on the value of an input; the message names the input to put into known_inputs.
absl::StatusOr<Graph> GraphFromOnnx(std::string_view model_bytes, const OnnxOptions& options = {});

// Names of the inputs that a caller gives (initialisers are not among them), in the model's order,
// which is the order of Graph::inputs.
absl::StatusOr<std::vector<std::string>> OnnxInputNames(std::string_view model_bytes);

// The operators of domain ai.onnx that are supported, sorted. (If is one when its condition is
// known.)
std::vector<std::string> OnnxOperatorNames();

}  // namespace stax

#endif  // STAX_COMPILER_FRONTEND_ONNX_H_
