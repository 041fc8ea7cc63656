//===- LoopsToGpu.cpp - Loop functions become GPU kernels ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelBody.h"
#include "mhc/Conversion/Passes.h"
#include "mhc/IR/SizeCheck.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

namespace mhc {
#define GEN_PASS_DEF_LOOPSTOGPUPASS
#include "mhc/Conversion/Passes.h.inc"
} // namespace mhc

using namespace mlir;
using namespace mhc;

/// Threads of a block: mhcrt_cuda_loop launches as many.
static constexpr int32_t kBlockSize = 256;

/// The loop nest of a function that mhc-outline-loops made; none for another function.
static linalg::LinalgOp loopOf(func::FuncOp func) {
  if (!func.isPrivate() || func.isDeclaration())
    return nullptr;
  auto loops = func.getBody().front().getOps<linalg::LinalgOp>();
  return loops.empty() ? nullptr : *loops.begin();
}

/// The number of threads for all iterations of the parallel loops.
static Value countThreads(OpBuilder &builder, linalg::LinalgOp op) {
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  int64_t known = threadsPerIteration(op);
  Value count;
  for (auto [kind, size] : llvm::zip(kinds, loopSizes(builder, op))) {
    if (!linalg::isParallelIterator(kind))
      continue;
    if (std::optional<int64_t> number = getConstantIntValue(size))
      known *= *number;
    else
      count = count ? arith::MulIOp::create(builder, op.getLoc(), count, cast<Value>(size)) : cast<Value>(size);
  }
  known /= neighboursPerThread(op); // which divide a size that is known
  Value factor = arith::ConstantIndexOp::create(builder, op.getLoc(), known);
  if (!count)
    return factor;
  return known == 1 ? count : arith::MulIOp::create(builder, op.getLoc(), count, factor).getResult();
}

/// The number of this thread in the grid.
static Value threadNumber(OpBuilder &builder, Location loc) {
  Value block = gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x);
  Value thread = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
  Value size = arith::ConstantIndexOp::create(builder, loc, kBlockSize);
  return arith::AddIOp::create(builder, loc, arith::MulIOp::create(builder, loc, block, size), thread);
}

/// Makes the kernel of a loop function at the end of `device`.
static gpu::GPUFuncOp createKernel(func::FuncOp func, linalg::LinalgOp op, gpu::GPUModuleOp device) {
  Location loc = func.getLoc();
  OpBuilder builder = OpBuilder::atBlockEnd(device.getBody());
  SmallVector<Type> types(func.getArgumentTypes());
  types.push_back(builder.getIndexType());
  auto kernel = gpu::GPUFuncOp::create(builder, loc, func.getName(), builder.getFunctionType(types, {}));
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), builder.getUnitAttr());
  kernel.setKnownBlockSize(ArrayRef<int32_t>{kBlockSize, 1, 1});
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    if (DictionaryAttr attrs = func.getArgAttrDict(i))
      kernel.setArgAttrs(i, attrs);

  Block &body = kernel.getBody().front();
  builder.setInsertionPointToStart(&body);
  IRMapping mapping;
  mapping.map(func.getArguments(), body.getArguments().drop_back());
  for (Operation &inner : func.getBody().front())
    if (inner.hasTrait<OpTrait::ConstantLike>())
      builder.clone(inner, mapping);
  Value thread = threadNumber(builder, loc);
  Value isInside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, thread, body.getArguments().back());
  auto branch = scf::IfOp::create(builder, loc, isInside);
  gpu::ReturnOp::create(builder, loc);
  builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  auto clone = cast<linalg::LinalgOp>(builder.clone(*op, mapping));
  emitThread(builder, clone, thread);
  clone->erase();
  return kernel;
}

/// Puts the launch in the place of the loop nest.
static void launchKernel(func::FuncOp func, linalg::LinalgOp op, gpu::GPUFuncOp kernel) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value count = countThreads(builder, op), one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value threads = arith::ConstantIndexOp::create(builder, loc, kBlockSize);
  Value blocks = arith::CeilDivUIOp::create(builder, loc, count, threads);
  SmallVector<Value> arguments(func.getArguments());
  arguments.push_back(count);
  gpu::LaunchFuncOp::create(builder, loc, kernel, gpu::KernelDim3{blocks, one, one}, gpu::KernelDim3{threads, one, one},
                            /*dynamicSharedMemorySize=*/Value(), arguments);
  op->erase();
  func->removeAttr(kParallelAttr);
}

namespace {
struct LoopsToGpu : mhc::impl::LoopsToGpuPassBase<LoopsToGpu> {
  using LoopsToGpuPassBase::LoopsToGpuPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    auto target = NVVM::NVVMTargetAttr::get(&getContext(), optLevel, "nvptx64-nvidia-cuda", arch);
    auto device = gpu::GPUModuleOp::create(builder, module.getLoc(), kDeviceModule, builder.getArrayAttr(target));
    module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(), builder.getUnitAttr());
    if (auto check = module.lookupSymbol<func::FuncOp>(kCheckSize)) // which bodies of loops call
      device.push_back(check.clone());
    for (func::FuncOp func : module.getOps<func::FuncOp>())
      if (linalg::LinalgOp op = loopOf(func))
        launchKernel(func, op, createKernel(func, op, device));
  }
};
} // namespace
