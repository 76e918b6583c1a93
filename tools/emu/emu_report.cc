#include "tools/emu/emu_report.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "ir/printable.h"
#include "runtime/emulator/launch/counters.h"

namespace stax {
namespace {

using emulator::Dim3;
using emulator::Fault;

std::string Text(const Dim3& at) { return absl::StrFormat("(%d,%d,%d)", at.x, at.y, at.z); }

const ptx::Instruction* InstructionOf(const emulator::CompiledKernel& kernel, int index) {
  return index < 0 ? nullptr : &kernel.translated.flat.instructions[index];
}

// "kernel.cu:12" from .loc; empty without one.
std::string LocOf(const emulator::EmulatorModule& module, const ptx::Instruction* instruction) {
  if (instruction == nullptr || instruction->loc_file == 0) return "";
  const auto file = static_cast<size_t>(instruction->loc_file);
  const std::vector<std::string>& files = module.module().files;
  return absl::StrCat(file < files.size() ? files[file] : absl::StrCat("file ", file), ":",
                      instruction->loc_line);
}

// The other end of a race has a line too.
std::string MessageOf(const emulator::CompiledKernel& kernel, const Fault& fault) {
  const ptx::Instruction* other = InstructionOf(kernel, fault.other_instruction);
  if (other == nullptr) return fault.message;
  return absl::StrCat(fault.message, " (", other->Name(), ", line ", other->line, ")");
}

// Quoted, for JSON.
std::string Quoted(const std::string& text) {
  google::protobuf::Value value;
  value.set_string_value(IsUtf8(text) ? text : Printable(text));
  std::string json;
  const bool good = google::protobuf::util::MessageToJsonString(value, &json).ok();
  if (!good) json = "\"\"";  // cannot be: the text is UTF-8
  return json;
}

std::string Array(const Dim3& at) { return absl::StrFormat("[%d, %d, %d]", at.x, at.y, at.z); }

}  // namespace

std::string EmuJson(const emulator::EmulatorModule& module, const emulator::CompiledKernel& kernel,
                    const emulator::LaunchResult& result) {
  std::string json = "{\"faults\": [";
  const char* separator = "\n  ";
  for (const Fault& fault : result.faults) {
    const ptx::Instruction* at = InstructionOf(kernel, fault.instruction);
    absl::StrAppend(&json, separator, R"({"kind": ")", emulator::FaultKindName(fault.kind),
                    R"(", "kernel": )", Quoted(kernel.translated.flat.name),
                    ", \"line\": ", at == nullptr ? kernel.entry->line : at->line,
                    ", \"loc\": ", Quoted(LocOf(module, at)),
                    ", \"block\": ", Array(fault.block_position),
                    ", \"thread\": ", Array(fault.thread_position), R"(, "address": ")",
                    absl::StrFormat("0x%x", fault.address), R"(", "message": )",
                    Quoted(MessageOf(kernel, fault)), "}");
    separator = ",\n  ";
  }
  absl::StrAppend(&json, "],\n\"fault_count\": ", result.fault_count, ",\n\"counters\": {");
  separator = "\n  ";
  for (const auto& [name, value] : emulator::NamedCounters(kernel.translated, result)) {
    absl::StrAppend(&json, separator, "\"", name, "\": ", value);
    separator = ",\n  ";
  }
  return json + "}}\n";
}

std::string EmuText(const emulator::EmulatorModule& module, const emulator::CompiledKernel& kernel,
                    const emulator::LaunchResult& result, bool counters) {
  std::string text;
  for (const Fault& fault : result.faults) {
    const ptx::Instruction* at = InstructionOf(kernel, fault.instruction);
    absl::StrAppend(&text, emulator::FaultKindName(fault.kind), ": ",
                    Printable(kernel.translated.flat.name));
    if (at != nullptr) absl::StrAppend(&text, ", line ", at->line, ": ", at->Name());
    const std::string loc = LocOf(module, at);
    if (!loc.empty()) absl::StrAppend(&text, " [", Printable(loc), "]");
    absl::StrAppend(&text, ", block ", Text(fault.block_position), ", thread ",
                    Text(fault.thread_position), ": ", MessageOf(kernel, fault), "\n");
  }
  if (result.fault_count > 0)
    absl::StrAppend(&text, result.fault_count, " faults, ", result.faults.size(), " shown\n");
  if (!counters) return text;
  for (const auto& [name, value] : emulator::NamedCounters(kernel.translated, result))
    absl::StrAppendFormat(&text, "%-30s %16d\n", name, value);
  return text;
}

}  // namespace stax
