// stax-compile: a model or graph -> a Program.
#include <semaphore.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/explain.h"
#include "compiler/pipeline.h"
#include "compiler/service/compiler.h"
#include "compiler/service/server.h"
#include "compiler/target.h"
#include "ir/artifact/artifact_io.h"
#include "ir/printable.h"
#include "tools/cli/command_line.h"
#include "tools/cli/output_file.h"

namespace stax {
namespace {

struct Options {
  std::string target = "cpu";
  std::string dump;
  std::string output;
  std::string serve;
  bool with_parent = false;
  bool explain = false;
  bool timing = false;
  bool quiet = false;
};

// What --dump takes, and the pass whose result it prints (a prefix of the pass's name).
struct DumpKind {
  absl::string_view name;
  absl::string_view pass;
};
constexpr DumpKind kDumps[] = {
    {"loop", "lower"}, {"kernel", "schedule"}, {"llvm", "codegen"}, {"ptx", "codegen"}};

absl::StatusOr<absl::string_view> DumpPass(absl::string_view dump) {
  for (const DumpKind& kind : kDumps) {
    if (kind.name == dump) return kind.pass;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--dump=", std::string(dump), ": expected loop, kernel, llvm or ptx"));
}

std::string FormatOf(absl::string_view path) {
  return absl::EndsWith(path, ".onnx") ? "onnx" : "textproto";
}

// For who gave a file of neither kind: what an error in it was found as.
absl::string_view ReadAs(absl::string_view path) {
  bool known = absl::EndsWith(path, ".onnx") || absl::EndsWith(path, ".textproto");
  return known ? "" : " (only files ending in .onnx are read as ONNX)";
}

absl::StatusOr<Program> Compile(const std::string& path, const Options& options) {
  CompileOptions compile;
  absl::StatusOr<TargetSpec> target = ParseTarget(options.target);
  if (!target.ok()) return target.status();
  compile.target = *target;
  if (options.dump == "ptx" && !target->is_cuda())
    return absl::InvalidArgumentError("--dump=ptx needs a cuda target, e.g. --target=cuda:sm_90a");
  compile.keep_llvm_ir = options.dump == "llvm";
  absl::string_view dump_pass;
  if (!options.dump.empty()) {
    absl::StatusOr<absl::string_view> pass = DumpPass(options.dump);
    if (!pass.ok()) return pass.status();
    dump_pass = *pass;
  }
  compile.observer = [&](const std::string& pass, absl::Duration time, const std::string& dump) {
    if (options.timing && !options.quiet)
      std::cerr << pass << ": " << absl::FormatDuration(time) << "\n";
    if (!dump_pass.empty() && absl::StartsWith(pass, dump_pass)) std::cout << dump << "\n";
  };
  absl::StatusOr<std::string> model = ReadFile(path);
  if (!model.ok()) return model.status();
  if (absl::StartsWith(*model, "STAXART"))
    return absl::InvalidArgumentError(absl::StrCat(
        path,
        " is a Stax artifact; expected a model (.onnx) or a graph in text form (.textproto)"));
  absl::StatusOr<Graph> graph = GraphFromModel(*model, FormatOf(path));
  if (!graph.ok()) {
    bool missing = absl::IsUnimplemented(graph.status());
    return absl::Status(graph.status().code(),
                        absl::StrCat(path, ": ", missing ? "not supported: " : "",
                                     graph.status().message(), ReadAs(path)));
  }
  return CompileGraph(*graph, compile);
}

// A compilation under way may take longer to end than anyone wants to wait.
constexpr unsigned kShutdownSeconds = 3;

sem_t end_of_service;

// Until SIGTERM, SIGINT or SIGHUP: then the socket is removed. `with_parent`: also when the process
// that started this one is gone.
int Serve(const CommandLine& cli, const std::string& address, bool with_parent) {
  sem_init(&end_of_service, 0, 0);
  struct sigaction action = {};
  action.sa_handler = [](int) { sem_post(&end_of_service); };
  for (int signal : {SIGTERM, SIGINT, SIGHUP}) sigaction(signal, &action, nullptr);
  if (with_parent) {
    pid_t parent = getppid();
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) return kExitDone;  // it went in between
  }
  absl::StatusOr<std::unique_ptr<CompileServer>> server = StartCompileServer(address);
  if (!server.ok()) return cli.Fail(server.status());
  std::cout << "serving on " << Printable((*server)->address()) << '\n'
            << std::flush;  // clients wait for it
  while (sem_wait(&end_of_service) != 0) {
  }
  alarm(kShutdownSeconds);
  (*server)->Shutdown();
  return kExitDone;
}

int Main(int argc, char** argv) {
  Options options;
  CommandLine cli("stax-compile", "MODEL [options]",
                  "Compiles an ONNX model (.onnx) or a graph in text form (.textproto).");
  cli.Option("target", "TARGET",
             "cpu (this machine's best, the default), cpu:x86-64-v3, cpu:x86-64-v4, "
             "cuda (sm_90a), cuda:sm_80, cuda:sm_90a",
             &options.target);
  cli.Flag("explain", "say what was fused, tiled and chosen", &options.explain);
  cli.Option("dump", "STAGE", "print a stage: loop, kernel, llvm or ptx", &options.dump);
  cli.Flag("timing", "print the time of each pass", &options.timing);
  cli.Flag("quiet", "no times of passes, whatever else is given", &options.quiet);
  cli.Option("o", "P.stax", "write the program here", &options.output);
  cli.Option("serve", "ADDRESS", "be a compile service on unix:PATH or 127.0.0.1:PORT",
             &options.serve);
  cli.Flag("with-parent", "with --serve: end when the process that started the service ends",
           &options.with_parent);
  absl::StatusOr<std::vector<std::string>> models = cli.Parse(argc, argv);
  if (!models.ok()) return cli.Fail(models.status());
  if (!options.serve.empty() && models->empty())
    return Serve(cli, options.serve, options.with_parent);
  if (!options.serve.empty())
    return cli.Fail(absl::InvalidArgumentError(
        "expected one model or --serve, got both; a service gets its models from its clients"));
  if (models->size() != 1)
    return cli.Fail(absl::InvalidArgumentError(
        absl::StrCat("expected one model, got ", models->size(), " (--help explains)")));
  absl::Status writable = CheckOutputFiles({options.output});
  if (writable.ok()) writable = CheckKeepsInput(models->front(), options.output);
  if (!writable.ok()) return cli.Fail(writable);
  absl::StatusOr<Program> program = Compile(models->front(), options);
  if (!program.ok()) return cli.Fail(program.status());
  if (options.explain) std::cout << Explain(*program);
  if (!options.output.empty()) {
    absl::Status status = WriteProgram(options.output, *program);
    if (!status.ok()) return cli.Fail(status);
  }
  if (options.output.empty() && options.dump.empty() && !options.explain && !options.timing &&
      !options.quiet)
    std::cerr << "compiled; nothing was written: -o P.stax writes the program, --explain and "
                 "--dump=STAGE print it\n";
  return cli.Done();
}

}  // namespace
}  // namespace stax

int main(int argc, char** argv) { return stax::Main(argc, argv); }
