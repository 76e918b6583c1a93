#include "tools/emu/emu_report.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "ir/printable.h"
#include "runtime/emulator/launch/counters.h"
#include "runtime/emulator/launch/fault_text.h"
#include "runtime/emulator/launch/instruction_class.h"
#include "runtime/emulator/ptx/source_line.h"

namespace stax {
namespace {

using emulator::Dim3;
using emulator::Fault;
using emulator::InstructionCounters;

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

using Named = std::vector<std::pair<std::string, int64_t>>;

// Those that are not 0.
Named MemoryOf(const InstructionCounters& counters) {
  Named named = emulator::NamedMemoryCounters(counters.memory);
  named.erase(std::remove_if(named.begin(), named.end(), [](auto& n) { return n.second == 0; }),
              named.end());
  return named;
}

// {"name": value, ...}, one in a line of its own.
std::string Object(const Named& named, absl::string_view separator) {
  return absl::StrCat("{",
                      absl::StrJoin(named, separator,
                                    [](std::string* text, const auto& n) {
                                      absl::StrAppend(text, "\"", n.first, "\": ", n.second);
                                    }),
                      "}");
}

std::string InstructionJson(const emulator::EmulatorModule& module,
                            const InstructionCounters& counters) {
  const ptx::Instruction& i = counters.instruction;
  return absl::StrCat("{\"line\": ", i.line, ", \"instruction\": ", Quoted(i.Name()),
                      R"(, "loc": )", Quoted(ptx::SourceLine(module.module(), i)),
                      R"(, "class": ")",
                      emulator::InstructionClassName(emulator::InstructionClassOf(i)),
                      R"(", "warps": )", counters.warps, ", \"threads\": ", counters.threads,
                      ", \"memory\": ", Object(MemoryOf(counters), ", "), "}");
}

// A table: line, warps, threads, instruction and what it did in memory.
std::string InstructionText(const emulator::EmulatorModule& module,
                            const std::vector<InstructionCounters>& all) {
  std::string text =
      absl::StrFormat("%8s %14s %16s  %s\n", "line", "warps", "threads", "instruction");
  for (const InstructionCounters& counters : all) {
    const ptx::Instruction& i = counters.instruction;
    absl::StrAppendFormat(&text, "%8d %14d %16d  %s", i.line, counters.warps, counters.threads,
                          i.Name());
    for (const auto& [name, value] : MemoryOf(counters))
      absl::StrAppend(&text, "  ", name, " ", value);
    const std::string loc = ptx::SourceLine(module.module(), i);
    absl::StrAppend(&text, loc.empty() ? "" : absl::StrCat("  [", Printable(loc), "]"), "\n");
  }
  return text;
}

}  // namespace

std::string EmuJson(const emulator::EmulatorModule& module, const emulator::CompiledKernel& kernel,
                    const emulator::LaunchResult& result, const EmuReportOptions& options) {
  std::string json = "{\"faults\": [";
  const char* separator = "\n  ";
  for (const Fault& fault : result.faults) {
    const ptx::Instruction* at = emulator::InstructionOf(kernel, fault);
    absl::StrAppend(&json, separator, R"({"kind": ")", emulator::FaultKindName(fault.kind),
                    R"(", "kernel": )", Quoted(kernel.translated.flat.name),
                    ", \"line\": ", at == nullptr ? kernel.entry->line : at->line, ", \"loc\": ",
                    Quoted(at == nullptr ? "" : ptx::SourceLine(module.module(), *at)),
                    ", \"block\": ", Array(fault.block_position),
                    ", \"thread\": ", Array(fault.thread_position), R"(, "address": ")",
                    absl::StrFormat("0x%x", fault.address), R"(", "message": )",
                    Quoted(emulator::FaultMessage(kernel, fault)), "}");
    separator = ",\n  ";
  }
  absl::StrAppend(&json, "],\n\"fault_count\": ", result.fault_count, ",\n");
  if (!result.ended.ok())
    absl::StrAppend(&json, "\"error\": ", Quoted(std::string(result.ended.message())), ",\n");
  if (options.instructions) {
    auto one = [&](std::string* text, const InstructionCounters& counters) {
      absl::StrAppend(text, "\n  ", InstructionJson(module, counters));
    };
    absl::StrAppend(
        &json, "\"instructions\": [",
        absl::StrJoin(emulator::CountersByInstruction(kernel.translated, result), ",", one),
        "],\n");
  }
  return absl::StrCat(json, "\"counters\": ",
                      Object(emulator::NamedCounters(kernel.translated, result), ",\n  "), "}\n");
}

std::string EmuText(const emulator::EmulatorModule& module, const emulator::CompiledKernel& kernel,
                    const emulator::LaunchResult& result, const EmuReportOptions& options) {
  std::string text;
  for (const Fault& fault : result.faults)
    absl::StrAppend(&text, emulator::FaultText(module, kernel, fault), "\n");
  if (result.fault_count > 0)
    absl::StrAppend(&text, result.fault_count, result.fault_count == 1 ? " fault, " : " faults, ",
                    result.faults.size(), " shown\n");
  if (options.instructions)
    absl::StrAppend(
        &text, InstructionText(module, emulator::CountersByInstruction(kernel.translated, result)));
  if (!options.counters) return text;
  for (const auto& [name, value] : emulator::NamedCounters(kernel.translated, result))
    absl::StrAppendFormat(&text, "%-30s %16d\n", name, value);
  return text;
}

}  // namespace stax
