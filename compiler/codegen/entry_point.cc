#include "compiler/codegen/entry_point.h"

#include <string>
#include <vector>

#include "compiler/codegen/line_info.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace stax {

namespace {
constexpr unsigned kGlobalSpace = 1;

// Programmatic dependent launch (PTX ISA, griddepcontrol): the kernel starts while those before it
// end, and what comes after it may start once all its blocks have seen them end. (Allowed before
// the wait, whole rows of kernels would start: docs/codegen.md.) Nothing touches memory before the
// wait: the pointers go through it, since the loads that are inline assembly have no other
// dependence on it.
void WaitForEarlierKernels(EmitContext& c) {
  llvm::IRBuilder<>& b = c.builder;
  const size_t count = c.buffers.size();
  std::vector<llvm::Type*> types(count, b.getPtrTy(kGlobalSpace));
  std::string constraints;
  for (size_t i = 0; i < count; ++i) constraints += "=l,";
  for (size_t i = 0; i < count; ++i) constraints += std::to_string(i) + ",";
  llvm::Type* result = count == 1 ? types[0] : llvm::StructType::get(b.getContext(), types);
  auto* code = llvm::InlineAsm::get(llvm::FunctionType::get(result, types, false),
                                    "griddepcontrol.wait;\n\tgriddepcontrol.launch_dependents;",
                                    constraints + "~{memory}",
                                    /*hasSideEffects=*/true);
  llvm::Value* pointers = b.CreateCall(code, c.buffers);
  for (size_t i = 0; i < count; ++i) {
    c.buffers[i] = count == 1 ? pointers : b.CreateExtractValue(pointers, static_cast<unsigned>(i));
  }
}

}  // namespace

EntryPoint BeginCudaEntry(EmitContext& c, const std::string& name) {
  llvm::IRBuilder<>& b = c.builder;
  std::vector<llvm::Type*> types(c.nest.buffers.size(), b.getPtrTy(kGlobalSpace));
  types.insert(types.end(), c.nest.symbols.size(), b.getInt64Ty());
  auto* function = llvm::Function::Create(llvm::FunctionType::get(b.getVoidTy(), types, false),
                                          llvm::GlobalValue::ExternalLinkage, name, c.module);
  function->setCallingConv(llvm::CallingConv::PTX_Kernel);
  function->addFnAttr("nvvm.maxntid", std::to_string(32 << c.tile.warp_bits));
  function->addFnAttr(llvm::Attribute::NoUnwind);
  AddLineInfo(*function);
  for (size_t i = 0; i < c.nest.buffers.size(); ++i) {
    function->addParamAttr(i, llvm::Attribute::NoAlias);
    function->addParamAttr(i, llvm::Attribute::getWithAlignment(b.getContext(), llvm::Align(16)));
    if (!c.nest.buffers[i].written) function->addParamAttr(i, llvm::Attribute::ReadOnly);
    c.buffers.push_back(function->getArg(i));
  }
  b.SetInsertPoint(llvm::BasicBlock::Create(b.getContext(), "entry", function));
  const LineScope line = LineScope::Header(c);
  for (size_t i = 0; i < c.nest.symbols.size(); ++i) {
    llvm::Value* size = function->getArg(c.nest.buffers.size() + i);
    c.symbols[c.nest.symbols[i].name] = b.CreateTrunc(size, c.index_type);
  }
  if (c.tile.programmatic_launch && !c.buffers.empty()) WaitForEarlierKernels(c);
  c.thread = b.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x, {});
  if (c.tile.cluster_bits > 0) {
    function->addFnAttr("nvvm.cluster_dim", std::to_string(1 << c.tile.cluster_bits));
    llvm::Value* rank = b.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_cluster_ctarank, {});
    c.thread = b.CreateOr(c.thread, b.CreateShl(rank, c.tile.lane_bits + c.tile.warp_bits));
    // Waited for before the first access to another block's memory: all have started by then.
    b.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier_cluster_arrive_relaxed_aligned, {});
  }
  return EntryPoint();
}

EntryPoint BeginCpuEntry(EmitContext& c, const std::string& name) {
  llvm::IRBuilder<>& b = c.builder;
  llvm::Type* pointer = b.getPtrTy();
  auto* type = llvm::FunctionType::get(b.getVoidTy(),
                                       {pointer, pointer, b.getInt64Ty(), b.getInt64Ty()}, false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, c.module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  // Without these LLVM splits 512-bit vectors in two.
  const std::string width = std::to_string(32 << c.tile.lane_bits);
  function->addFnAttr("prefer-vector-width", width);
  function->addFnAttr("min-legal-vector-width", width);
  b.SetInsertPoint(llvm::BasicBlock::Create(b.getContext(), "entry", function));
  for (size_t i = 0; i < c.nest.buffers.size(); ++i) {
    llvm::Value* slot = b.CreateConstGEP1_64(pointer, function->getArg(0), i);
    c.buffers.push_back(b.CreateLoad(pointer, slot, c.nest.buffers[i].name));
  }
  for (size_t i = 0; i < c.nest.symbols.size(); ++i) {
    llvm::Value* slot = b.CreateConstGEP1_64(b.getInt64Ty(), function->getArg(1), i);
    llvm::Value* size = b.CreateLoad(b.getInt64Ty(), slot, c.nest.symbols[i].name);
    c.symbols[c.nest.symbols[i].name] = b.CreateTrunc(size, c.index_type);
  }
  EntryPoint point;
  point.begin_ = function->getArg(2);
  point.end_ = function->getArg(3);
  return point;
}

llvm::Value* EntryPoint::StartInstance(EmitContext& c) {
  llvm::IRBuilder<>& b = c.builder;
  if (c.nvptx()) {
    llvm::Value* id = b.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x, {});
    id = b.CreateLShr(id, c.tile.cluster_bits);
    return b.CreateZExt(id, c.index_type);
  }
  llvm::BasicBlock* before = b.GetInsertBlock();
  header_ = llvm::BasicBlock::Create(b.getContext(), "instances", before->getParent());
  auto* body = llvm::BasicBlock::Create(b.getContext(), "instance", before->getParent());
  exit_ = llvm::BasicBlock::Create(b.getContext(), "done", before->getParent());
  b.CreateBr(header_);
  b.SetInsertPoint(header_);
  id_ = b.CreatePHI(b.getInt64Ty(), 2);
  id_->addIncoming(begin_, before);
  b.CreateCondBr(b.CreateICmpSLT(id_, end_), body, exit_);
  b.SetInsertPoint(body);
  return b.CreateTrunc(id_, c.index_type);
}

void EntryPoint::Finish(EmitContext& c) {
  llvm::IRBuilder<>& b = c.builder;
  if (exit_ != nullptr) {
    id_->addIncoming(b.CreateAdd(id_, b.getInt64(1)), b.GetInsertBlock());
    b.CreateBr(header_);
    b.SetInsertPoint(exit_);
  }
  b.CreateRetVoid();
}

}  // namespace stax
