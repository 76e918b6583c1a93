#include "tools/cli/command_line.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <new>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "ir/printable.h"

namespace stax {
namespace {

// Of a message; a name in it may be as long as its file.
constexpr size_t kMaxMessageBytes = 8000;

// Whoever reports that memory ran out has none to do it with.
char tool_name[64] = "stax";

[[noreturn]] void EndWithoutMemory() {
  for (const char* text : {const_cast<const char*>(tool_name),
                           ": out of memory: the input is too large for this machine or its "
                           "limits (ulimit -v)\n"}) {
    if (write(STDERR_FILENO, text, strlen(text)) < 0) break;
  }
  _exit(kExitBadRequest);
}

// Levenshtein distance, to suggest the option that was meant.
int EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<int> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 0; i < a.size(); ++i) {
    int diagonal = std::exchange(row[0], static_cast<int>(i) + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      int replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

// A tool that is started with stdout closed must not find its output in the next file or socket
// that it opens. Writing to the stand-in fails, as writing to what is closed does.
void ReserveStandardDescriptors() {
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) < 0) open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

std::string Dashed(absl::string_view name) {
  return absl::StrCat(name.size() == 1 ? "-" : "--", name);
}

}  // namespace

int ExitCode(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kExitDone;
    case absl::StatusCode::kUnavailable:
      return kExitMissing;
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kAborted:
      return kExitNo;
    default:
      return kExitBadRequest;
  }
}

CommandLine::CommandLine(std::string tool, std::string usage, std::string purpose)
    : tool_(std::move(tool)), usage_(std::move(usage)), purpose_(std::move(purpose)) {
  ReserveStandardDescriptors();
  tool_.copy(tool_name, sizeof(tool_name) - 1);
  std::set_new_handler(EndWithoutMemory);
}

void CommandLine::Option(std::string name, std::string value_name, std::string help,
                         std::string* value) {
  auto set = [value](absl::string_view text) {
    *value = std::string(text);
    return absl::OkStatus();
  };
  entries_.push_back({std::move(name), std::move(value_name), std::move(help), Kind::kValue, set});
}

void CommandLine::Option(std::string name, std::string value_name, std::string help,
                         int64_t* value) {
  auto set = [value](absl::string_view text) {
    if (absl::SimpleAtoi(text, value)) return absl::OkStatus();
    return absl::InvalidArgumentError("expected a whole number");
  };
  entries_.push_back({std::move(name), std::move(value_name), std::move(help), Kind::kValue, set});
}

void CommandLine::Option(std::string name, std::string value_name, std::string help,
                         double* value) {
  auto set = [value](absl::string_view text) {
    if (absl::SimpleAtod(text, value) && std::isfinite(*value)) return absl::OkStatus();
    return absl::InvalidArgumentError("expected a number");
  };
  entries_.push_back({std::move(name), std::move(value_name), std::move(help), Kind::kValue, set});
}

void CommandLine::Repeated(std::string name, std::string value_name, std::string help,
                           std::vector<std::string>* values) {
  auto set = [values](absl::string_view text) {
    values->emplace_back(text);
    return absl::OkStatus();
  };
  entries_.push_back(
      {std::move(name), std::move(value_name), std::move(help), Kind::kRepeated, set});
}

void CommandLine::Flag(std::string name, std::string help, bool* value) {
  auto set = [value](absl::string_view text) {
    if (text != "true" && text != "false")
      return absl::InvalidArgumentError("expected true or false");
    *value = text == "true";
    return absl::OkStatus();
  };
  entries_.push_back({std::move(name), "", std::move(help), Kind::kFlag, set});
}

const CommandLine::Entry* CommandLine::Find(absl::string_view name) const {
  for (const Entry& entry : entries_) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

absl::Status CommandLine::Unknown(absl::string_view typed, absl::string_view name) const {
  std::string best = "help";
  for (const Entry& entry : entries_) {
    if (EditDistance(name, entry.name) < EditDistance(name, best)) best = entry.name;
  }
  return absl::InvalidArgumentError(absl::StrCat("unknown option ", typed, "; the nearest is ",
                                                 Dashed(best), " (--help lists all)"));
}

// Whether `word` names an option: it is no value of the one before it.
bool CommandLine::IsOption(absl::string_view word) const {
  if (word.size() < 2 || word[0] != '-') return false;
  word.remove_prefix(word[1] == '-' ? 2 : 1);
  word = word.substr(0, word.find('='));
  return word == "help" || word == "h" || Find(word) != nullptr;
}

absl::Status CommandLine::NeedsValue(const Entry& entry) {
  return absl::InvalidArgumentError(absl::StrCat(
      Dashed(entry.name), " needs a value: ", Dashed(entry.name), "=", entry.value_name));
}

absl::StatusOr<std::vector<std::string>> CommandLine::Parse(int argc, char** argv) const {
  std::vector<std::string> words;
  const Entry* repeated = nullptr;  // the option that takes further words
  const Entry* waiting = nullptr;   // the same while it has none
  bool options = true;
  for (int i = 1; i < argc; ++i) {
    absl::string_view word = argv[i];
    if (options && word == "--") {
      if (waiting != nullptr) return NeedsValue(*waiting);
      options = false;
      repeated = nullptr;
      continue;
    }
    if (!options || word.size() < 2 || word[0] != '-') {
      if (repeated == nullptr) {
        words.emplace_back(word);
      } else if (absl::Status status = repeated->set(word); !status.ok()) {
        return status;
      }
      waiting = nullptr;
      continue;
    }
    if (waiting != nullptr) return NeedsValue(*waiting);
    word.remove_prefix(word[1] == '-' ? 2 : 1);
    std::optional<absl::string_view> value;
    if (size_t equals = word.find('='); equals != absl::string_view::npos) {
      value = word.substr(equals + 1);
      word = word.substr(0, equals);
    }
    if (word == "help" || word == "h") {
      std::cout << Help();
      std::exit(Done());
    }
    const Entry* entry = Find(word);
    if (entry == nullptr)
      return Unknown(absl::string_view(argv[i]).substr(0, word.end() - argv[i]), word);
    // "--size=n=3" has its value: the words after it are none.
    repeated = entry->kind == Kind::kRepeated && !value.has_value() ? entry : nullptr;
    if (!value.has_value() && entry->kind == Kind::kFlag) value = "true";
    if (repeated != nullptr && !value.has_value()) {
      waiting = repeated;  // its values are the next words
      continue;
    }
    if (!value.has_value() && i + 1 < argc && !IsOption(argv[i + 1])) value = argv[++i];
    if (!value.has_value() || value->empty()) return NeedsValue(*entry);
    if (absl::Status status = entry->set(*value); !status.ok())
      return absl::InvalidArgumentError(
          absl::StrCat(Dashed(word), "=", *value, ": ", status.message()));
  }
  if (waiting != nullptr) return NeedsValue(*waiting);
  return words;
}

std::string CommandLine::Help() const {
  std::string text = absl::StrCat("usage: ", tool_, " ", usage_, "\n\n", purpose_, "\n\n");
  for (const Entry& entry : entries_) {
    std::string left = Dashed(entry.name);
    if (!entry.value_name.empty())
      absl::StrAppend(&left, entry.name.size() == 1 ? " " : "=", entry.value_name);
    absl::StrAppendFormat(&text, "  %-26s %s\n", left, entry.help);
  }
  return absl::StrCat(text,
                      "\nExit codes: 0 done; 1 the answer is no; 2 bad request or input; "
                      "3 a device or dependency is missing.\n");
}

int CommandLine::Fail(const absl::Status& status) const {
  absl::string_view kind = status.code() == absl::StatusCode::kInternal ? "internal error: " : "";
  std::string message = Shortened(Printable(status.message()), kMaxMessageBytes);
  std::cerr << tool_ << ": " << kind << message << "\n";
  return ExitCode(status);
}

int CommandLine::Done() const {
  if (std::cout.good()) errno = 0;  // else the error of the write that failed
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::cout.good()) return kExitDone;
  return Fail(absl::ResourceExhaustedError(
      absl::StrCat("cannot write the output: ", errno == 0 ? "write error" : strerror(errno))));
}

}  // namespace stax
