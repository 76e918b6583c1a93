// Text form of LoopNest: printer and parser. One declaration or op a line; '#' starts a comment.
//
//   nest NAME {
//     size SYMBOL in [LOWER, UPPER] hint HINT
//     buffer NAME: DTYPE[NUMEL] in|out
//     loop NAME: EXTENT              reduce NAME: EXTENT
//     %0 = const LITERAL : DTYPE     %1 = index EXPR : DTYPE
//     %2 = load BUFFER[EXPR] : DTYPE
//     %3 = load BUFFER[EXPR] if %MASK : DTYPE
//     %4 = indirect %2 : EXTENT      (always i64)
//     %5 = OP %2, %3 : DTYPE         %6 = reduce.KIND %5 : DTYPE
//     store BUFFER[EXPR], %6
//   }
//
// Declarations come before the ops that use them. The number of a value is the position of its op
// in the body; stores take a position too, but have no value.
#include <charconv>
#include <map>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ir/loop_nest.h"

namespace stax {
namespace {

// Limits on what the parser takes, so that hostile text is refused in bounded time and memory.
// Fused nests of real models stay two orders of magnitude below.
constexpr size_t kMaxTextBytes = 16 << 20;
constexpr size_t kMaxOps = 100000;
constexpr size_t kMaxBuffers = 4096;
constexpr size_t kMaxDims = 64;
constexpr size_t kMaxSymbols = 256;
constexpr size_t kMaxExprBytes = 16384;

absl::string_view ToAbsl(std::string_view s) { return {s.data(), s.size()}; }
std::string_view ToStd(absl::string_view s) { return {s.data(), s.size()}; }

void AppendValue(ValueId id, std::string* out) { absl::StrAppend(out, "%", id); }

void AppendAccess(const LoopNest& nest, const LoopOp& op, std::string* out) {
  absl::StrAppend(out, nest.buffers[op.buffer].name, "[", op.index.ToString(), "]");
}

void AppendOp(const LoopNest& nest, ValueId id, std::string* out) {
  const LoopOp& op = nest.body[id];
  if (op.code == OpCode::kStore) {
    out->append("store ");
    AppendAccess(nest, op, out);
    out->append(", ");
    AppendValue(op.operands[0], out);
    return;
  }
  AppendValue(id, out);
  absl::StrAppend(out, " = ", ToAbsl(OpName(op.code)));
  if (op.code == OpCode::kReduce) absl::StrAppend(out, ".", ToAbsl(ReduceName(op.reduce)));
  out->append(" ");
  if (op.code == OpCode::kConst) out->append(ToText(op.literal));
  if (op.code == OpCode::kIndex) out->append(op.index.ToString());
  if (op.code == OpCode::kLoad) {
    AppendAccess(nest, op, out);
    if (!op.operands.empty()) out->append(" if ");
  }
  for (size_t k = 0; k < op.operands.size(); ++k) {
    if (k > 0) out->append(", ");
    AppendValue(op.operands[k], out);
  }
  out->append(" : ");
  if (op.code == OpCode::kIndirect) {
    out->append(op.index.ToString());
  } else {
    out->append(ToAbsl(DTypeName(op.dtype)).data(), DTypeName(op.dtype).size());
  }
}

// Reads one line from left to right. Every method skips blanks first and, where it fails, returns
// InvalidArgument with "line:column: expected ...".
class LineReader {
 public:
  LineReader(std::string_view line, int number) : line_(line), number_(number) {
    line_ = line_.substr(0, line_.find('#'));
    while (!line_.empty() && IsBlank(line_.back())) line_.remove_suffix(1);
  }

  bool AtEnd() {
    while (position_ < line_.size() && IsBlank(line_[position_])) ++position_;
    return position_ == line_.size();
  }

  bool Accept(std::string_view token) {
    AtEnd();
    if (line_.substr(position_, token.size()) != token) return false;
    position_ += token.size();
    return true;
  }

  // Like Accept for a whole word: "in" is not taken from "input".
  bool AcceptWord(std::string_view word) {
    const size_t start = Here();
    if (AcceptName() == word) return true;
    position_ = start;
    return false;
  }

  absl::Status Expect(std::string_view token) {
    if (Accept(token)) return absl::OkStatus();
    return Expected(absl::StrCat("'", ToAbsl(token), "'"));
  }

  absl::Status ExpectWord(std::string_view word) {
    if (AcceptWord(word)) return absl::OkStatus();
    return Expected(absl::StrCat("'", ToAbsl(word), "'"));
  }

  absl::Status ExpectEnd() {
    if (AtEnd()) return absl::OkStatus();
    return Expected("end of line");
  }

  // [A-Za-z_][A-Za-z0-9_.]*; empty if there is none.
  std::string_view AcceptName() {
    AtEnd();
    size_t end = position_;
    while (end < line_.size() && IsNameChar(line_[end], end == position_)) ++end;
    return Take(end);
  }

  absl::StatusOr<std::string> Name(std::string_view what) {
    std::string_view name = AcceptName();
    if (name.empty()) return Expected(what);
    return std::string(name);
  }

  absl::StatusOr<int64_t> Integer() {
    AtEnd();
    int64_t value = 0;
    const char* begin = line_.data() + position_;
    const std::from_chars_result parsed =
        std::from_chars(begin, line_.data() + line_.size(), value);
    if (parsed.ec != std::errc()) return Expected("an integer");
    position_ += parsed.ptr - begin;
    return value;
  }

  absl::StatusOr<DType> Type() {
    const size_t start = Here();
    absl::StatusOr<DType> type = ParseDType(AcceptName());
    if (!type.ok()) return At(start, ToStd(type.status().message()));
    return type;
  }

  // The expression up to the first `close`, or up to the end of the line if `close` is 0.
  absl::StatusOr<IndexExpr> Expr(char close) {
    const size_t start = Here();
    const size_t end = close == 0 ? line_.size() : line_.find(close, start);
    if (end == std::string_view::npos)
      return At(start, absl::StrCat("expected '", std::string(1, close), "' after the expression"));
    if (end - start > kMaxExprBytes) return At(start, "index expression is too long");
    absl::StatusOr<IndexExpr> expr = IndexExpr::Parse(Take(end));
    if (!expr.ok()) return At(start, ToStd(expr.status().message()));
    return expr;
  }

  // The text up to the last ':' of the line, for literals.
  std::string_view UpToColon() {
    size_t end = line_.rfind(':');
    if (end == std::string_view::npos || end < Here()) end = line_.size();
    std::string_view text = Take(end);
    while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
    return text;
  }

  // Offset of the next token.
  size_t Here() {
    AtEnd();
    return position_;
  }

  absl::Status At(size_t offset, std::string_view message) const {
    return absl::InvalidArgumentError(
        absl::StrCat(number_, ":", offset + 1, ": ", ToAbsl(message)));
  }

  absl::Status Expected(std::string_view what) {
    const size_t start = Here();
    std::string_view got = line_.substr(start, 24);
    return At(start,
              absl::StrCat("expected ", ToAbsl(what), ", got ",
                           got.empty() ? "end of line" : absl::StrCat("'", ToAbsl(got), "'")));
  }

 private:
  static bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
  static bool IsNameChar(char c, bool first) {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_') return true;
    return !first && ((c >= '0' && c <= '9') || c == '.');
  }

  std::string_view Take(size_t end) {
    std::string_view text = line_.substr(position_, end - position_);
    position_ = end;
    return text;
  }

  std::string_view line_;
  int number_;
  size_t position_ = 0;
};

#define STAX_TEXT_ASSIGN(target, expression)        \
  do {                                              \
    auto status_or = (expression);                  \
    if (!status_or.ok()) return status_or.status(); \
    (target) = *std::move(status_or);               \
  } while (false)

#define STAX_TEXT_RETURN_IF_ERROR(expression) \
  do {                                        \
    absl::Status status = (expression);       \
    if (!status.ok()) return status;          \
  } while (false)

class Parser {
 public:
  absl::StatusOr<LoopNest> Parse(std::string_view text) {
    if (text.size() > kMaxTextBytes)
      return absl::InvalidArgumentError("1:1: the text is longer than 16 MiB");
    int number = 0;
    while (!text.empty()) {
      const size_t end = text.find('\n');
      LineReader line(text.substr(0, end), ++number);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      if (line.AtEnd()) continue;
      STAX_TEXT_RETURN_IF_ERROR(Line(line));
      STAX_TEXT_RETURN_IF_ERROR(line.ExpectEnd());
    }
    LineReader end("", number + 1);
    if (state_ == State::kBefore) return end.Expected("'nest NAME {'");
    if (state_ == State::kInside) return end.Expected("'}'");
    return std::move(nest_);
  }

 private:
  enum class State { kBefore, kInside, kAfter };

  absl::Status Line(LineReader& line) {
    if (state_ == State::kAfter) return line.Expected("nothing after '}'");
    if (state_ == State::kBefore) return Header(line);
    if (line.Accept("}")) {
      state_ = State::kAfter;
      return absl::OkStatus();
    }
    if (line.Accept("%")) return Definition(line);
    const size_t start = line.Here();
    const std::string_view keyword = line.AcceptName();
    if (keyword == "size") return Size(line);
    if (keyword == "buffer") return Buffer(line);
    if (keyword == "loop" || keyword == "reduce") return Dim(line, keyword == "reduce");
    if (keyword == "store") return Store(line);
    return line.At(start, "expected size, buffer, loop, reduce, store, '%N = ...' or '}'");
  }

  absl::Status Header(LineReader& line) {
    STAX_TEXT_RETURN_IF_ERROR(line.ExpectWord("nest"));
    STAX_TEXT_ASSIGN(nest_.name, line.Name("a name for the nest"));
    STAX_TEXT_RETURN_IF_ERROR(line.Expect("{"));
    state_ = State::kInside;
    return absl::OkStatus();
  }

  absl::Status Size(LineReader& line) {
    if (nest_.symbols.size() == kMaxSymbols) return line.Expected("at most 256 sizes");
    SizeSymbol symbol;
    STAX_TEXT_ASSIGN(symbol.name, line.Name("a name for the size"));
    STAX_TEXT_RETURN_IF_ERROR(line.ExpectWord("in"));
    STAX_TEXT_RETURN_IF_ERROR(line.Expect("["));
    STAX_TEXT_ASSIGN(symbol.lower, line.Integer());
    STAX_TEXT_RETURN_IF_ERROR(line.Expect(","));
    STAX_TEXT_ASSIGN(symbol.upper, line.Integer());
    STAX_TEXT_RETURN_IF_ERROR(line.Expect("]"));
    STAX_TEXT_RETURN_IF_ERROR(line.ExpectWord("hint"));
    STAX_TEXT_ASSIGN(symbol.hint, line.Integer());
    nest_.symbols.push_back(std::move(symbol));
    return absl::OkStatus();
  }

  absl::Status Buffer(LineReader& line) {
    if (nest_.buffers.size() == kMaxBuffers) return line.Expected("at most 4096 buffers");
    NestBuffer buffer;
    const size_t start = line.Here();
    STAX_TEXT_ASSIGN(buffer.name, line.Name("a name for the buffer"));
    if (!buffers_.emplace(buffer.name, static_cast<int>(nest_.buffers.size())).second)
      return line.At(start, absl::StrCat("buffer ", buffer.name, " is declared twice"));
    STAX_TEXT_RETURN_IF_ERROR(line.Expect(":"));
    STAX_TEXT_ASSIGN(buffer.dtype, line.Type());
    STAX_TEXT_RETURN_IF_ERROR(line.Expect("["));
    STAX_TEXT_ASSIGN(buffer.numel, line.Expr(']'));
    STAX_TEXT_RETURN_IF_ERROR(line.Expect("]"));
    buffer.written = line.AcceptWord("out");
    if (!buffer.written && !line.AcceptWord("in")) return line.Expected("'in' or 'out'");
    nest_.buffers.push_back(std::move(buffer));
    return absl::OkStatus();
  }

  absl::Status Dim(LineReader& line, bool reduce) {
    if (nest_.dims.size() == kMaxDims) return line.Expected("at most 64 dims");
    LoopDim dim;
    dim.reduce = reduce;
    STAX_TEXT_ASSIGN(dim.name, line.Name("a name for the dim"));
    STAX_TEXT_RETURN_IF_ERROR(line.Expect(":"));
    STAX_TEXT_ASSIGN(dim.extent, line.Expr(0));
    nest_.dims.push_back(std::move(dim));
    return absl::OkStatus();
  }

  absl::Status Store(LineReader& line) {
    LoopOp op;
    op.code = OpCode::kStore;
    STAX_TEXT_RETURN_IF_ERROR(Access(line, &op));
    STAX_TEXT_RETURN_IF_ERROR(line.Expect(","));
    STAX_TEXT_RETURN_IF_ERROR(Operands(line, 1, &op));
    op.dtype = nest_.body[op.operands[0]].dtype;
    return Append(line, std::move(op));
  }

  // What follows '%' at the start of a line.
  absl::Status Definition(LineReader& line) {
    const size_t start = line.Here();
    int64_t number = 0;
    STAX_TEXT_ASSIGN(number, line.Integer());
    if (number != static_cast<int64_t>(nest_.body.size()))
      return line.At(start,
                     absl::StrCat("expected value number ", nest_.body.size(), ", got ", number));
    STAX_TEXT_RETURN_IF_ERROR(line.Expect("="));
    LoopOp op;
    STAX_TEXT_RETURN_IF_ERROR(Code(line, &op));
    if (op.code == OpCode::kConst) return Const(line, std::move(op));
    if (op.code == OpCode::kIndirect) return Indirect(line, std::move(op));
    if (op.code == OpCode::kLoad) {
      STAX_TEXT_RETURN_IF_ERROR(Access(line, &op));
      if (line.AcceptWord("if")) STAX_TEXT_RETURN_IF_ERROR(Operands(line, 1, &op));
    } else if (op.code == OpCode::kIndex) {
      STAX_TEXT_ASSIGN(op.index, line.Expr(':'));
    } else {
      STAX_TEXT_RETURN_IF_ERROR(Operands(line, OpArity(op.code), &op));
    }
    STAX_TEXT_RETURN_IF_ERROR(line.Expect(":"));
    STAX_TEXT_ASSIGN(op.dtype, line.Type());
    return Append(line, std::move(op));
  }

  // "add", "reduce.sum": a name may contain '.', so both come as one.
  static absl::Status Code(LineReader& line, LoopOp* op) {
    const size_t start = line.Here();
    std::string_view name = line.AcceptName();
    constexpr std::string_view kPrefix = "reduce.";
    if (name.substr(0, kPrefix.size()) == kPrefix) {
      absl::StatusOr<ReduceKind> kind = ParseReduceKind(name.substr(kPrefix.size()));
      if (!kind.ok()) return line.At(start + kPrefix.size(), ToStd(kind.status().message()));
      op->code = OpCode::kReduce;
      op->reduce = *kind;
      return absl::OkStatus();
    }
    absl::StatusOr<OpCode> code = ParseOpCode(name);
    if (!code.ok()) return line.At(start, ToStd(code.status().message()));
    if (*code == OpCode::kStore) return line.At(start, "a store has no value");
    if (*code == OpCode::kReduce) return line.At(start, "expected reduce.KIND");
    op->code = *code;
    return absl::OkStatus();
  }

  absl::Status Const(LineReader& line, LoopOp op) {
    const size_t start = line.Here();
    const std::string_view literal = line.UpToColon();
    STAX_TEXT_RETURN_IF_ERROR(line.Expect(":"));
    STAX_TEXT_ASSIGN(op.dtype, line.Type());
    absl::StatusOr<Scalar> value = ParseScalar(op.dtype, literal);
    if (!value.ok()) return line.At(start, ToStd(value.status().message()));
    op.literal = *value;
    return Append(line, std::move(op));
  }

  absl::Status Indirect(LineReader& line, LoopOp op) {
    op.dtype = DType::kI64;
    STAX_TEXT_RETURN_IF_ERROR(Operands(line, 1, &op));
    STAX_TEXT_RETURN_IF_ERROR(line.Expect(":"));
    STAX_TEXT_ASSIGN(op.index, line.Expr(0));
    return Append(line, std::move(op));
  }

  // BUFFER[EXPR]
  absl::Status Access(LineReader& line, LoopOp* op) {
    const size_t start = line.Here();
    std::string name;
    STAX_TEXT_ASSIGN(name, line.Name("a buffer"));
    auto it = buffers_.find(name);
    if (it == buffers_.end())
      return line.At(start, absl::StrCat("buffer ", name, " is not declared"));
    op->buffer = it->second;
    STAX_TEXT_RETURN_IF_ERROR(line.Expect("["));
    STAX_TEXT_ASSIGN(op->index, line.Expr(']'));
    return line.Expect("]");
  }

  absl::Status Operands(LineReader& line, int count, LoopOp* op) {
    for (int k = 0; k < count; ++k) {
      if (k > 0) STAX_TEXT_RETURN_IF_ERROR(line.Expect(","));
      STAX_TEXT_RETURN_IF_ERROR(line.Expect("%"));
      const size_t start = line.Here();
      int64_t number = 0;
      STAX_TEXT_ASSIGN(number, line.Integer());
      if (number < 0 || number >= static_cast<int64_t>(nest_.body.size()))
        return line.At(start, absl::StrCat("value %", number, " is not defined above"));
      if (nest_.body[number].code == OpCode::kStore)
        return line.At(start, absl::StrCat("op %", number, " is a store and has no value"));
      op->operands.push_back(static_cast<ValueId>(number));
    }
    return absl::OkStatus();
  }

  absl::Status Append(LineReader& line, LoopOp op) {
    if (nest_.body.size() == kMaxOps) return line.Expected("at most 100000 ops");
    nest_.body.push_back(std::move(op));
    return absl::OkStatus();
  }

  LoopNest nest_;
  std::map<std::string, int> buffers_;
  State state_ = State::kBefore;
};

#undef STAX_TEXT_ASSIGN
#undef STAX_TEXT_RETURN_IF_ERROR

}  // namespace

std::string ToText(const LoopNest& nest) {
  std::string out = absl::StrCat("nest ", nest.name, " {\n");
  for (const SizeSymbol& s : nest.symbols)
    absl::StrAppend(&out, "  size ", s.name, " in [", s.lower, ", ", s.upper, "] hint ", s.hint,
                    "\n");
  for (const NestBuffer& b : nest.buffers)
    absl::StrAppend(&out, "  buffer ", b.name, ": ", ToAbsl(DTypeName(b.dtype)), "[",
                    b.numel.ToString(), "] ", b.written ? "out" : "in", "\n");
  for (const LoopDim& d : nest.dims)
    absl::StrAppend(&out, "  ", d.reduce ? "reduce " : "loop ", d.name, ": ", d.extent.ToString(),
                    "\n");
  for (ValueId id = 0; id < static_cast<int>(nest.body.size()); ++id) {
    out += "  ";
    AppendOp(nest, id, &out);
    out += "\n";
  }
  out += "}\n";
  return out;
}

int OpLine(const LoopNest& nest, ValueId id) {
  const size_t above = 1 + nest.symbols.size() + nest.buffers.size() + nest.dims.size();
  return static_cast<int>(above) + id + 1;
}

int ReductionLine(const LoopNest& nest) {
  const std::vector<int> dims = nest.ReduceDims();
  if (dims.empty()) return 1;
  const size_t above = 1 + nest.symbols.size() + nest.buffers.size();
  return static_cast<int>(above) + dims.front() + 1;
}

absl::StatusOr<LoopNest> ParseLoopNest(std::string_view text) { return Parser().Parse(text); }

}  // namespace stax
