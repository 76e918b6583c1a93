#include "compiler/codegen/codegen.h"

#include <cctype>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "compiler/codegen/backend.h"
#include "compiler/codegen/kernel_emitter.h"
#include "compiler/codegen/layout.h"
#include "compiler/codegen/line_info.h"
#include "compiler/codegen/ptxas.h"
#include "compiler/codegen/tile.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

namespace stax {
namespace {

// What a block can have without asking for more at launch.
constexpr int64_t kMaxStaticSharedBytes = 48 * 1024;

// A name that is valid in PTX and ELF.
std::string EntryName(const std::string& kernel) {
  std::string name;
  for (char c : kernel) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0]))) name.insert(0, "k");
  return name;
}

absl::Status AddPtxasResults(const TargetSpec& target, Variant& variant) {
  absl::StatusOr<PtxasResult> result = RunPtxas(WithoutLines(variant.ptx()), target.arch);
  if (!result.ok()) return result.status();
  variant.set_cubin(std::move(result->cubin));
  variant.set_registers(result->registers);
  variant.set_spill_bytes(result->spill_bytes);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Variant> CompileVariant(const KernelSpec& kernel, const Config& config,
                                       const TargetSpec& target, const CodegenOptions& options) {
  absl::StatusOr<Tile> tile = MakeTile(kernel, config, target);
  if (!tile.ok()) return tile.status();
  const Layout layout = ChooseTileLayout(*tile, kernel.nest);

  Variant variant;
  variant.set_entry(EntryName(kernel.name));
  variant.set_grid_x(tile->GridSize().ToString());
  variant.set_block_threads(target.is_cuda() ? 32u << tile->warp_bits : 1);
  variant.set_programmatic_launch(tile->programmatic_launch);
  variant.set_registers(-1);
  variant.set_spill_bytes(-1);
  variant.mutable_target()->set_kind(target.is_cuda() ? "cuda" : "cpu");
  variant.mutable_target()->set_arch(target.arch);
  for (const auto& [name, value] : config)
    (*variant.mutable_config()->mutable_values())[name] = value;

  llvm::LLVMContext context;
  llvm::Module module(variant.entry(), context);
  if (absl::Status s = PrepareModule(target, module); !s.ok()) return s;
  const EmittedKernel emitted =
      EmitKernel(kernel.nest, *tile, layout, variant.entry(), options.relaxed_math, module);
  if (emitted.shared_bytes > kMaxStaticSharedBytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the reduction across warps needs ", emitted.shared_bytes,
                     " bytes of shared memory, there are ", kMaxStaticSharedBytes));
  }
  variant.set_shared_bytes(emitted.shared_bytes);
  variant.set_bytes_in_flight_per_thread(emitted.bytes_in_flight_per_thread);
  if (absl::Status s = OptimizeModule(target, module); !s.ok()) return s;
  for (llvm::Function& function : module) CompleteLines(function);
  if (options.keep_llvm_ir) {
    llvm::raw_string_ostream stream(*variant.mutable_llvm_ir());
    module.print(stream, nullptr);
  }
  absl::StatusOr<std::string> code = EmitCode(target, module);
  if (!code.ok()) return code.status();
  if (!target.is_cuda()) {
    variant.set_object(*std::move(code));
    return variant;
  }
  variant.set_ptx(KeepLinesOnly(*code));
  if (options.run_ptxas && !PtxasPath().empty()) {
    if (absl::Status s = AddPtxasResults(target, variant); !s.ok()) return s;
  }
  return variant;
}

}  // namespace stax
