#include "tests/fuzz/envelope.h"

#include <cstdint>
#include <iterator>

#include "ir/artifact/content_hash.h"
#include "ir/artifact/testing/sample_programs.h"
#include "runtime/shapes.h"

namespace stax {
namespace {

// Of sizes: ordinary ones, those that are small or negative for some n, and those without a value.
constexpr const char* kFormulas[] = {"0",
                                     "1",
                                     "8",
                                     "n",
                                     "8*n",
                                     "n*n",
                                     "-n",
                                     "n - 65",
                                     "n - 2",
                                     "2*n - 64",
                                     "floordiv(n*n, 64)",
                                     "floordiv(n, 32)",
                                     "floordiv(n, n - 64)",
                                     "floordiv(8, n - 2)",
                                     "mod(n, 0)",
                                     "mod(n, 64)",
                                     "9223372036854775807",
                                     "4611686018427387904*n",
                                     "2305843009213693952*n*n",
                                     "m",
                                     "n + m",
                                     "(("};

}  // namespace

std::string Envelope(ArtifactKind kind, std::string_view payload) {
  const uint64_t checksum = Checksum(payload);
  std::string file = "STAXART";
  file.push_back(static_cast<char>(kind));
  file.append(reinterpret_cast<const char*>(&checksum), sizeof(checksum));
  return file.append(payload);
}

std::vector<std::string> ProgramSeeds() {
  return {SerializeDeterministically(SymbolicSampleProgram()),
          SerializeDeterministically(TunedSampleProgram())};
}

std::vector<std::string> ProgramTexts() {
  std::vector<std::string> texts = {"1024 - XBLOCK",
                                    "floordiv(8, XBLOCK - 4)",
                                    "i64",
                                    "bool",
                                    "f16",
                                    "size n in [2, 4096] hint 64",
                                    "buffer x: f32[4096*n] in",
                                    "f32[9223372036854775807]",
                                    "loop i0: 4611686018427387904"};
  texts.insert(texts.end(), std::begin(kFormulas), std::end(kFormulas));
  for (const Program& program : {SymbolicSampleProgram(), TunedSampleProgram()})
    for (const std::string& text : TextsOf(program)) texts.push_back(text);
  return texts;
}

void ChangeShape(std::mt19937_64& random, Program* program) {
  if (program->buffers().empty()) return;
  Buffer& buffer = *program->mutable_buffers(random() % program->buffers_size());
  if (buffer.dims().empty()) return;
  buffer.set_dims(random() % buffer.dims_size(), kFormulas[random() % std::size(kFormulas)]);
}

void RepairSizes(Program* program) {
  // Data that a search may add.
  constexpr int64_t kMaxData = 4096;
  SizeMap hints;
  for (const SizeSymbolProto& symbol : program->symbols()) hints[symbol.name()] = symbol.hint();
  for (Buffer& buffer : *program->mutable_buffers()) {
    const absl::StatusOr<BufferShape> shape = ParseBufferShape(buffer);
    if (!shape.ok()) continue;
    const absl::StatusOr<std::vector<int64_t>> dims = shape->Evaluate(hints);
    if (!dims.ok()) continue;
    const absl::StatusOr<int64_t> bytes = ByteSize(shape->dtype, *dims);
    if (!bytes.ok()) continue;
    buffer.mutable_size_bytes()->set_number_value(static_cast<double>(*bytes));
    if (buffer.kind() == Buffer::CONSTANT && *bytes <= kMaxData)
      buffer.mutable_data()->resize(*bytes);
    if (buffer.is_specialised() && *bytes <= kMaxData)
      buffer.mutable_required_value()->resize(*bytes);
  }
}

}  // namespace stax
