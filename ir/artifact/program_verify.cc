#include "ir/artifact/program_verify.h"

#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "ir/artifact/kernel_verify.h"
#include "ir/dtype.h"
#include "ir/index_expr.h"
#include "ir/loop_nest.h"

namespace stax {
namespace {

// That of ONNX's models is at most half of it.
constexpr int kMaxRank = 64;

absl::Status Error(absl::string_view what) { return absl::InvalidArgumentError(what); }

// What is known of a buffer once it is checked.
struct BufferFacts {
  DType dtype = DType::kF32;
  int64_t bytes = 0;         // at the hints
  bool is_constant = false;  // its size
  bool bound = false;        // an input or output of the program gives its memory
  bool filled = false;       // has content at this point of the program
};

class Verifier {
 public:
  explicit Verifier(const Program& program) : program_(program) {}

  absl::Status Run() {
    if (absl::Status s = Head(); !s.ok()) return s;
    for (int b = 0; b < program_.buffers_size(); ++b)
      if (absl::Status s = BufferAt(b); !s.ok())
        return Error(absl::StrCat(BufferText(b), ": ", s.message()));
    for (int k = 0; k < program_.kernels_size(); ++k) {
      absl::StatusOr<LoopNest> nest = VerifyKernel(program_.kernels(k), program_.target(), sizes_);
      if (!nest.ok())
        return Error(absl::StrCat("kernel ", k, " '", program_.kernels(k).name(),
                                  "': ", nest.status().message()));
      nests_.push_back(*std::move(nest));
    }
    if (absl::Status s = Interface(); !s.ok()) return s;
    for (int l = 0; l < program_.launches_size(); ++l)
      if (absl::Status s = LaunchAt(program_.launches(l)); !s.ok())
        return Error(absl::StrCat("launch ", l, ": ", s.message()));
    return OutputsAreFilled();
  }

 private:
  absl::Status Head() {
    const std::string& kind = program_.target().kind();
    if (kind != "cpu" && kind != "cuda")
      return Error(absl::StrCat("its target is '", kind, "', expected cpu or cuda"));
    for (const SizeSymbolProto& symbol : program_.symbols()) {
      const absl::StatusOr<IndexExpr> name = IndexExpr::Parse(symbol.name());
      if (!name.ok() || name->AsVar() != symbol.name())
        return Error(absl::StrCat("size '", symbol.name(), "' is no name"));
      if (symbol.lower() < 0 || symbol.lower() > symbol.hint() || symbol.hint() > symbol.upper())
        return Error(absl::StrCat("size ", symbol.name(),
                                  ": expected 0 <= lower <= hint <= upper, got ", symbol.lower(),
                                  ", ", symbol.hint(), ", ", symbol.upper()));
      if (!sizes_.symbols.insert({symbol.name(), symbol}).second)
        return Error(absl::StrCat("size ", symbol.name(), " is declared twice"));
      sizes_.hints[symbol.name()] = symbol.hint();
    }
    return absl::OkStatus();
  }

  std::string BufferText(int b) const {
    return absl::StrCat("buffer ", b, " '", program_.buffers(b).name(), "'");
  }

  absl::Status BufferAt(int b) {
    const Buffer& buffer = program_.buffers(b);
    if (buffer.kind() < Buffer::INPUT || buffer.kind() > Buffer::TEMPORARY)
      return Error(absl::StrCat("is of the unknown kind ", static_cast<int>(buffer.kind())));
    absl::StatusOr<BufferFacts> facts = Shape(buffer);
    if (!facts.ok()) return facts.status();
    const absl::StatusOr<int64_t> stated = SizeAtHints(buffer.size_bytes(), sizes_);
    if (!stated.ok()) return Error(absl::StrCat("size: ", stated.status().message()));
    if (*stated != facts->bytes)
      return Error(
          absl::StrCat("its size is given as ", *stated, " bytes, its shape has ", facts->bytes));
    if (absl::Status s = Content(buffer, *facts); !s.ok()) return s;
    facts->filled = buffer.kind() == Buffer::CONSTANT;
    facts_.push_back(*facts);
    return absl::OkStatus();
  }

  absl::StatusOr<BufferFacts> Shape(const Buffer& buffer) const {
    BufferFacts facts;
    const absl::StatusOr<DType> dtype = ParseDType(buffer.dtype());
    if (!dtype.ok()) return Error(dtype.status().message());
    facts.dtype = *dtype;
    if (buffer.dims_size() > kMaxRank)
      return Error(absl::StrCat("has ", buffer.dims_size(), " dimensions, at most ", kMaxRank,
                                " are supported"));
    facts.bytes = DTypeBytes(*dtype);
    facts.is_constant = true;
    bool empty = false;
    for (const std::string& text : buffer.dims()) {
      const absl::StatusOr<IndexExpr> dim = IndexExpr::Parse(text);
      if (!dim.ok()) return dim.status();
      const absl::StatusOr<int64_t> size = SizeAtHints(*dim, sizes_);
      if (!size.ok()) return size.status();
      facts.is_constant &= dim->IsConst();
      empty |= *size == 0;
      if (*size != 0 && __builtin_mul_overflow(facts.bytes, *size, &facts.bytes))
        return Error("is too large");
    }
    if (empty) facts.bytes = 0;
    return facts;
  }

  static absl::Status Content(const Buffer& buffer, const BufferFacts& facts) {
    const std::pair<bool, const std::string*> contents[] = {
        {buffer.kind() == Buffer::CONSTANT, &buffer.data()},
        {buffer.kind() == Buffer::INPUT && buffer.is_specialised(), &buffer.required_value()}};
    for (const auto& [needed, data] : contents) {
      if (!needed && !data->empty())
        return Error("has data, but is neither a constant nor an input with a required value");
      if (!needed) continue;
      if (!facts.is_constant && buffer.kind() == Buffer::CONSTANT)
        return Error("has data, but no constant shape");
      // A required value fixes the size symbols in its shape: the executor looks at it.
      if (!facts.is_constant) continue;
      if (static_cast<int64_t>(data->size()) != facts.bytes)
        return Error(
            absl::StrCat("has ", data->size(), " bytes of data, its shape has ", facts.bytes));
    }
    return absl::OkStatus();
  }

  absl::Status IsBuffer(int b) const {
    if (b >= 0 && b < program_.buffers_size()) return absl::OkStatus();
    return Error(
        absl::StrCat("there is no buffer ", b, ", the program has ", program_.buffers_size()));
  }

  // Inputs and outputs: what memory the caller gives.
  absl::Status Interface() {
    for (int i = 0; i < program_.inputs_size(); ++i) {
      const int b = program_.inputs(i);
      if (absl::Status s = IsBuffer(b); !s.ok())
        return Error(absl::StrCat("input ", i, ": ", s.message()));
      if (program_.buffers(b).kind() != Buffer::INPUT || facts_[b].bound)
        return Error(absl::StrCat("input ", i, ": ", BufferText(b), " is ",
                                  facts_[b].bound ? "an input twice" : "of another kind"));
      facts_[b].bound = facts_[b].filled = true;
    }
    for (const Output& output : program_.outputs()) {
      const int b = output.buffer();
      const auto error = [&](absl::string_view what) {
        return Error(absl::StrCat("output '", output.name(), "': ", what));
      };
      if (absl::Status s = IsBuffer(b); !s.ok()) return error(s.message());
      // Its memory is given to others after its last use.
      if (program_.buffers(b).kind() == Buffer::TEMPORARY)
        return error(absl::StrCat(BufferText(b), " is a temporary"));
      if (program_.buffers(b).kind() == Buffer::OUTPUT) facts_[b].bound = true;
    }
    return absl::OkStatus();
  }

  absl::Status LaunchAt(const Launch& launch) {
    if (launch.kernel() < 0 || launch.kernel() >= program_.kernels_size())
      return Error(absl::StrCat("there is no kernel ", launch.kernel(), ", the program has ",
                                program_.kernels_size()));
    const LoopNest& nest = nests_[launch.kernel()];
    if (launch.buffers_size() != static_cast<int>(nest.buffers.size()))
      return Error(absl::StrCat("gives kernel '", program_.kernels(launch.kernel()).name(), "' ",
                                launch.buffers_size(), " buffers, it takes ", nest.buffers.size()));
    std::set<int> read, written;
    for (int i = 0; i < launch.buffers_size(); ++i) {
      const int b = launch.buffers(i);
      if (absl::Status s = IsBuffer(b); !s.ok()) return s;
      if (absl::Status s = Argument(b, nest.buffers[i]); !s.ok())
        return Error(absl::StrCat(BufferText(b), " as ", nest.buffers[i].name, ": ", s.message()));
      const bool again = !(nest.buffers[i].written ? written : read).insert(b).second;
      if ((again && nest.buffers[i].written) || (read.count(b) > 0 && written.count(b) > 0))
        return Error(absl::StrCat("writes ", BufferText(b), ", which it uses a second time"));
    }
    for (int b : written) facts_[b].filled = true;
    return absl::OkStatus();
  }

  // What buffer b must be to stand for `formal`.
  absl::Status Argument(int b, const NestBuffer& formal) const {
    const BufferFacts& facts = facts_[b];
    const Buffer::Kind kind = program_.buffers(b).kind();
    if (facts.dtype != formal.dtype)
      return Error(absl::StrCat("is of type ", program_.buffers(b).dtype(), ", the kernel takes ",
                                std::string(DTypeName(formal.dtype))));
    if (kind != Buffer::CONSTANT && kind != Buffer::TEMPORARY && !facts.bound)
      return Error("is no input or output of the program, so nothing gives its memory");
    if (formal.written && kind != Buffer::OUTPUT && kind != Buffer::TEMPORARY)
      return Error("is written, but is an input or a constant");
    if (!formal.written && !facts.filled && facts.bytes > 0)
      return Error("is read before anything was written to it");
    const absl::StatusOr<int64_t> elements = SizeAtHints(formal.numel, sizes_);
    if (!elements.ok()) return elements.status();
    if (*elements > facts.bytes / DTypeBytes(facts.dtype))
      return Error(absl::StrCat("has ", facts.bytes / DTypeBytes(facts.dtype),
                                " elements, the kernel takes ", *elements));
    return absl::OkStatus();
  }

  absl::Status OutputsAreFilled() const {
    for (const Output& output : program_.outputs()) {
      const BufferFacts& facts = facts_[output.buffer()];
      if (!facts.filled && facts.bytes > 0)
        return Error(absl::StrCat("output '", output.name(), "': nothing writes ",
                                  BufferText(output.buffer())));
    }
    for (const TuningRecord& record : program_.tuning())
      if (record.kernel() < 0 || record.kernel() >= program_.kernels_size())
        return Error(absl::StrCat("a tuning record is of kernel ", record.kernel(),
                                  ", the program has ", program_.kernels_size()));
    return absl::OkStatus();
  }

  const Program& program_;
  ProgramSizes sizes_;
  std::vector<BufferFacts> facts_;  // one a buffer
  std::vector<LoopNest> nests_;     // one a kernel
};

}  // namespace

absl::Status VerifyProgram(const Program& program) { return Verifier(program).Run(); }

absl::Status VerifyDevice(const DeviceSpec& device) {
  const std::pair<const char*, double> numbers[] = {
      {"dram_read_bytes_per_s", device.dram_read_bytes_per_s()},
      {"dram_write_bytes_per_s", device.dram_write_bytes_per_s()},
      {"dram_copy_bytes_per_s", device.dram_copy_bytes_per_s()},
      {"latency_ns", device.latency_ns()},
      {"f32_flops_per_s", device.f32_flops_per_s()},
      {"launch_ns", device.launch_ns()}};
  for (const auto& [name, value] : numbers)
    if (!(value >= 0) || std::isinf(value))
      return Error(absl::StrCat(name, " is ", value, ", expected a number from 0"));
  return absl::OkStatus();
}

}  // namespace stax
