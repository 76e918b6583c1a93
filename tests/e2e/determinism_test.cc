// Equal models give equal bytes: within a process, between processes, wherever they run.
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "compiler/service/compiler.h"
#include "gtest/gtest.h"
#include "ir/artifact/artifact_io.h"
#include "tests/e2e/symbolic_graphs.h"

namespace stax {
namespace {

struct Case {
  SymbolicGraph graph;
  std::string target;
};

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const SymbolicGraph& graph : kSymbolicGraphs) {
    for (const char* target : {"cpu:x86-64-v3", "cpu:x86-64-v4", "cuda:sm_80", "cuda:sm_90a"})
      cases.push_back({graph, target});
  }
  return cases;
}

class DeterminismTest : public testing::TestWithParam<Case> {
 protected:
  static std::string CompileHere() {
    absl::StatusOr<Program> program =
        CompileModel(GetParam().graph.text, "textproto", GetParam().target);
    EXPECT_TRUE(program.ok()) << program.status();
    return program.ok() ? EncodeArtifact(ArtifactKind::kProgram, *program) : "";
  }

  // By stax-compile, in `folder` (made) and with `environment` before the command.
  static std::string CompileThere(const std::string& folder, const std::string& environment) {
    const char* tools = getenv("TEST_SRCDIR");
    std::string path = absl::StrCat(testing::TempDir(), "/", GetParam().graph.name, folder);
    std::string command = absl::StrCat(
        "mkdir -p ", path, " && cd ", path, " && ", environment, " ", tools, "/",
        getenv("TEST_WORKSPACE"),
        "/tools/stax-compile graph.textproto --target=", GetParam().target, " -o p.stax");
    EXPECT_EQ(system(absl::StrCat("mkdir -p ", path).c_str()), 0);
    absl::Status status =
        WriteFileAtomically(absl::StrCat(path, "/graph.textproto"), GetParam().graph.text);
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(system(command.c_str()), 0) << command;
    absl::StatusOr<std::string> bytes = ReadFile(absl::StrCat(path, "/p.stax"));
    EXPECT_TRUE(bytes.ok()) << bytes.status();
    return bytes.ok() ? *bytes : "";
  }
};

TEST_P(DeterminismTest, TwiceInAProcess) {
  std::string first = CompileHere();
  // What was compiled in between leaves no trace.
  ASSERT_TRUE(CompileModel(kSymbolicGraphs[0].text, "textproto", "cpu:x86-64-v3").ok());
  EXPECT_TRUE(first == CompileHere()) << "the bytes differ";
}

TEST_P(DeterminismTest, InOtherProcesses) {
  std::string here = CompileHere();
  EXPECT_TRUE(here == CompileThere("1", "env")) << "the bytes differ";
  EXPECT_TRUE(here == CompileThere("/a/longer/folder", "env HOME=/ TZ=Asia/Tokyo USER=else"))
      << "the bytes differ";
}

std::string CaseName(const testing::TestParamInfo<Case>& info) {
  std::string name = absl::StrCat(info.param.graph.name, "_", info.param.target);
  for (char& c : name) {
    if (!isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, DeterminismTest, testing::ValuesIn(Cases()), CaseName);

}  // namespace
}  // namespace stax
