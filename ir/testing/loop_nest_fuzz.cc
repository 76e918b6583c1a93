// Fuzz target for the text of loop nests. Whatever the text: no crash, and errors are
// InvalidArgument. What parses prints to a text that parses to the same; what verifies executes
// without an access outside its buffers, which tests the proofs about indices as well.
//
// The gtest beside this runs it on mutations of good texts; with libFuzzer (all of //ir but its
// tests compiled with clang -fsanitize=fuzzer,address, this file linked in) it explores on its own.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ir/check.h"
#include "ir/interpreter.h"
#include "ir/loop_nest.h"
#include "ir/testing/random_nest.h"

namespace stax {
namespace {

// Executing costs points times ops; larger nests are left alone.
constexpr int64_t kMaxPoints = 1000;
constexpr size_t kMaxOps = 100;
constexpr int64_t kMaxElements = 10000;

bool IsCheap(const LoopNest& nest, const std::map<std::string, int64_t>& sizes) {
  if (nest.body.size() > kMaxOps) return false;
  int64_t points = 1;
  for (const LoopDim& d : nest.dims) {
    const absl::StatusOr<int64_t> extent = d.extent.Evaluate(sizes);
    if (!extent.ok() || *extent > kMaxPoints) return false;
    points *= *extent;
    if (points > kMaxPoints) return false;
  }
  for (const NestBuffer& b : nest.buffers) {
    const absl::StatusOr<int64_t> numel = b.numel.Evaluate(sizes);
    if (!numel.ok() || *numel < 0 || *numel > kMaxElements) return false;
  }
  return true;
}

// A verified nest. Data decides whether scatters write twice; overflows and divisors are not
// proved; masks may be wrong.
void CheckExecution(LoopNest nest) {
  const std::map<std::string, int64_t> sizes = RandomSizes(nest, nest.body.size());
  if (!IsCheap(nest, sizes)) return;
  auto memory = RandomInputs(nest, sizes, nest.body.size());
  absl::Status status = Interpret(nest, sizes, memory);
  STAX_CHECK(!absl::IsInternal(status), status.ToString() + "\n" + ToText(nest));
  // Without masked loads all accesses are proved to be inside.
  for (LoopOp& op : nest.body) {
    if (op.code != OpCode::kLoad || op.operands.empty()) continue;
    op.code = OpCode::kConst;
    op.literal = Scalar::FromDouble(op.dtype, 0);
    op.operands.clear();
  }
  status = Interpret(nest, sizes, memory);
  STAX_CHECK(!absl::IsInternal(status) && !absl::IsOutOfRange(status),
             status.ToString() + "\n" + ToText(nest));
}

void CheckText(std::string_view text) {
  const absl::StatusOr<LoopNest> nest = ParseLoopNest(text);
  if (!nest.ok()) {
    STAX_CHECK(absl::IsInvalidArgument(nest.status()), nest.status().ToString());
    return;
  }
  const std::string printed = ToText(*nest);
  const absl::StatusOr<LoopNest> again = ParseLoopNest(printed);
  STAX_CHECK(again.ok(), again.status().ToString() + "\n" + printed);
  STAX_CHECK(ToText(*again) == printed, printed);
  if (Verify(*nest).ok()) CheckExecution(*nest);
}

}  // namespace
}  // namespace stax

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  stax::CheckText(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
