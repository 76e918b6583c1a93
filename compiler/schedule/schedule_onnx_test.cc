// ONNX models through lowering and schedule: the kernels compute what the graph says. Models are
// ONNX's own operator tests (Debian's libonnx-testdata), or the folders given as arguments.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/frontend/onnx.h"
#include "compiler/frontend/onnx_tensor.h"
#include "compiler/lowering/lowering.h"
#include "compiler/lowering/testing/run_program.h"
#include "compiler/schedule/schedule.h"

namespace stax {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNodeTests = "/usr/share/libonnx-testdata/data/node";

struct Counts {
  int passed = 0, skipped = 0, failed = 0;
  size_t nests = 0, kernels = 0;
};

std::string Read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The first data set of the model in `folder`, for inputs that it is specialised on.
std::map<std::string, OnnxValue> ReadInputs(const fs::path& folder, const std::string& model) {
  std::map<std::string, OnnxValue> inputs;
  const auto names = OnnxInputNames(model);
  for (size_t k = 0; names.ok() && k < names->size(); ++k) {
    const fs::path path = folder / "test_data_set_0" / absl::StrCat("input_", k, ".pb");
    if (!fs::exists(path)) break;
    const auto tensor = ParseOnnxTensor(Read(path));
    if (tensor.ok()) inputs[(*names)[k]] = tensor->value;
  }
  return inputs;
}

Sizes SizesOf(const Graph& graph, const std::map<std::string, OnnxValue>& inputs) {
  Sizes sizes;
  for (const SizeSymbol& s : graph.symbols) sizes[s.name] = s.hint;
  for (TensorId t : graph.inputs) {
    const auto input = inputs.find(graph.tensors[t].name);
    if (input == inputs.end()) continue;
    for (size_t d = 0; d < graph.tensors[t].dims.size(); ++d)
      if (const auto name = graph.tensors[t].dims[d].AsVar(); name.has_value())
        sizes[*name] = input->second.dims[d];
  }
  return sizes;
}

// Empty when right.
std::string RunOn(const Graph& graph, const Sizes& sizes, const TensorBytes& inputs,
                  const TargetSpec& target, Counts* counts) {
  absl::StatusOr<LoopProgram> program = LowerGraph(graph, target);
  if (!program.ok()) return program.status().ToString();
  counts->nests += program->nests.size();
  absl::StatusOr<TensorBytes> got = RunNests(*program, program->nests, sizes, inputs);
  if (!got.ok()) return got.status().ToString();
  if (std::string wrong = CompareWithGraph(graph, sizes, inputs, *got); !wrong.empty())
    return absl::StrCat("lowered: ", wrong);
  absl::StatusOr<std::vector<KernelSpec>> kernels = Schedule(*program, target);
  if (!kernels.ok()) return kernels.status().ToString();
  counts->kernels += kernels->size();
  std::vector<LoopNest> nests;
  for (const KernelSpec& kernel : *kernels) nests.push_back(kernel.nest);
  got = RunNests(*program, nests, sizes, inputs);
  if (!got.ok()) return got.status().ToString();
  if (std::string wrong = CompareWithGraph(graph, sizes, inputs, *got); !wrong.empty())
    return absl::StrCat("scheduled: ", wrong);
  return "";
}

// With folders given, prints the kernels of each model.
void PrintKernels(const Graph& graph) {
  const TargetSpec target = ParseTarget("cuda").value();
  absl::StatusOr<LoopProgram> program = LowerGraph(graph, target);
  if (!program.ok()) return;
  const auto kernels = Schedule(*program, target);
  for (size_t k = 0; kernels.ok() && k < kernels->size(); ++k)
    std::cout << ToText((*kernels)[k].nest) << "# " << (*kernels)[k].explanation << "\n";
}

void RunCase(const fs::path& folder, bool verbose, Counts* counts) {
  const std::string model = Read(folder / "model.onnx");
  OnnxOptions options;
  options.known_inputs = ReadInputs(folder, model);
  const absl::StatusOr<Graph> graph = GraphFromOnnx(model, options);
  if (!graph.ok()) {
    ++counts->skipped;  // the frontend has a test of its own
    return;
  }
  const Sizes sizes = SizesOf(*graph, options.known_inputs);
  TensorBytes inputs = RandomInputs(*graph, sizes, 1);
  for (auto& [name, value] : options.known_inputs) inputs[name] = value.bytes;
  Counts of_case;
  std::string wrong;
  for (const char* name : {"cuda", "cpu:x86-64-v3"})
    if (wrong.empty()) wrong = RunOn(*graph, sizes, inputs, ParseTarget(name).value(), &of_case);
  ++(wrong.empty() ? counts->passed : counts->failed);
  counts->nests += of_case.nests;
  counts->kernels += of_case.kernels;
  if (!wrong.empty()) std::cout << folder.filename().string() << ": " << wrong << "\n";
  if (!verbose) return;
  PrintKernels(*graph);
  std::cout << folder.filename().string() << ": " << of_case.nests / 2 << " nests, "
            << of_case.kernels / 2 << " kernels\n";
}

int Run(const std::vector<std::string>& arguments) {
  std::vector<fs::path> folders(arguments.begin(), arguments.end());
  std::error_code error;
  if (folders.empty())
    for (const fs::directory_entry& entry : fs::directory_iterator(kNodeTests, error))
      folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  Counts counts;
  for (const fs::path& folder : folders)
    if (fs::exists(folder / "model.onnx")) RunCase(folder, !arguments.empty(), &counts);
  std::cout << counts.passed << " passed, " << counts.failed << " failed, " << counts.skipped
            << " skipped; " << counts.nests << " nests became " << counts.kernels << " kernels\n";
  if (folders.empty()) std::cout << kNodeTests << " is not there: nothing to do\n";
  return counts.failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace stax

int main(int argc, char** argv) { return stax::Run({argv + 1, argv + argc}); }
